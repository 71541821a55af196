/* What an ELF file says of itself without being loaded, by elf(5) and the System V ABI. The file may be anything: every
 * offset is checked against its size. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/elffile.h"
#include "host/must.h"
#include "host/refuse.h"

enum {
	SEGMENTS_MOST = 128,
	SECTIONS_MOST = 4096,
	PIECE_MOST = 16 << 20, /* bytes of one note segment, symbol or string table */
};

#define SELF_DATA  (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)
#define SELF_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

/* The running program's own header, from the linker: what a loadable object must match. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

struct elf_file {
	int fd;
	uint64_t size;
	ElfW(Ehdr) header;
	char *why;
	size_t why_size;
};

/* `length` bytes at `offset`, allocated; NULL where the file does not have them. */
static void *piece(const struct elf_file *file, uint64_t offset, uint64_t length)
{
	char *bytes;

	if (length > PIECE_MOST || offset > file->size || length > file->size - offset)
		return NULL;
	bytes = must(malloc(length + 1));
	if (pread(file->fd, bytes, length, (off_t)offset) != (ssize_t)length) {
		free(bytes);
		return NULL;
	}
	bytes[length] = '\0';
	return bytes;
}

static int read_header(struct elf_file *file)
{
	const ElfW(Ehdr) *own = &__ehdr_start;
	ElfW(Ehdr) *h = &file->header;

	if (file->size < sizeof *h || pread(file->fd, h, sizeof *h, 0) != (ssize_t)sizeof *h ||
	    memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return refuse(file->why, file->why_size, "it is not an ELF file");
	if (h->e_ident[EI_CLASS] != SELF_CLASS || h->e_ident[EI_DATA] != SELF_DATA ||
	    h->e_machine != own->e_machine)
		return refuse(file->why, file->why_size,
			      "it was built for another machine; build it for this one");
	if (h->e_type != ET_DYN)
		return refuse(file->why, file->why_size,
			      "it is not a shared object; link it with -shared");
	if (h->e_phentsize != sizeof(ElfW(Phdr)) || h->e_phnum > SEGMENTS_MOST)
		return refuse(file->why, file->why_size, "its program headers are damaged");
	return 0;
}

/* The text of a fixed field, made safe to print: terminated, printable. */
static void tidy(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			*text = '?';
}

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Looks for the sonde note among the notes of one segment. */
static bool find_note(const char *bytes, size_t length, struct sonde_elf_note *note)
{
	const size_t head = offsetof(struct sonde_elf_note, owner);
	const size_t body = offsetof(struct sonde_elf_note, magic);

	while (length >= head) {
		uint32_t words[3];
		size_t name, desc;

		memcpy(words, bytes, head);
		if (words[0] > length || words[1] > length)
			return false;
		name = padded(words[0]);
		desc = padded(words[1]);
		if (name + desc > length - head)
			return false;
		if (words[2] == 1 && words[0] == 6 && memcmp(bytes + head, "sonde", 6) == 0) {
			size_t take =
				words[1] < sizeof *note - body ? words[1] : sizeof *note - body;

			*note = (struct sonde_elf_note) { .type = 1 };
			memcpy((char *)note + body, bytes + head + name, take);
			return true;
		}
		bytes += head + name + desc;
		length -= head + name + desc;
	}
	return false;
}

/* Facts that lie in segments: the note and the constructors. */
static int read_segments(struct elf_file *file, struct elf_facts *facts)
{
	size_t count = file->header.e_phnum;
	ElfW(Phdr) *segments = piece(file, file->header.e_phoff, count * sizeof *segments);
	bool found = false;

	if (!segments)
		return refuse(file->why, file->why_size, "its program headers are damaged");
	for (size_t i = 0; i < count; i++) {
		char *bytes;

		if (segments[i].p_type != PT_NOTE && segments[i].p_type != PT_DYNAMIC)
			continue;
		bytes = piece(file, segments[i].p_offset, segments[i].p_filesz);
		if (bytes && segments[i].p_type == PT_NOTE && !found)
			found = find_note(bytes, segments[i].p_filesz, &facts->note);
		for (size_t at = 0; bytes && segments[i].p_type == PT_DYNAMIC &&
				    at + sizeof(ElfW(Dyn)) <= segments[i].p_filesz;
		     at += sizeof(ElfW(Dyn))) {
			ElfW(Dyn) entry;

			memcpy(&entry, bytes + at, sizeof entry);
			if (entry.d_tag == DT_INIT_ARRAYSZ && entry.d_un.d_val > sizeof(void *))
				facts->constructors =
					(uint32_t)(entry.d_un.d_val / sizeof(void *)) - 1;
		}
		free(bytes);
	}
	free(segments);
	if (!found)
		return refuse(file->why, file->why_size,
			      "it has no sonde note; a plugin includes <sonde/plugin.h> and ends "
			      "with SONDE_COLLECTOR(...) or its like");
	return 0;
}

static bool linkers_own(const char *name)
{
	static const char *const names[] = { "_init", "_fini", "_edata", "_end", "__bss_start" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void count_exports(const char *symbols, size_t size, const char *strings, size_t length,
			  struct elf_facts *facts)
{
	for (size_t at = 0; at + sizeof(ElfW(Sym)) <= size; at += sizeof(ElfW(Sym))) {
		ElfW(Sym) symbol;
		const char *name;

		memcpy(&symbol, symbols + at, sizeof symbol);
		name = symbol.st_name < length ? strings + symbol.st_name : "?";
		if (symbol.st_shndx == SHN_UNDEF || ELF32_ST_BIND(symbol.st_info) == STB_LOCAL ||
		    (ELF32_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT &&
		     ELF32_ST_VISIBILITY(symbol.st_other) != STV_PROTECTED) ||
		    linkers_own(name))
			continue;
		facts->exports++;
		if (strcmp(name, "sonde_plugin") == 0)
			facts->has_symbol = true;
		else if (!facts->other[0])
			snprintf(facts->other, sizeof facts->other, "%s", name);
	}
	tidy(facts->other, sizeof facts->other);
}

/* Facts that lie in sections: what it exports. */
static int read_exports(struct elf_file *file, struct elf_facts *facts)
{
	size_t count = file->header.e_shnum, i = 0;
	ElfW(Shdr) *sections = NULL;
	char *symbols = NULL, *strings = NULL;
	int err = -EINVAL;

	if (file->header.e_shentsize == sizeof *sections && count <= SECTIONS_MOST)
		sections = piece(file, file->header.e_shoff, count * sizeof *sections);
	while (sections && i < count && sections[i].sh_type != SHT_DYNSYM)
		i++;
	if (sections && i < count && sections[i].sh_link < count) {
		const ElfW(Shdr) *names = &sections[sections[i].sh_link];

		symbols = piece(file, sections[i].sh_offset, sections[i].sh_size);
		strings = piece(file, names->sh_offset, names->sh_size);
		if (symbols && strings) {
			count_exports(symbols, sections[i].sh_size, strings, names->sh_size, facts);
			err = 0;
		}
	}
	free(symbols);
	free(strings);
	free(sections);
	return err ? refuse(file->why, file->why_size,
			    "its symbol table can't be read; keep its section headers")
		   : 0;
}

int elf_read(const char *path, struct elf_facts *facts, char *why, size_t size)
{
	struct elf_file file = { .why = why, .why_size = size };
	struct stat st;
	int err = 0;

	*facts = (struct elf_facts) { 0 };
	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file.fd < 0 || fstat(file.fd, &st)) {
		err = -errno;
		refuse(why, size, "it can't be opened: %s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		err = refuse(why, size, "it is not a regular file");
	} else {
		file.size = (uint64_t)st.st_size;
		err = read_header(&file);
	}
	if (!err)
		err = read_segments(&file, facts);
	if (!err)
		err = read_exports(&file, facts);
	if (file.fd >= 0)
		close(file.fd);
	tidy(facts->note.name, sizeof facts->note.name);
	tidy(facts->note.version, sizeof facts->note.version);
	tidy(facts->note.summary, sizeof facts->note.summary);
	tidy(facts->note.capabilities, sizeof facts->note.capabilities);
	return err;
}
