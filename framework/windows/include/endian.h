/* endian(3): Windows is little-endian everywhere. */
#ifndef WINDOWS_ENDIAN_H
#define WINDOWS_ENDIAN_H

#define be16toh(value) __builtin_bswap16(value)
#define be32toh(value) __builtin_bswap32(value)
#define be64toh(value) __builtin_bswap64(value)
#define htobe16(value) __builtin_bswap16(value)
#define htobe32(value) __builtin_bswap32(value)
#define htobe64(value) __builtin_bswap64(value)

#endif
