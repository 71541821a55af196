/* Addresses as sinks and sources have them in their configuration: "192.0.2.7:8125",
 * "collector.example:8125", "[2001:db8::7]:8125", "*:8125" (getaddrinfo(3), RFC 3986 for the
 * brackets). */
#ifndef SONDE_ADDRESS_H
#define SONDE_ADDRESS_H

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Splits at the last colon; an IPv6 address needs its brackets. False where it is not of that
 * form. */
static inline bool sonde_address_split(const char *text, char host[256], char port[32])
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	bool brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';

	if (!length || !colon[1] || strlen(colon + 1) >= 32 || length >= 256)
		return false;
	if (!brackets && (memchr(text, ':', length) || memchr(text, '[', length)))
		return false;
	length -= brackets ? 2 : 0;
	memcpy(host, text + brackets, length);
	host[length] = '\0';
	strcpy(port, colon + 1);
	return true;
}

/* Looks it up for sockets of that type (SOCK_DGRAM, SOCK_STREAM); `passive` is for listening, where `*` is every address. 0 and a list
 * for freeaddrinfo(); an EAI_ code and a sentence in `why` (EAI_AGAIN: no name server answered). */
static inline int sonde_address_find(const char *text, int socktype, bool passive,
				     struct addrinfo **list, char *why, size_t size)
{
	struct addrinfo hints = { .ai_socktype = socktype, .ai_flags = passive ? AI_PASSIVE : 0 };
	char host[256], port[32];
	int err;

	*list = NULL;
	if (!sonde_address_split(text, host, port)) {
		snprintf(why, size, "it is not HOST:PORT, or [IPV6]:PORT");
		return EAI_NONAME;
	}
	err = getaddrinfo(passive && strcmp(host, "*") == 0 ? NULL : host, port, &hints, list);
	if (err)
		snprintf(why, size, "%s", gai_strerror(err));
	return err;
}

/* A socket option that is an int. 0 or negative errno. */
static inline int sonde_socket_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof value) ? -errno : 0;
}

#endif
