/* The same records by one call that follows the kernel's list of tasks (bpf_iter_task_next(), since Linux 6.7) and writes them
 * into a map that the collector sees: the iterator finds each task by its number, which costs several times as much. */
#include "take.bpf.h"

struct bpf_iter_task {
	u64 opaque[3];
};

enum { ALL_THREADS = 1 };

void bpf_rcu_read_lock(void) __ksym;
void bpf_rcu_read_unlock(void) __ksym;
int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task, unsigned flags) __ksym;
struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym;
void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym;

/* The loader gives it constants.room bytes: a struct record_total and the records. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, 4096);
} told SEC(".maps");

/* In memory: a variable of the loop would be another state for the verifier in each turn. */
static volatile u64 used;

static __always_inline void put(void *out, const void *bytes, u32 size)
{
	u64 at = used;

	used = at + size;
	if (at > constants.room - RECORD_MARGIN)
		return;
	bpf_probe_read_kernel((char *)out + at, size, bytes);
}

SEC("syscall")
int tasks(void *context)
{
	struct bpf_iter_task it;
	struct record_total *total;
	struct task_struct *task;
	u32 key = 0;

	total = bpf_map_lookup_elem(&told, &key);
	if (!total)
		return 1;
	used = sizeof *total;
	begin_pass();
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, NULL, ALL_THREADS);
	/* The first one is the idle task of the first CPU. */
	while ((task = bpf_iter_task_next(&it)))
		if (task->pid)
			take(total, task);
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	total->bytes = used - sizeof *total;
	return 0;
}

char terms[] SEC("license") = "Dual BSD/GPL";
