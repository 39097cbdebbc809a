/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/kernel_tables.h"

#include <string.h>

#include "common/search.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t device_key(enum vp_source source, uint32_t number)
{
	return (uint64_t)source << 32 | number;
}

static int compare_devices(const void *a, const void *b)
{
	const struct vprof_kernel_device *x = a, *y = b;

	return compare_u64(device_key(x->source, x->number), device_key(y->source, y->number));
}

static int compare_symbols(const void *a, const void *b)
{
	return compare_u64(((const struct vprof_kernel_symbol *)a)->address,
			   ((const struct vprof_kernel_symbol *)b)->address);
}

static int compare_stacks(const void *a, const void *b)
{
	return compare_u64(((const struct vprof_kernel_stack *)a)->id, ((const struct vprof_kernel_stack *)b)->id);
}

static int compare_windows(const void *a, const void *b)
{
	return compare_u64(((const struct vprof_kernel_window *)a)->begin,
			   ((const struct vprof_kernel_window *)b)->begin);
}

static int compare_modules(const void *a, const void *b)
{
	return compare_u64(((const struct vprof_kernel_module *)a)->start,
			   ((const struct vprof_kernel_module *)b)->start);
}

static int add_device(struct vprof_kernel_tables *t, const struct vp_unit *u)
{
	uint64_t payload = VP_PAYLOAD(u->w);
	uint32_t source = payload >> 8 & 15;
	struct vprof_kernel_device *d;

	if (source >= VP_SOURCE_COUNT || u->t > UINT32_MAX)
		return 0;
	d = VPROF_PUSH(&t->devices);
	if (!d)
		return -1;
	*d = (struct vprof_kernel_device){ .source = source,
					   .number = (uint32_t)u->t,
					   .flags = payload >> 12 & 255,
					   .bits_per_s = u[1].t,
					   .name = vprof_arena_copy(&t->texts, (const char *)(u + 2),
								    strnlen((const char *)(u + 2), payload & 255)) };
	return 0;
}

static int add_symbol(struct vprof_kernel_tables *t, const struct vp_unit *u)
{
	struct vprof_kernel_symbol *s = VPROF_PUSH(&t->symbols);
	size_t n = (size_t)VP_PAYLOAD(u->w);

	if (!s)
		return -1;
	*s = (struct vprof_kernel_symbol){
		u->t, u[1].t, vprof_arena_copy(&t->texts, (const char *)(u + 2), strnlen((const char *)(u + 2), n))
	};
	return 0;
}

static int add_stack(struct vprof_kernel_tables *t, const struct vp_unit *u, uint32_t process)
{
	uint32_t n = VP_PAYLOAD(u->w) & 255;
	struct vprof_kernel_stack *s;

	if (u->t > UINT32_MAX)
		return 0;
	s = VPROF_PUSH(&t->stacks);
	if (!s)
		return -1;
	*s = (struct vprof_kernel_stack){ .id = (uint32_t)u->t,
					  .process = process,
					  .n = n,
					  .cut = VP_PAYLOAD(u->w) >> 8 & VP_STACK_CUT ?
							 (uint32_t)(VP_PAYLOAD(u->w) >> 8 & 255) :
							 0,
					  .first = t->addresses.n };
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_unit *at = u + 1 + i / 2;
		uint64_t *a = VPROF_PUSH(&t->addresses);

		if (!a)
			return -1;
		*a = i % 2 ? at->w : at->t;
	}
	return 0;
}

static int add_module(struct vprof_kernel_tables *t, const struct vp_unit *u, uint32_t process)
{
	struct vprof_kernel_module *m;
	size_t n = (size_t)VP_PAYLOAD(u->w);

	if (process == VPROF_NONE)
		return 0;
	m = VPROF_PUSH(&t->processes.v[process].modules);
	if (!m)
		return -1;
	*m = (struct vprof_kernel_module){ .start = u->t,
					   .end = u[1].w,
					   .bias = u[1].t,
					   .path = vprof_arena_copy(&t->texts, (const char *)(u + 2),
								    strnlen((const char *)(u + 2), n)) };
	return 0;
}

/* Of the module before. */
static void add_build_id(struct vprof_kernel_tables *t, const struct vp_unit *u, uint32_t process)
{
	struct vprof_kernel_process *p = process == VPROF_NONE ? NULL : &t->processes.v[process];
	struct vprof_kernel_module *m = p && p->modules.n ? &p->modules.v[p->modules.n - 1] : NULL;
	uint64_t n = VP_PAYLOAD(u->w);

	if (!m || m->start != u->t || n > VP_BUILD_ID_MAX)
		return;
	m->n_build_id = (uint32_t)n;
	memcpy(m->build_id, u + 1, (size_t)n);
}

static int add_task(struct vprof_kernel_tables *t, const struct vp_unit *u, uint32_t n)
{
	struct vprof_kernel_event e, *to;

	if (!vprof_kernel_event_decode(u, n, 0, &e))
		return 0;
	to = VPROF_PUSH(&t->tasks);
	if (!to)
		return -1;
	*to = e;
	return 0;
}

