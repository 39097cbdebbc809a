/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/kernel_symbols.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/array.h"
#include "common/error.h"
#include "common/search.h"

struct symbol {
	uint64_t address;
	const char *name;
};

struct vprof_kernel_symbols {
	VPROF_ARRAY(struct symbol) v; /* by address */
	struct vprof_arena names;
};

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

struct vprof_kernel_symbols *vprof_kernel_symbols_read(void)
{
	struct vprof_kernel_symbols *s = calloc(1, sizeof *s);
	FILE *f = s ? fopen("/proc/kallsyms", "re") : NULL;
	char line[512], name[384], module[96];

	while (f && fgets(line, sizeof line, f)) {
		uint64_t address;
		struct symbol *slot;
		char type;
		int n = sscanf(line, "%" SCNx64 " %c %383s %95s", &address, &type, name, module);

		if (n < 3 || !address || !strchr("tTwW", type))
			continue;
		slot = VPROF_PUSH(&s->v);
		if (!slot)
			break;
		slot->address = address;
		slot->name = n == 4 ? vprof_arena_printf(&s->names, "%s %s", name, module) :
				      vprof_arena_copy(&s->names, name, strlen(name));
	}
	if (f)
		fclose(f);
	if (s && s->v.n)
		qsort(s->v.v, s->v.n, sizeof *s->v.v, compare);
	return s;
}

void vprof_kernel_symbols_free(struct vprof_kernel_symbols *s)
{
	if (!s)
		return;
	VPROF_ARRAY_RELEASE(&s->v);
	vprof_arena_release(&s->names);
	free(s);
}

const char *vprof_kernel_symbols_find(const struct vprof_kernel_symbols *s, uint64_t address, uint64_t *start)
{
	size_t n = VPROF_BISECT(s->v.n, i, s->v.v[i].address <= address);

	if (!n)
		return NULL;
	*start = s->v.v[n - 1].address;
	return s->v.v[n - 1].name;
}

int vprof_kernel_symbols_range(const struct vprof_kernel_symbols *s, const char *name, unsigned long long *begin,
			       unsigned long long *end)
{
	for (size_t i = 0; i < s->v.n; i++) {
		uint64_t address = s->v.v[i].address;

		if (strcmp(s->v.v[i].name, name))
			continue;
		while (i < s->v.n && s->v.v[i].address == address)
			i++;
		*begin = address;
		*end = i < s->v.n ? s->v.v[i].address : address + 1;
		return VPROF_OK;
	}
	return VPROF_ERR_MISSING;
}
