/* Generic netlink messages, written and read. Whatever a length says is checked against what is there. */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "genl.h"

size_t genl_request(void *buffer, uint16_t family, uint8_t command, uint16_t attribute,
		    const void *value, size_t size)
{
	struct nlattr head = { (uint16_t)(NLA_HDRLEN + size), attribute };
	struct genlmsghdr genl = { .cmd = command, .version = 1 };
	struct nlmsghdr message = {
		.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + NLA_ALIGN(size)),
		.nlmsg_type = family,
		.nlmsg_flags = NLM_F_REQUEST,
	};
	char *at = buffer;

	if (size > GENL_REQUEST_MOST || message.nlmsg_len > GENL_REQUEST_MOST)
		return 0;
	memset(at, 0, message.nlmsg_len);
	memcpy(at, &message, sizeof message);
	memcpy(at + NLMSG_HDRLEN, &genl, sizeof genl);
	memcpy(at + NLMSG_HDRLEN + GENL_HDRLEN, &head, sizeof head);
	memcpy(at + NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN, value, size);
	return message.nlmsg_len;
}

static size_t room(const char *at, const char *end)
{
	return (size_t)(end - at);
}

bool genl_next(const char **at, const char *end, struct genl_message *message)
{
	struct nlmsghdr head;
	struct nlmsgerr error;
	size_t length;

	if (room(*at, end) < NLMSG_HDRLEN)
		return false;
	memcpy(&head, *at, sizeof head);
	length = head.nlmsg_len;
	if (length < NLMSG_HDRLEN || length > room(*at, end))
		return false;
	*message = (struct genl_message) { .type = head.nlmsg_type, .at = *at + NLMSG_HDRLEN };
	if (head.nlmsg_type == NLMSG_ERROR) {
		if (length < NLMSG_HDRLEN + sizeof error)
			return false;
		memcpy(&error, *at + NLMSG_HDRLEN, sizeof error);
		message->error = error.error < 0 ? error.error : -EBADMSG;
	} else if (length >= NLMSG_HDRLEN + GENL_HDRLEN) {
		message->at = *at + NLMSG_HDRLEN + GENL_HDRLEN;
		message->length = length - NLMSG_HDRLEN - GENL_HDRLEN;
	}
	*at += NLMSG_ALIGN(length) < room(*at, end) ? NLMSG_ALIGN(length) : room(*at, end);
	return true;
}

bool genl_next_attribute(const char **at, const char *end, struct genl_attribute *attribute)
{
	struct nlattr head;
	size_t step;

	if (room(*at, end) < NLA_HDRLEN)
		return false;
	memcpy(&head, *at, sizeof head);
	if (head.nla_len < NLA_HDRLEN || head.nla_len > room(*at, end))
		return false;
	attribute->type = head.nla_type & NLA_TYPE_MASK;
	attribute->at = *at + NLA_HDRLEN;
	attribute->length = head.nla_len - (size_t)NLA_HDRLEN;
	step = NLA_ALIGN((size_t)head.nla_len);
	*at += step < room(*at, end) ? step : room(*at, end);
	return true;
}

bool genl_find(const char *at, size_t length, uint16_t type, struct genl_attribute *attribute)
{
	const char *end = at + length;

	while (genl_next_attribute(&at, end, attribute))
		if (attribute->type == type)
			return true;
	return false;
}
