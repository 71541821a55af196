/* What a stream tells besides of the machine: its networks, CPUs and block devices, and how the recording ended. */
#include <string.h>

#include "columns.h"

enum { NET_NAME, NET_RECEIVED, NET_SENT };
static const char *const net_fields[FIELDS_MOST] = {
	[NET_NAME] = "name",
	[NET_RECEIVED] = "rx_bytes",
	[NET_SENT] = "tx_bytes",
};

void take_network(struct tree *tree, const struct sonde_view *view)
{
	double received = NAN, sent = NAN;

	bind_columns(&tree->net, view, net_fields);
	for (uint32_t i = 0; i < view->nrows; i++) {
		const struct at at = { view, &tree->net, i };

		if (is_word(&at, NET_NAME, "lo"))
			continue;
		received = plus(received, number_at(&at, NET_RECEIVED));
		sent = plus(sent, number_at(&at, NET_SENT));
	}
	if (!known(tree->received)) {
		tree->received_first = received;
		tree->sent_first = sent;
	}
	tree->received = received;
	tree->sent = sent;
}

/* What a counter of the machine went up by since the view before. */
static void add_growth(double *sum, double before, double value)
{
	if (value >= before)
		*sum = plus(*sum, value - before);
}

/* Of all block devices, each byte once, also where one stands upon others. */
void take_paging(struct tree *tree, const struct sonde_view *view)
{
	static const char *const fields[FIELDS_MOST] = { "pgpgin", "pgpgout" };
	const struct at at = { view, &tree->paging, 0 };
	struct amounts *amounts = amounts_of(tree, view);
	double in, out;

	bind_columns(&tree->paging, view, fields);
	if (!view->nrows)
		return;
	in = number_at(&at, 0);
	out = number_at(&at, 1);
	add_growth(&amounts->read, tree->paged_in, in);
	add_growth(&amounts->written, tree->paged_out, out);
	tree->paged_in = in;
	tree->paged_out = out;
}

/* All that CPUs did; guests are in user. */
void take_machine(struct tree *tree, const struct sonde_view *view)
{
	static const char *const fields[FIELDS_MOST] = { "user", "nice", "system", "irq",
							 "softirq" };
	double busy = NAN;

	bind_columns(&tree->machine, view, fields);
	for (uint32_t i = 0; view->nrows && fields[i]; i++)
		busy = plus(busy, number_at(&(struct at) { view, &tree->machine, 0 }, i));
	if (!known(tree->busy))
		tree->busy_first = busy;
	add_growth(&amounts_of(tree, view)->busy, tree->busy, busy);
	tree->busy = larger(tree->busy, busy);
}

/* Who started the tree took its orphans over only where that was sonde. */
void take_end(struct tree *tree, const struct sonde_view *view)
{
	static const char *const fields[FIELDS_MOST] = { "reason" };

	bind_columns(&tree->end, view, fields);
	tree->adopted = view->nrows && is_word(&(struct at) { view, &tree->end, 0 }, 0, "command");
}
