/* The header of a stream, made from a tree: how many CPUs there are is said by the list of those online alone
 * (Documentation/admin-guide/cputopology.rst), never by counting folders or masks. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/header.h"
#include "test.h"

const char suite[] = "header";

static char folder[64];

static void begin(void)
{
	snprintf(folder, sizeof folder, "/tmp/sonde-header-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

/* A file of the tree, and the folders on the way to it. */
static void put(const char *path, const char *text)
{
	char full[256];
	int fd;

	snprintf(full, sizeof full, "%s%s", folder, path);
	for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CU_ASSERT_FATAL(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static struct sonde_stream_header *make(void)
{
	struct sonde_stream_header *header;
	struct files files;

	CU_ASSERT_EQUAL_FATAL(files_open(&files, folder), 0);
	header = header_make(&files, "", "", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(header);
	files_close(&files);
	return header;
}

static void end(struct sonde_stream_header *header)
{
	char command[128];

	free(header);
	snprintf(command, sizeof command, "rm -r '%s'", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

/* Case 14: 8 CPUs, the highest 13. Case 22: CPUs whose masks are empty or half filled for a moment, while they come online,
 * change nothing. Case 92: nor does a kernel without a folder topology. */
static void cpus_by_their_list(void)
{
	struct sonde_stream_header *header;

	begin();
	put("/sys/devices/system/cpu/online", "0-1,4-5,8-9,12-13\n");
	put("/sys/devices/system/cpu/possible", "0-15\n");
	put("/sys/devices/system/cpu/cpu12/topology/core_siblings", "\n");
	put("/sys/devices/system/cpu/cpu13/topology/core_siblings", "2000\n");
	put("/sys/devices/system/node/online", "0,8\n");
	header = make();
	CU_ASSERT_EQUAL(header->ncpus, 8);
	CU_ASSERT_STRING_EQUAL(header->online, "0-1,4-5,8-9,12-13");
	CU_ASSERT_STRING_EQUAL(header->nodes, "0,8");
	end(header);
}

/* What the tree does not tell is unknown: nothing of the machine that reads it is put in its place. */
static void another_machine(void)
{
	struct sonde_stream_header *header;

	begin();
	put("/proc/sys/kernel/osrelease", "6.1.0-57-cloud-amd64\n");
	put("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
	header = make();
	CU_ASSERT_EQUAL(header->ncpus, 0);
	CU_ASSERT_STRING_EQUAL(header->online, "");
	CU_ASSERT_STRING_EQUAL(header->arch, "");
	CU_ASSERT_STRING_EQUAL(header->host, "");
	CU_ASSERT_STRING_EQUAL(header->kernel, "6.1.0-57-cloud-amd64");
	CU_ASSERT_EQUAL(header->page_size, 0);
	CU_ASSERT_EQUAL(header->user_hz, 0);
	CU_ASSERT_PTR_NULL(strstr(header->machine_id, "0123456789abcdef"));
	CU_ASSERT_EQUAL(strlen(header->machine_id), 32);
	end(header);
}

/* A list that is none: the number is unknown. */
static void no_list(void)
{
	struct sonde_stream_header *header;

	begin();
	put("/sys/devices/system/cpu/online", "0-4294967295\n");
	header = make();
	CU_ASSERT_EQUAL(header->ncpus, 0);
	end(header);
}

CU_TestInfo tests[] = {
	{ "cases 14, 22 and 92: CPUs by their list", cpus_by_their_list },
	{ "another machine", another_machine },
	{ "no list", no_list },
	CU_TEST_INFO_NULL,
};
