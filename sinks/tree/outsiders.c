/* Who else used the CPUs while the tree ran: a build that hands its work to a daemon looks idle itself. */
#include <string.h>

#include "tree.h"

/* Known by the name, or by what it runs where that is a runtime. */
static const struct {
	const char *comm, *program, *service;
} services[] = {
	{ NULL, "GradleDaemon", "Gradle daemon" },
	{ NULL, "GradleWorkerMain", "worker of a Gradle daemon" },
	{ NULL, "KotlinCompileDaemon", "Kotlin compile daemon" },
	{ NULL, "A-server.jar", "Bazel server" },
	{ "bazel(", NULL, "Bazel server" },
	{ NULL, "sbt", "sbt server" },
	{ NULL, "mvnd", "Maven daemon" },
	{ "mvnd", NULL, "Maven daemon" },
	{ NULL, "VBCSCompiler", "C# compile server" },
	{ NULL, "MSBuild.dll", "MSBuild node" },
	{ "buck2d", NULL, "Buck2 daemon" },
	{ "pantsd", NULL, "Pants daemon" },
	{ "sccache", NULL, "compile cache" },
	{ "distccd", NULL, "compile server" },
	{ "icecc", NULL, "compile server" },
	{ "buildkitd", NULL, "container builder" },
	{ "dockerd", NULL, "container engine" },
	{ "containerd", NULL, "container engine" },
	{ "podman", NULL, "container engine" },
	{ "conmon", NULL, "container monitor" },
	{ "crio", NULL, "container engine" },
	{ "nix-daemon", NULL, "builder of packages" },
	{ "guix-daemon", NULL, "builder of packages" },
	{ "watchman", NULL, "file watcher" },
	{ "rust-analyzer", NULL, "language server" },
	{ "clangd", NULL, "language server" },
	{ "gopls", NULL, "language server" },
	{ NULL, "tsserver", "language server" },
	{ NULL, "eslint_d", "lint server" },
	{ "qemu-system", NULL, "virtual machine" },
	{ "kswapd", NULL, "the kernel, reclaiming memory" },
};

const char *tree_service(const struct outsider *outsider)
{
	for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
		const char *comm = services[i].comm, *program = services[i].program;

		if (comm && outsider->comm && strncmp(outsider->comm, comm, strlen(comm)) == 0)
			return services[i].service;
		if (program && outsider->program && strstr(outsider->program, program))
			return services[i].service;
	}
	return NULL;
}

static double weight(const struct outsider *one)
{
	double sum = plus(one->cpu, one->children);

	return known(sum) ? sum : 0;
}

/* One that --also has put into the tree is none. */
static bool is_member(const struct tree *tree, const struct outsider *one)
{
	int32_t i = tree->buckets ? tree->buckets[one->pid % BUCKETS] : NONE;

	for (int steps = 0; i != NONE && steps < STEPS_MOST; steps++) {
		const struct life *life = &tree->lives[i];

		/* A birth is told more exactly than in ticks. */
		if (life->pid == one->pid && life->member && life->start - one->start < TICKS_NS)
			return true;
		i = life->older;
	}
	return false;
}

static void place(struct outsiders *outsiders, const struct outsider *one)
{
	uint32_t at = outsiders->count;

	while (at && weight(outsiders->told[at - 1]) < weight(one))
		at--;
	if (at == OUTSIDERS_TOLD)
		return;
	outsiders->count += outsiders->count < OUTSIDERS_TOLD;
	memmove(&outsiders->told[at + 1], &outsiders->told[at],
		(outsiders->count - at - 1) * sizeof outsiders->told[0]);
	outsiders->told[at] = one;
}

bool tree_outsiders(const struct tree *tree, const struct totals *totals,
		    struct outsiders *outsiders)
{
	const double least = 0.1, least_ns = 1e8; /* ten ticks: of less nothing can be said */
	double busy = tree->busy - tree->busy_first;

	*outsiders =
		(struct outsiders) { .share = totals->outside / busy, .rest = totals->outside };
	if (!(outsiders->share > least) || !(totals->outside > least_ns))
		return false;
	for (uint32_t i = 0; i < tree->noutsiders; i++)
		if (!is_member(tree, &tree->outsiders[i]))
			place(outsiders, &tree->outsiders[i]);
	for (uint32_t i = 0; i < outsiders->count; i++)
		outsiders->rest -= weight(outsiders->told[i]);
	outsiders->rest = outsiders->rest > 0 ? outsiders->rest : 0;
	return true;
}
