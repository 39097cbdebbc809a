/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/edges/thread_roles.h"

#include <string.h>

#define STACKS_MAX 16 /* of a thread that are looked at */

int vprof_module_tells(const char *path)
{
	static const char *const starts[] = { "/libc.", "/libc-", "/libpthread", "/ld-", "/ld.so", "/libstdc++" };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strstr(path, starts[i]))
			return 0;
	return 1;
}

int vprof_symbol_tells(const struct vprof_symbol *symbol)
{
	return !vprof_symbols_is_runtime(symbol->module) && strcmp(symbol->name, "_start") &&
	       strncmp(symbol->name, "std::", 5) && vprof_module_tells(symbol->module);
}

static const char *outermost(const struct vprof_stack *stack, uint32_t process_seq, struct vprof_symbols *symbols)
{
	for (uint32_t i = stack->n; i-- > 0;) {
		uint64_t address = i % 2 ? stack->addresses[i / 2].w : stack->addresses[i / 2].t;
		const struct vprof_symbol *const *found;

		for (size_t n = vprof_symbols_find(symbols, process_seq, address, &found); n-- > 0;)
			if (vprof_symbol_tells(found[n]))
				return found[n]->name;
	}
	return NULL;
}

const char *vprof_thread_role(const struct vprof_timeline *timeline, uint32_t thread, struct vprof_symbols *symbols)
{
	const struct vprof_thread_timeline *thr = &timeline->threads[thread];
	const char *name = NULL;

	for (size_t i = 0; i < thr->stacks.n && i < STACKS_MAX && !name; i++)
		if (thr->stacks.v[i].n < VP_STACK_MAX) /* else its outermost frames are missing */
			name = outermost(&thr->stacks.v[i], thr->process_seq, symbols);
	return name;
}
