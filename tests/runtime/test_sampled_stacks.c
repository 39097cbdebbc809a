/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that are sampled at waits are those that the program had, whether they were walked or known again: chains of
 * functions with frames of many sizes, in random order, which meet at the same depths. Before each wait the program
 * tells from where in them it came. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define N_WAITS 2000 /* all of them sampled */
#define LEVELS 4

static uint32_t state = 12345;

static uint32_t draw(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 16;
}

static const void *returns[LEVELS]; /* into the function of each level */
static unsigned chain;		    /* four bits for each level: which function */

static void descend(unsigned level);

#define STEP(name, words)                                                                                              \
	static void __attribute__((noinline)) name(unsigned level)                                                     \
	{                                                                                                              \
		volatile uint64_t frame[words];                                                                        \
		frame[0] = level;                                                                                      \
		descend(level + 1);                                                                                    \
		frame[(words) - 1] = frame[0];                                                                         \
	}
STEP(step_0, 1)
STEP(step_1, 1)
STEP(step_2, 2)
STEP(step_3, 3)
STEP(step_4, 4)
STEP(step_5, 9)
STEP(step_6, 16)
STEP(step_7, 16)

static void __attribute__((noinline)) sleep_here(void)
{
	const struct timespec moment = { 0, 1 };

	for (int i = 0; i < LEVELS; i++)
		vprof_work("return", (int64_t)(uintptr_t)returns[i]);
	nanosleep(&moment, NULL);
	__asm__ volatile(""); /* no tail call */
}

static void __attribute__((noinline)) descend(unsigned level)
{
	static void (*const steps[])(unsigned) = { step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7 };

	if (level)
		returns[level - 1] = __builtin_return_address(0);
	if (level == LEVELS)
		sleep_here();
	else
		steps[chain >> 4 * level & 7](level);
	__asm__ volatile("");
}

static int target(void)
{
	vprof_begin("request", 1);
	for (int i = 0; i < N_WAITS; i++) {
		chain = i % 4 ? draw() & 0x1111 : draw(); /* few that come again and again, among many */
		descend(0);
	}
	vprof_end("request", 1);
	return 0;
}

/* The judge. */

struct found {
	uint64_t name, returns[LEVELS];
	int n_returns, n_stacks, n_right;
};

static uint64_t address_at(const struct vp_unit *u, unsigned i)
{
	return i % 2 ? u[1 + i / 2].w : u[1 + i / 2].t;
}

/* Each function is called by descend(): so every second address is one of those told, from the innermost outward. */
static bool is_right(const struct found *f, const struct vp_unit *u)
{
	unsigned n = VP_PAYLOAD(u->w) & 0xff;

	for (unsigned i = 0; i < LEVELS; i++)
		if (2 + 2 * i >= n || address_at(u, 2 + 2 * i) != f->returns[LEVELS - 1 - i])
			return false;
	return true;
}

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct found *f = arg;

	(void)th;
	(void)n;
	if (VP_CODE(u->w) == VP_KIND_WORK && u[1].t == f->name)
		f->returns[f->n_returns++ % LEVELS] = u[1].w;
	if (VP_CODE(u->w) != VP_KIND_STACK || (VP_PAYLOAD(u->w) >> 8 & 0xff) != VP_STACK_WAIT)
		return;
	CHECK(f->n_returns % LEVELS == 0, "a stack among the addresses");
	f->n_stacks++;
	f->n_right += is_right(f, u);
}

static void sample_all(const char *path)
{
	session_shm(path)->stack_samples = N_WAITS;
}

int main(int argc, char **argv)
{
	struct found f = { .name = vprof_hash(VPROF_HASH_SEED, "return", 6) };
	struct session s;

	(void)argv;
	if (argc > 1)
		return target();
	session_adjust = sample_all;
	if (session_run(&s, "target", 8u << 20, 1))
		exit(1);
	session_each(&s, take, &f);
	printf("%d stacks, %d right\n", f.n_stacks, f.n_right);
	CHECK(f.n_stacks == N_WAITS, "all are sampled");
	CHECK(f.n_right == f.n_stacks, "as the program was");
	session_end(&s);
	return n_failed != 0;
}
