/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/kernel_symbols.h"

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

/* "ffffffff81000000 T name[\tmodule]\n": the address, 0 for what is no code; the name becomes "name module". By hand:
 * there are some 200,000 lines. */
static uint64_t read_line(char *line, char **name)
{
	char *end, *module;
	uint64_t address = strtoull(line, &end, 16);

	if (!address || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
		return 0;
	*name = end + 3;
	(*name)[strcspn(*name, "\n")] = 0;
	module = strchr(*name, '\t');
	if (module)
		*module = ' ';
	return address;
}

struct vprof_kernel_symbols *vprof_kernel_symbols_read(void)
{
	struct vprof_kernel_symbols *s = calloc(1, sizeof *s);
	FILE *f = s ? fopen("/proc/kallsyms", "re") : NULL;
	char line[512];

	while (f && fgets(line, sizeof line, f)) {
		char *name;
		uint64_t address = read_line(line, &name);
		struct symbol *slot = address ? VPROF_PUSH(&s->v) : NULL;

		if (address && !slot)
			break;
		if (slot)
			*slot = (struct symbol){ address, vprof_arena_copy(&s->names, name, strlen(name)) };
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
