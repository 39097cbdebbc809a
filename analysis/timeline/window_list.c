/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged or lost records never make a window longer: one that is opened twice begins at the later time. */
#include "analysis/timeline/window_list.h"

#include "common/search.h"

static int add(struct vprof_window_list *list, uint64_t t0, uint64_t t1)
{
	struct vprof_window *w;

	if (t0 >= t1 || (list->windows.n && list->windows.v[list->windows.n - 1].t1 > t0))
		return 0;
	w = VPROF_PUSH(&list->windows);
	if (!w)
		return VPROF_ERR_NOMEM;
	*w = (struct vprof_window){ t0, t1 };
	return 0;
}

int vprof_window_list_read(struct vprof_window_list *list, const struct vprof_trace *trace)
{
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	uint64_t open = 0;
	int is_open = 0;
	uint32_t n;

	*list = (struct vprof_window_list){ { NULL, 0, 0 } };
	if (!trace->windows)
		return add(list, 0, UINT64_MAX);
	vprof_trace_cursor_init(&cursor, trace->windows);
	while ((u = vprof_trace_next(&cursor, &n))) {
		if (VP_CODE(u->w) != VP_KIND_WINDOW)
			continue;
		if (is_open && !VP_PAYLOAD(u->w) && add(list, open, u->t)) {
			vprof_trace_cursor_release(&cursor);
			return VPROF_ERR_NOMEM;
		}
		is_open = VP_PAYLOAD(u->w) != 0;
		open = u->t;
	}
	return is_open ? add(list, open, UINT64_MAX) : 0;
}

void vprof_window_list_release(struct vprof_window_list *list)
{
	VPROF_ARRAY_RELEASE(&list->windows);
}

int vprof_window_list_contains(const struct vprof_window_list *list, uint64_t t)
{
	size_t low = VPROF_BISECT(list->windows.n, i, list->windows.v[i].t1 <= t);

	return low < list->windows.n && list->windows.v[low].t0 <= t;
}
