/* The task iterator: a record for each thread of the machine (Documentation/bpf/bpf_iterators.rst). */
#include "take.bpf.h"

struct seq_file;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 seq_num;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

static __always_inline void put(void *out, const void *bytes, u32 size)
{
	bpf_seq_write(out, bytes, size);
}

SEC("iter/task")
int tasks(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task)
		return 0;
	if (!context->meta->seq_num)
		begin_pass();
	take(context->meta->seq, task);
	return 0;
}

char terms[] SEC("license") = "Dual BSD/GPL";
