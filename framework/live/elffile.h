/* What an ELF file says of itself without being loaded (elf(5)): every offset is checked, since the file may be anything. */
#ifndef HOST_ELFFILE_H
#define HOST_ELFFILE_H

#include <sonde/plugin.h>

struct elf_facts {
	struct sonde_elf_note note;
	uint32_t exports;      /* symbols that it exports, but for the linker's own */
	uint32_t constructors; /* beyond the one that the compiler's start-up code has */
	bool has_symbol;       /* `sonde_plugin` is one of them */
	char other[64];        /* the first that is another */
};

/* Reads the facts of a shared object of this machine that has a sonde note. 0, or -EINVAL/-ENOEXEC/-errno and a sentence in
 * `why`, which does not name the file. */
int elf_read(const char *file, struct elf_facts *facts, char *why, size_t size);

#endif
