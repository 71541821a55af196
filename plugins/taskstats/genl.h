/* Generic netlink as far as taskstats needs it: requests and what answers them, as bytes (netlink(7),
 * Documentation/userspace-api/netlink/intro.rst). */
#ifndef GENL_H
#define GENL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GENL_REQUEST_MOST = 1024 };

/* A request of one attribute into `buffer` of GENL_REQUEST_MOST bytes. Its length; 0: the value is too long. */
size_t genl_request(void *buffer, uint16_t family, uint8_t command, uint16_t attribute,
		    const void *value, size_t size);

/* One message of a datagram. */
struct genl_message {
	uint16_t type;  /* the family's number */
	int error;      /* a negative errno where it tells of one; then nothing else is set */
	const char *at; /* attributes */
	size_t length;
};

/* The next message, from *at on. False at the end and where it is malformed. */
bool genl_next(const char **at, const char *end, struct genl_message *message);

/* The next attribute likewise: its type without flags, and its value. */
struct genl_attribute {
	uint16_t type;
	const char *at;
	size_t length;
};
bool genl_next_attribute(const char **at, const char *end, struct genl_attribute *attribute);

/* The first attribute of this type. False: there is none. */
bool genl_find(const char *at, size_t length, uint16_t type, struct genl_attribute *attribute);

#endif
