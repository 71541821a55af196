/* SHA-256 (FIPS 180-4), for identifiers that must not be turned back. */
#ifndef CORE_SHA256_H
#define CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

void sha256(const void *bytes, size_t length, uint8_t digest[32]);

#endif
