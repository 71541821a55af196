/* Answers of the family TASKSTATS: one message with one record of all threads of a process (Documentation/accounting/taskstats.rst,
 * struct taskstats of version 11: Linux 5.17). */
#include <stddef.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "demo/texts.h"

enum { FAMILY = 0x20, RECORD = 368, COMPACT_TOTAL = 360 };

/* An attribute begins: `length` bytes follow. */
static void put_head(FILE *out, uint16_t type, size_t length)
{
	const struct nlattr head = { (uint16_t)(NLA_HDRLEN + length), type };

	fwrite(&head, sizeof head, 1, out);
}

static void put_message(FILE *out, uint16_t type, uint8_t command, size_t length)
{
	const struct nlmsghdr message = {
		.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + length),
		.nlmsg_type = type,
	};
	const struct genlmsghdr genl = { .cmd = command, .version = 1 };

	fwrite(&message, sizeof message, 1, out);
	fwrite(&genl, sizeof genl, 1, out);
}

static void put_record(FILE *out, uint16_t aggregate, uint16_t id_type, uint32_t pid,
		       const char *record)
{
	const size_t id = NLA_HDRLEN + sizeof pid, stats = NLA_HDRLEN + RECORD;

	put_message(out, FAMILY, TASKSTATS_CMD_NEW, NLA_HDRLEN + id + stats);
	put_head(out, aggregate, id + stats);
	put_head(out, id_type, sizeof pid);
	fwrite(&pid, sizeof pid, 1, out);
	put_head(out, TASKSTATS_TYPE_STATS, RECORD);
	fwrite(record, RECORD, 1, out);
}

static void put(char *record, size_t offset, const struct model *model, double seconds)
{
	uint64_t ns = count_of(model, 1e9 * seconds);

	memcpy(record + offset, &ns, sizeof ns);
}

#define TOTAL(name) offsetof(struct taskstats, name##_delay_total)

static void write_delays(FILE *out, const struct model *model, uint32_t which)
{
	char record[RECORD] = { 0 };
	uint32_t pid;
	const struct process *one = model_process(model, which, &pid);

	put(record, offsetof(struct taskstats, cpu_run_virtual_total), model,
	    one->user + one->system);
	put(record, TOTAL(cpu), model, one->wait);
	put(record, TOTAL(blkio), model, one->block_io);
	put(record, TOTAL(freepages), model, one->reclaim);
	put(record, COMPACT_TOTAL, model, one->compaction);
	put_record(out, TASKSTATS_TYPE_AGGR_TGID, TASKSTATS_TYPE_TGID, pid, record);
}

/* Of the recorder itself, which finds the fields by its own number. */
static void write_self(FILE *out, const struct model *model, uint32_t which)
{
	const uint32_t self = 4000;
	char record[RECORD] = { 0 };

	(void)model, (void)which;
	memcpy(record + offsetof(struct taskstats, ac_pid), &self, sizeof self);
	put_record(out, TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_PID, self, record);
}

static void write_family(FILE *out, const struct model *model, uint32_t which)
{
	const uint16_t id[2] = { FAMILY, 0 }; /* padded */

	(void)model, (void)which;
	put_message(out, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, NLA_HDRLEN + sizeof id);
	put_head(out, CTRL_ATTR_FAMILY_ID, sizeof id[0]);
	fwrite(id, sizeof id, 1, out);
}

static const struct demo_file files[] = {
	{ "taskstats", "taskstats family", .write = write_family, .kind = OBTAINED_AT_START },
	{ "taskstats", "taskstats self", .write = write_self, .kind = OBTAINED_AT_START },
	{ "taskstats", "taskstats #", .write = write_delays, .kind = OBTAINED_OF_PROCESS },
	{ "taskstats", "/proc/sys/kernel/task_delayacct", .text = "1\n" },
};

const struct demo_files delay_files = { files, sizeof files / sizeof *files };
