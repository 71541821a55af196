/* sonde replay: a JSON timeline --> a recording. sonde runs this program, since it needs a library (jansson) that sonde does
 * without. */
#include <getopt.h>
#include <sys/stat.h>

#include "fixture.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_MISUSE };

static const char help[] =
	"usage: sonde replay [OPTION]... -o NEW FIXTURE\n\n"
	"Makes a recording of a JSON timeline (docs/fixture.schema.json): host constants, processes and whatever else has rows,\n"
	"each with its counters as they changed. The same fixture is the same recording, byte by byte, on any machine.\n"
	"FIXTURE is a file that was written by hand or by sonde export --fixture, or - for stdin.\n\n"
	"  -o, --output NEW   the recording; - is stdout\n"
	"      --label TEXT   its name, in place of the fixture's\n"
	"  -h, --help         print this\n\n"
	"examples:\n"
	"  sonde replay -o written.sonde written.json && sonde tree written.sonde\n"
	"  sonde export --fixture=build.json build.sonde && sonde replay --label again -o again.sonde build.json\n";

enum { OPT_LABEL = 256 };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "label", required_argument, NULL, OPT_LABEL },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct call {
	const char *output, *label, *path;
};

__attribute__((format(printf, 2, 3))) static int fail(int status, const char *format, ...)
{
	char message[8192], safe[2 * sizeof message];

	SONDE_FORMAT(message, format);
	sonde_escape(message, strlen(message), safe, sizeof safe);
	fprintf(stderr, "sonde replay: %s%s\n", safe,
		status == EXIT_MISUSE ? " (see sonde replay --help)" : "");
	return status;
}

static int parse(struct call *call, int argc, char **argv)
{
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			call->output = optarg;
			break;
		case OPT_LABEL:
			call->label = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			exit(EXIT_DONE);
		default:
			return fail(EXIT_MISUSE,
				    c == ':' ? "option %s needs a value"
					     : "option %s is unknown, ambiguous or takes no value",
				    argv[optind - 1]);
		}
	}
	if (!call->output || !*call->output)
		return fail(EXIT_MISUSE, "where to? -o NEW");
	if (strcmp(call->output, "-") == 0 && isatty(STDOUT_FILENO))
		return fail(EXIT_MISUSE,
			    "a recording is not for a terminal: use -o FILE, or pipe it");
	if (optind + 1 != argc)
		return fail(EXIT_MISUSE, "one fixture is wanted, or -");
	call->path = argv[optind];
	return EXIT_DONE;
}

/* The whole document; said where it can't be read. */
static int read_document(const char *path, struct page *document)
{
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	char bytes[65536];
	ssize_t n = -1;
	int err;

	if (fd < 0)
		return fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
	do {
		n = read(fd, bytes, sizeof bytes);
		if (n > 0)
			page_add(document, bytes, (size_t)n);
	} while ((n > 0 || (n < 0 && errno == EINTR)) && document->used <= BYTES_MOST &&
		 !document->no_memory);
	err = n < 0 ? errno : document->no_memory ? ENOMEM : n > 0 ? EFBIG : 0;
	if (fd != STDIN_FILENO)
		close(fd);
	return err ? fail(EXIT_FAILED, "%s: %s", path,
			  err == EFBIG ? "more than 256 MiB are not read" : strerror(err))
		   : EXIT_DONE;
}

/* A recording is never written over, and neither is anything else. */
static int open_output(const char *path)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0)
		return STDOUT_FILENO;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && fstat(fd, &st) == 0 && (!S_ISREG(st.st_mode) || !st.st_size))
		return fd;
	if (fd < 0) {
		fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
		return -1;
	}
	close(fd);
	fail(EXIT_FAILED, "%s is there already: give another name with -o, or remove it", path);
	return -1;
}

static int write_recording(struct fixture *fixture, const char *path)
{
	int fd = open_output(path);
	int err;

	if (fd < 0)
		return EXIT_FAILED;
	err = fixture_write(fixture, fd);
	if (fd != STDOUT_FILENO && close(fd) && !err)
		err = -errno;
	if (err && fd != STDOUT_FILENO)
		unlink(path);
	return err && err != -EPIPE ? fail(EXIT_FAILED, "%s: %s", path, strerror(-err)) : EXIT_DONE;
}

static int replay(const struct call *call)
{
	struct fixture fixture = { 0 };
	struct page document = { 0 };
	int status = read_document(call->path, &document), err;

	if (status == EXIT_DONE) {
		err = fixture_read(&fixture, document.used ? document.bytes : "", document.used);
		if (err)
			status = fail(EXIT_FAILED, "%s: %s", call->path,
				      err == -EBADMSG ? fixture.why : strerror(-err));
	}
	free(document.bytes);
	if (status == EXIT_DONE) {
		if (call->label)
			fixture.header.label = call->label;
		status = write_recording(&fixture, call->output);
	}
	fixture_free(&fixture);
	return status;
}

int main(int argc, char **argv)
{
	struct call call = { 0 };
	int status = parse(&call, argc, argv);

	return call.path && status == EXIT_DONE ? replay(&call) : status;
}
