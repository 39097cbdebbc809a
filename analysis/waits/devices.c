/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests sorted by device and issue; then one pass for the idle time, and one over the same, by thread, for shares.
 */
#include "analysis/waits/devices.h"

#include "common/search.h"

static int by_device(const void *a, const void *b)
{
	const struct vprof_waits_request *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return vprof_u64_order(x->issue, y->issue);
}

static int by_thread(const void *a, const void *b)
{
	const struct vprof_waits_request *x = a, *y = b;

	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static uint64_t idle_ns(const struct vprof_waits_history *h, const struct vprof_waits_request *r, size_t n)
{
	double bytes_per_s = h->entities.v[r->device].bytes_per_s;
	int is_disk = h->entities.v[r->device].kind == VPROF_WAITS_DISK;
	uint64_t free_at = h->begin, idle = 0;

	if (!is_disk && !(bytes_per_s > 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t from = r[i].issue > free_at ? r[i].issue : free_at, to = r[i].complete;

		if (!is_disk) {
			double took = (double)r[i].n_bytes / bytes_per_s * 1e9;

			to = took < (double)(h->end - from) ? from + (uint64_t)took : h->end;
		}
		idle += from - free_at;
		free_at = to > from ? to : from;
	}
	return idle + (h->end - free_at);
}

static uint64_t bytes_of(const struct vprof_waits_request *r)
{
	return r->n_bytes > VPROF_WAITS_SECTOR ? r->n_bytes : VPROF_WAITS_SECTOR;
}

static int share(vprof_waits_idles *out, struct vprof_waits_request *r, size_t n, uint64_t idle,
		 const unsigned char *is_kept)
{
	unsigned __int128 sum = 0;
	size_t n_kept = 0, end;

	for (size_t i = 0; i < n; i++)
		if (r[i].thread != VPROF_NONE && is_kept[r[i].thread])
			r[n_kept++] = r[i];
	n = n_kept;
	if (n && vprof_array_sort(r, n, sizeof *r, by_thread))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		sum += bytes_of(&r[i]);
	for (size_t i = 0; i < n; i = end) {
		struct vprof_waits_idle *to = VPROF_PUSH(out);
		unsigned __int128 own = 0;

		if (!to)
			return VPROF_ERR_NOMEM;
		for (end = i; end < n && r[end].thread == r[i].thread; end++)
			own += bytes_of(&r[end]);
		*to = (struct vprof_waits_idle){ r[i].device, r[i].thread, (uint64_t)(idle * own / sum), end - i };
	}
	return VPROF_OK;
}

static int add_all(vprof_waits_idles *out, uint32_t device, uint64_t idle)
{
	struct vprof_waits_idle *all = VPROF_PUSH(out);

	if (!all)
		return VPROF_ERR_NOMEM;
	*all = (struct vprof_waits_idle){ device, VPROF_NONE, idle, 0 };
	return VPROF_OK;
}

int vprof_waits_idle(vprof_waits_idles *out, const struct vprof_waits_history *h, const unsigned char *is_kept)
{
	VPROF_ARRAY(struct vprof_waits_request) r = { NULL, 0, 0 };
	int ret = VPROF_OK;
	size_t end;

	if (!h->requests.n)
		return VPROF_OK;
	if (VPROF_RESERVE(&r, h->requests.n))
		return VPROF_ERR_NOMEM;
	memcpy(r.v, h->requests.v, h->requests.n * sizeof *r.v);
	r.n = h->requests.n;
	if (vprof_array_sort(r.v, r.n, sizeof *r.v, by_device))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r.n && !ret; i = end) {
		uint64_t idle;

		for (end = i + 1; end < r.n && r.v[end].device == r.v[i].device; end++)
			;
		idle = idle_ns(h, r.v + i, end - i);
		if (idle && !ret)
			ret = add_all(out, r.v[i].device, idle);
		if (idle && !ret)
			ret = share(out, r.v + i, end - i, idle, is_kept);
	}
	VPROF_ARRAY_RELEASE(&r);
	return ret;
}
