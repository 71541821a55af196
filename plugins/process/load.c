/* Loads the BPF programs through libbpf, which is looked for at run time and let go of again. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf.h"

/* iter.bpf.c and walk.bpf.c as clang compiled them; empty where the machine that built sonde had no clang or no libbpf
 * headers. */
__asm__(".pushsection .rodata\n"
	".balign 8\n"
	"process_bpf_iter: .incbin \"plugins/process/iter.bpf\"\n"
	"process_bpf_iter_end: .byte 0\n"
	".balign 8\n"
	"process_bpf_walk: .incbin \"plugins/process/walk.bpf\"\n"
	"process_bpf_walk_end: .byte 0\n"
	".popsection\n");
extern const char process_bpf_iter[] __attribute__((visibility("hidden")));
extern const char process_bpf_iter_end[] __attribute__((visibility("hidden")));
extern const char process_bpf_walk[] __attribute__((visibility("hidden")));
extern const char process_bpf_walk_end[] __attribute__((visibility("hidden")));

static size_t size_between(const char *begin, const char *end)
{
	return (uintptr_t)end - (uintptr_t)begin;
}

struct bpf_object;
struct bpf_map;
struct bpf_program;
struct bpf_link;

/* The stable interface of libbpf 1.x (bpf/libbpf.h). */
struct libbpf {
	void *library;
	void *(*set_print)(int (*print)(int level, const char *format, va_list args));
	struct bpf_object *(*open_mem)(const void *bytes, size_t size, const void *options);
	struct bpf_map *(*find_map)(const struct bpf_object *object, const char *name);
	int (*set_value)(struct bpf_map *map, const void *value, size_t size);
	int (*set_value_size)(struct bpf_map *map, uint32_t size);
	int (*map_fd)(const struct bpf_map *map);
	int (*load)(struct bpf_object *object);
	struct bpf_program *(*find_program)(const struct bpf_object *object, const char *name);
	int (*program_fd)(const struct bpf_program *program);
	struct bpf_link *(*attach)(const struct bpf_program *program, const void *options);
	int (*link_fd)(const struct bpf_link *link);
	int (*link_destroy)(struct bpf_link *link);
	void (*close)(struct bpf_object *object);
};

static const struct {
	size_t offset;
	const char *name;
} functions[] = {
	{ offsetof(struct libbpf, set_print), "libbpf_set_print" },
	{ offsetof(struct libbpf, open_mem), "bpf_object__open_mem" },
	{ offsetof(struct libbpf, find_map), "bpf_object__find_map_by_name" },
	{ offsetof(struct libbpf, set_value), "bpf_map__set_initial_value" },
	{ offsetof(struct libbpf, set_value_size), "bpf_map__set_value_size" },
	{ offsetof(struct libbpf, map_fd), "bpf_map__fd" },
	{ offsetof(struct libbpf, load), "bpf_object__load" },
	{ offsetof(struct libbpf, find_program), "bpf_object__find_program_by_name" },
	{ offsetof(struct libbpf, program_fd), "bpf_program__fd" },
	{ offsetof(struct libbpf, attach), "bpf_program__attach_iter" },
	{ offsetof(struct libbpf, link_fd), "bpf_link__fd" },
	{ offsetof(struct libbpf, link_destroy), "bpf_link__destroy" },
	{ offsetof(struct libbpf, close), "bpf_object__close" },
};

static bool find_library(struct libbpf *libbpf)
{
	libbpf->library = dlopen("libbpf.so.1", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; libbpf->library && i < sizeof functions / sizeof functions[0]; i++) {
		void *function = dlsym(libbpf->library, functions[i].name);

		memcpy((char *)libbpf + functions[i].offset, &function, sizeof function);
		if (!function) {
			dlclose(libbpf->library);
			libbpf->library = NULL;
		}
	}
	return libbpf->library != NULL;
}

static int silent(int level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static int load_constants(const struct libbpf *libbpf, struct bpf_object *object,
			  const struct record_constants *constants)
{
	struct bpf_map *map = libbpf->find_map(object, ".rodata");
	int err = map ? libbpf->set_value(map, constants, sizeof *constants) : -ENOENT;

	return err ? err : libbpf->load(object);
}

/* A descriptor of the link, or a negative errno. */
static int load_iter(const struct libbpf *libbpf, const struct record_constants *constants)
{
	size_t size = size_between(process_bpf_iter, process_bpf_iter_end);
	struct bpf_object *object = libbpf->open_mem(process_bpf_iter, size, NULL);
	struct bpf_program *program;
	struct bpf_link *link = NULL;
	int err = -errno, fd = -1;

	if (!object)
		return err;
	err = load_constants(libbpf, object, constants);
	program = err ? NULL : libbpf->find_program(object, "tasks");
	if (program) {
		link = libbpf->attach(program, NULL);
		err = link ? 0 : -errno;
	}
	if (link) {
		fd = fcntl(libbpf->link_fd(link), F_DUPFD_CLOEXEC, 0);
		err = fd < 0 ? -errno : 0;
		libbpf->link_destroy(link);
	}
	libbpf->close(object);
	return fd >= 0 ? fd : err ? err : -ENOENT;
}

/* Without it, for whatever reason, the iterator does. */
static void load_walk(const struct libbpf *libbpf, const struct record_constants *constants,
		      struct bpf *bpf)
{
	size_t size = size_between(process_bpf_walk, process_bpf_walk_end);
	struct bpf_object *object = size ? libbpf->open_mem(process_bpf_walk, size, NULL) : NULL;
	struct bpf_program *program;
	struct bpf_map *map;
	void *told = MAP_FAILED;

	if (!object)
		return;
	map = libbpf->find_map(object, "told");
	program = libbpf->find_program(object, "tasks");
	if (map && program && !libbpf->set_value_size(map, constants->room) &&
	    !load_constants(libbpf, object, constants))
		told = mmap(NULL, constants->room, PROT_READ, MAP_SHARED, libbpf->map_fd(map), 0);
	if (told != MAP_FAILED) {
		bpf->walk = fcntl(libbpf->program_fd(program), F_DUPFD_CLOEXEC, 0);
		bpf->told = told;
		bpf->told_size = constants->room;
	}
	libbpf->close(object);
}

int64_t bpf_load(void *context, void *buffer, uint64_t size)
{
	const struct bpf_load *asked = context;
	struct libbpf libbpf = { 0 };
	int fd;

	(void)buffer, (void)size;
	if (!size_between(process_bpf_iter, process_bpf_iter_end))
		return -ENOEXEC;
	if (!find_library(&libbpf))
		return -ELIBACC;
	libbpf.set_print(silent);
	fd = load_iter(&libbpf, &asked->constants);
	if (fd >= 0)
		load_walk(&libbpf, &asked->constants, asked->bpf);
	dlclose(libbpf.library);
	if (fd < 0)
		return fd;
	asked->bpf->link = fd;
	return 0;
}

void bpf_explain(int err, char *why, size_t size)
{
	if (err == -ENOEXEC)
		snprintf(why, size, "this sonde was built without clang or libbpf's headers");
	else if (err == -ELIBACC)
		snprintf(why, size, "libbpf.so.1 is not installed");
	else if (err == -EPERM || err == -EACCES)
		snprintf(why, size, "it needs CAP_BPF and CAP_PERFMON");
	else
		snprintf(why, size, "%s: it needs Linux 5.8 with CONFIG_DEBUG_INFO_BTF",
			 strerror(-err));
}
