/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/history/socket_history.h"

#include "common/search.h"

void vprof_socket_history_release(struct vprof_socket_history *h)
{
	VPROF_ARRAY_RELEASE(&h->hosts);
	VPROF_ARRAY_RELEASE(&h->processes);
	VPROF_ARRAY_RELEASE(&h->threads);
	VPROF_ARRAY_RELEASE(&h->sockets);
	VPROF_ARRAY_RELEASE(&h->transfers);
	VPROF_ARRAY_RELEASE(&h->wakes);
	VPROF_ARRAY_RELEASE(&h->spans);
	VPROF_ARRAY_RELEASE(&h->items);
}

static int broken(struct vprof_error *err, const char *what, size_t i)
{
	return vprof_error_set(err, VPROF_ERR_INPUT, "the history of sockets is inconsistent: %s %zu", what, i);
}

int vprof_socket_history_check(const struct vprof_socket_history *h, struct vprof_error *err)
{
	for (size_t i = 0; i < h->processes.n; i++)
		if (h->processes.v[i].host >= h->hosts.n)
			return broken(err, "no host of process", i);
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i].process >= h->processes.n)
			return broken(err, "no process of thread", i);
	for (size_t i = 0; i < h->sockets.n; i++)
		if (h->sockets.v[i].host >= h->hosts.n)
			return broken(err, "no host of socket", i);
	for (size_t i = 0; i < h->transfers.n; i++) {
		const struct vprof_transfer *t = &h->transfers.v[i];

		if (t->socket >= h->sockets.n || t->thread >= h->threads.n)
			return broken(err, "no socket or thread of transfer", i);
		if (t->from > t->to || t->to > VPROF_REQUESTS_TIME_MAX)
			return broken(err, "the times of transfer", i);
	}
	for (size_t i = 0; i < h->wakes.n; i++)
		if (h->wakes.v[i].waker >= h->threads.n || h->wakes.v[i].wakee >= h->threads.n)
			return broken(err, "no thread of wake-up", i);
	for (size_t i = 0; i < h->spans.n; i++)
		if (h->spans.v[i].thread >= h->threads.n || h->spans.v[i].interval >= h->n_intervals ||
		    h->spans.v[i].from > h->spans.v[i].to)
			return broken(err, "the thread, interval or times of span", i);
	for (size_t i = 0; i < h->items.n; i++)
		if (h->items.v[i].from >= h->threads.n || h->items.v[i].to >= h->threads.n ||
		    h->items.v[i].put > h->items.v[i].taken)
			return broken(err, "the threads or times of item", i);
	return VPROF_OK;
}

static int order_transfers(const void *a, const void *b)
{
	return vprof_u64_order(vprof_transfer_time(a), vprof_transfer_time(b));
}

static int order_wakes(const void *a, const void *b)
{
	const struct vprof_thread_wake *x = a, *y = b;

	return vprof_u64_order(x->t, y->t);
}

static int order_spans(const void *a, const void *b)
{
	const struct vprof_work_span *x = a, *y = b;

	return x->from != y->from ? vprof_u64_order(x->from, y->from) : vprof_u64_order(x->to, y->to);
}

static int order_items(const void *a, const void *b)
{
	const struct vprof_item_handed_on *x = a, *y = b;

	return vprof_u64_order(x->taken, y->taken);
}

int vprof_socket_history_sort(struct vprof_socket_history *h)
{
	return vprof_array_sort(h->transfers.v, h->transfers.n, sizeof *h->transfers.v, order_transfers) ||
			       vprof_array_sort(h->wakes.v, h->wakes.n, sizeof *h->wakes.v, order_wakes) ||
			       vprof_array_sort(h->spans.v, h->spans.n, sizeof *h->spans.v, order_spans) ||
			       vprof_array_sort(h->items.v, h->items.n, sizeof *h->items.v, order_items) ?
		       -1 :
		       0;
}

int vprof_socket_address_is_loopback(const struct vprof_socket_address *a)
{
	static const uint8_t mapped[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 }, one[16] = { [15] = 1 };

	return !memcmp(a->bytes, mapped, sizeof mapped) || !memcmp(a->bytes, one, sizeof one);
}
