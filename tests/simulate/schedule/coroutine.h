/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stack of a simulated thread: switched explicitly, never by the operating system. */
#ifndef SIMULATE_COROUTINE_H
#define SIMULATE_COROUTINE_H

#include <stddef.h>
#include <ucontext.h>

struct coroutine {
	ucontext_t context;
	void *stack;
	size_t n_stack;
	void *fiber; /* the sanitizer's handle of it */
};

void coroutine_main(struct coroutine *c); /* the running stack */
void coroutine_init(struct coroutine *c, void *stack, size_t n_stack, void (*entry)(void));
void coroutine_release(struct coroutine *c);
void coroutine_switch(struct coroutine *from, struct coroutine *to);

#endif
