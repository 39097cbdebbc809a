/* Each request is a coroutine on a stack of its own, and gives the thread away while it waits for its backend. One request in
 * sixteen reads its configuration with a call that blocks: the thread stands still for all. */
#include <stdio.h>
#include <time.h>
#include <ucontext.h>

#define N_COROUTINES 4
#define N_ROUNDS 120
#define STACK_BYTES 65536

struct coroutine {
	ucontext_t context;
	int number; /* of its request */
	int is_over;
	char stack[STACK_BYTES];
};

static struct coroutine coroutines[N_COROUTINES];
static ucontext_t scheduler;
static volatile unsigned sink;
static int n_served;

static void spin(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink = sink * 31 + (unsigned)i;
}

/* The thread works for others until the scheduler comes back to this coroutine. */
static void give_way(struct coroutine *c)
{
	swapcontext(&c->context, &scheduler);
}

static void read_configuration(void)
{
	struct timespec disk = { 0, 20000000 };

	nanosleep(&disk, NULL);
}

static void handle_request(struct coroutine *c)
{
	spin(2000);
	give_way(c); /* the backend answers */
	if (c->number % 16 == 0)
		read_configuration();
	spin(1000);
}

static void run_coroutine(int index)
{
	struct coroutine *c = &coroutines[index];

	for (int i = 0; i < N_ROUNDS; i++) {
		c->number = i * N_COROUTINES + index;
		handle_request(c);
		n_served++;
	}
	c->is_over = 1;
}

static void run_scheduler(void)
{
	int n_open = N_COROUTINES;

	while (n_open) {
		n_open = 0;
		for (int i = 0; i < N_COROUTINES; i++)
			if (!coroutines[i].is_over) {
				n_open++;
				swapcontext(&scheduler, &coroutines[i].context);
			}
	}
}

int main(void)
{
	for (int i = 0; i < N_COROUTINES; i++) {
		struct coroutine *c = &coroutines[i];

		getcontext(&c->context);
		c->context.uc_stack.ss_sp = c->stack;
		c->context.uc_stack.ss_size = sizeof c->stack;
		c->context.uc_link = &scheduler;
		makecontext(&c->context, (void (*)(void))run_coroutine, 1, i);
	}
	run_scheduler();
	printf("served %d\n", n_served);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
