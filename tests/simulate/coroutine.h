/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulated thread's own stack: switched to and from by hand, never by the machine. */
#ifndef SIMULATE_COROUTINE_H
#define SIMULATE_COROUTINE_H

#include <stddef.h>
#include <ucontext.h>

struct coroutine {
	ucontext_t context;
	void *stack;
	size_t n_stack;
	void *fiber; /* what a sanitizer knows it by */
};

void coroutine_main(struct coroutine *c); /* the stack that runs now */
void coroutine_init(struct coroutine *c, void *stack, size_t n_stack, void (*entry)(void));
void coroutine_release(struct coroutine *c);
void coroutine_switch(struct coroutine *from, struct coroutine *to);

#endif
