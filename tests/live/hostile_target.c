/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "tests/live/hostile_target.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/live/live_map.h"

#define STACK_BYTES (256u << 10)
#define JUMPED 73
#define SWITCHED 23

static struct hostile_shared *shared;

#define FUNCTION(result, name, parameter)                                                                              \
	result name(parameter);                                                                                        \
	static result name##_plain(parameter) __attribute__((noinline, used));                                         \
	static result name##_twin(parameter) __attribute__((noinline, used));                                          \
	__asm__(".pushsection .text.entries,\"ax\"\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"         \
		".byte 0xa9\n.long " #name "_twin - 1f\n1: jmp " #name "_plain\n.popsection")
FUNCTION(void, jump_outer, int);
FUNCTION(void, jump_inner, int);
FUNCTION(void, jump_leaf, int);
FUNCTION(void, switch_outer, void);
FUNCTION(void, switch_inner, void);
FUNCTION(void, crowd, void);
FUNCTION(uint64_t, step, uint64_t);

/* longjmp */

static jmp_buf back;
static int n_returned;

static void jump_leaf_plain(int n)
{
	if (n)
		longjmp(back, n);
	n_returned++;
}
static void jump_leaf_twin(int n)
{
	VP_LIVE_TWIN(JUMP_LEAF, jump_leaf_twin)
	if (n)
		longjmp(back, n);
	n_returned++;
}

static void jump_inner_plain(int n)
{
	jump_leaf(n);
	n_returned++;
}
static void jump_inner_twin(int n)
{
	VP_LIVE_TWIN(JUMP_INNER, jump_inner_twin)
	jump_leaf_twin(n);
	n_returned++;
}

static void jump_outer_plain(int n)
{
	jump_inner(n);
	n_returned++;
}
static void jump_outer_twin(int n)
{
	VP_LIVE_TWIN(JUMP_OUTER, jump_outer_twin)
	jump_inner_twin(n);
	n_returned++;
}

static int passage_jump(void)
{
	volatile int jumped = 0;
	int value;

	n_returned = 0;
	value = _setjmp(back);
	if (value)
		jumped = value;
	else
		jump_outer(7);
	jump_outer(0);
	return jumped * 10 + n_returned;
}

/* coroutines */

static ucontext_t thread_context, coroutine;
static unsigned char stack[STACK_BYTES];
static int n_switched;

static void switch_inner_plain(void)
{
	swapcontext(&coroutine, &thread_context);
	n_switched++;
}
static void switch_inner_twin(void)
{
	VP_LIVE_TWIN(SWITCH_INNER, switch_inner_twin)
	swapcontext(&coroutine, &thread_context);
	n_switched++;
}

static void switch_outer_plain(void)
{
	switch_inner();
	n_switched++;
}
static void switch_outer_twin(void)
{
	VP_LIVE_TWIN(SWITCH_OUTER, switch_outer_twin)
	switch_inner_twin();
	n_switched++;
}

static void run_coroutine(void)
{
	switch_outer();
	n_switched++;
	swapcontext(&coroutine, &thread_context);
}

static int passage_switch(void)
{
	int before;

	n_switched = 0;
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof stack;
	coroutine.uc_link = NULL;
	makecontext(&coroutine, run_coroutine, 0);
	swapcontext(&thread_context, &coroutine);
	before = n_switched;
	swapcontext(&thread_context, &coroutine);
	return before * 100 + 20 + n_switched;
}

/* a crowd */

static void pause_briefly(void)
{
	const struct timespec t = { 0, 1000000 };

	nanosleep(&t, NULL);
}

static uint64_t step_plain(uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return 2 * n;
}
static uint64_t step_twin(uint64_t n)
{
	VP_LIVE_TWIN(STEP, step_twin)
	__asm__ volatile("" : "+r"(n));
	return 2 * n;
}

#define STAY(step)                                                                                                     \
	uint64_t epoch = shared->epoch, n = 0, sum = 0;                                                                \
                                                                                                                       \
	shared->n_arrived++;                                                                                           \
	while (shared->epoch == epoch) {                                                                               \
		sum += step(n++);                                                                                      \
		pause_briefly();                                                                                       \
	}                                                                                                              \
	shared->n_wrong_results += sum != n * (n - 1);

static void crowd_plain(void)
{
	STAY(step)
}
static void crowd_twin(void)
{
	VP_LIVE_TWIN(CROWD, crowd_twin)
	STAY(step_twin)
}

static void *be_crowd(void *arg)
{
	const struct vp_thread *self = vp_attach();
	uint64_t gate = self->gate;

	while (!shared->is_over) {
		crowd();
		shared->n_passages++;
		shared->n_wrong_gates += self->gate != gate || self->top;
	}
	return arg;
}

static int run_crowd(void)
{
	pthread_t threads[N_CROWD];

	for (int i = 0; i < N_CROWD; i++)
		if (pthread_create(&threads[i], NULL, be_crowd, NULL))
			return 3;
	for (int i = 0; i < N_CROWD; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* passages */

static void trap(enum hostile_phase phase)
{
	shared->phase = phase;
	__asm__ volatile("int3" ::: "memory");
}

static int run_stepped(void)
{
	static int (*const passages[])(void) = { passage_jump, hostile_throw, passage_switch };
	static const int results[] = { JUMPED, HOSTILE_THROWN, SWITCHED };
	const struct vp_thread *self = vp_attach();
	uint64_t gate = self->gate;
	int result;

	trap(HOSTILE_READY);
	while (!shared->is_over) {
		int passage = shared->passage;

		trap(HOSTILE_BEGIN);
		result = passages[passage]();
		trap(HOSTILE_END_OF_PASSAGE);
		shared->n_passages++;
		shared->n_wrong_results += result != results[passage];
		shared->n_wrong_gates += self->gate != gate || self->top;
	}
	return 0;
}

int hostile_main(const char *mode, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return 2;
	close(fd);
	shared = map;
	return *mode == 'c' ? run_crowd() : run_stepped();
}

const struct vprof_probe_map *hostile_map(void)
{
	static const struct live_function functions[] = {
		{ JUMP_OUTER, (uint64_t)jump_outer },
		{ JUMP_INNER, (uint64_t)jump_inner },
		{ JUMP_LEAF, (uint64_t)jump_leaf },
		{ THROW_OUTER, 0 },
		{ THROW_INNER, 0 },
		{ THROW_LEAF, 0 },
		{ SWITCH_OUTER, (uint64_t)switch_outer },
		{ SWITCH_INNER, (uint64_t)switch_inner },
		{ CROWD, (uint64_t)crowd },
		{ STEP, (uint64_t)step },
	};

	return live_map_of_program(functions, sizeof functions / sizeof *functions);
}