static int add_window(struct vprof_kernel_tables *t, const struct vp_unit *u)
{
	struct vprof_kernel_window *w = u[1].t > u->t ? VPROF_PUSH(&t->windows) : NULL;

	if (VP_PAYLOAD(u->w) & VP_WINDOW_WAKES_LEFT && u->t < t->wakes_until)
		t->wakes_until = u->t;
	if (w)
		*w = (struct vprof_kernel_window){ u->t, u[1].t };
	return w || u[1].t <= u->t ? 0 : -1;
}

static int join_windows(struct vprof_kernel_tables *t)
{
	size_t n = 0;

	if (vprof_array_sort(t->windows.v, t->windows.n, sizeof *t->windows.v, compare_windows))
		return -1;
	for (size_t i = 0; i < t->windows.n; i++) {
		struct vprof_kernel_window w = t->windows.v[i], *last = n ? &t->windows.v[n - 1] : NULL;

		if (!last || w.begin > last->end)
			t->windows.v[n++] = w;
		else if (w.end > last->end)
			last->end = w.end;
	}
	t->windows.n = n;
	return 0;
}

static int add_record(struct vprof_kernel_tables *t, const struct vp_unit *u, uint32_t n, uint32_t process)
{
	switch (VP_CODE(u->w)) {
	case VP_KIND_KERNEL_DEVICE:
		return add_device(t, u);
	case VP_KIND_KERNEL_SYMBOL:
		return add_symbol(t, u);
	case VP_KIND_KERNEL_STACK:
		return add_stack(t, u, process);
	case VP_KIND_KERNEL_WINDOW:
		return process == VPROF_NONE ? add_window(t, u) : 0;
	case VP_KIND_MODULE:
		return add_module(t, u, process);
	case VP_KIND_BUILD_ID:
		add_build_id(t, u, process);
		return 0;
	case VP_KIND_KERNEL_TASK:
		return add_task(t, u, n);
	default:
		return 0;
	}
}

static int read_table(struct vprof_kernel_tables *t, const struct vprof_trace_thread *table)
{
	struct vprof_trace_cursor c;
	const struct vp_unit *u;
	uint32_t n, process = VPROF_NONE;
	int ret = 0;

	if (table->process_seq > 1) {
		struct vprof_kernel_process *p = VPROF_PUSH(&t->processes);

		if (!p)
			return -1;
		*p = (struct vprof_kernel_process){ .pid = table->pid, .process_seq = table->process_seq };
		process = (uint32_t)t->processes.n - 1;
	}
	vprof_trace_cursor_init(&c, table);
	while (!ret && (u = vprof_trace_next(&c, &n)))
		ret = add_record(t, u, n, process);
	vprof_trace_cursor_release(&c);
	if (!ret && process != VPROF_NONE && t->processes.v[process].modules.n)
		ret = vprof_array_sort(t->processes.v[process].modules.v, t->processes.v[process].modules.n,
				       sizeof(struct vprof_kernel_module), compare_modules);
	return ret;
}

int vprof_kernel_tables_read(struct vprof_kernel_tables *t, const struct vprof_trace *trace, struct vprof_error *err)
{
	int ret = 0;

	*t = (struct vprof_kernel_tables){ .wakes_until = UINT64_MAX };
	for (size_t i = 0; i < trace->n_kernel_tables && !ret; i++)
		ret = read_table(t, &trace->kernel_tables[i]);
	if (!ret)
		ret = vprof_array_sort(t->devices.v, t->devices.n, sizeof *t->devices.v, compare_devices) ||
		      vprof_array_sort(t->symbols.v, t->symbols.n, sizeof *t->symbols.v, compare_symbols) ||
		      vprof_array_sort(t->stacks.v, t->stacks.n, sizeof *t->stacks.v, compare_stacks) ||
		      join_windows(t);
	return ret || t->texts.failed ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_kernel_tables_release(struct vprof_kernel_tables *t)
{
	for (size_t i = 0; i < t->processes.n; i++)
		VPROF_ARRAY_RELEASE(&t->processes.v[i].modules);
	VPROF_ARRAY_RELEASE(&t->processes);
	VPROF_ARRAY_RELEASE(&t->devices);
	VPROF_ARRAY_RELEASE(&t->symbols);
	VPROF_ARRAY_RELEASE(&t->stacks);
	VPROF_ARRAY_RELEASE(&t->tasks);
	VPROF_ARRAY_RELEASE(&t->windows);
	VPROF_ARRAY_RELEASE(&t->addresses);
	vprof_arena_release(&t->texts);
}

const struct vprof_kernel_symbol *vprof_kernel_symbol_find(const struct vprof_kernel_tables *t, uint64_t address)
{
	size_t at = VPROF_BISECT(t->symbols.n, i, t->symbols.v[i].address < address);

	return at < t->symbols.n && t->symbols.v[at].address == address ? &t->symbols.v[at] : NULL;
}

const struct vprof_kernel_stack *vprof_kernel_stack_find(const struct vprof_kernel_tables *t, uint32_t id)
{
	size_t at = VPROF_BISECT(t->stacks.n, i, t->stacks.v[i].id < id);

	return at < t->stacks.n && t->stacks.v[at].id == id ? &t->stacks.v[at] : NULL;
}

const struct vprof_kernel_module *vprof_kernel_module_find(const struct vprof_kernel_process *p, uint64_t address)
{
	size_t n = VPROF_BISECT(p->modules.n, i, p->modules.v[i].start <= address);

	return n && address < p->modules.v[n - 1].end ? &p->modules.v[n - 1] : NULL;
}
