/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/join/join_units.h"

#include <math.h>

#include "common/array.h"
#include "common/search.h"

#define FARTHEST 4e18 /* ticks; what is damaged may say more */
#define LATEST (UINT64_C(1) << 62)
#define ITEM_BITS (~(UINT64_C(1) << 63)) /* the analysis marks numbers of its own by the last one */

uint64_t vprof_join_time(const struct vprof_join_host *host, uint64_t t)
{
	if (t > LATEST)
		return t; /* no time; the analysis counts it as damaged */
	double distance = host->rate * (double)(int64_t)(t - host->from);

	return host->to + (uint64_t)llround(fmin(fmax(distance, -FARTHEST), FARTHEST));
}

/* Ends stay in the order in which they were, too. */
static uint64_t duration(const struct vprof_join_host *host, uint64_t begin, uint64_t ticks)
{
	return ticks < VP_PAYLOAD_MAX ? vprof_join_time(host, begin + ticks) - vprof_join_time(host, begin) : ticks;
}

static uint64_t backwards(const struct vprof_join_host *host, uint64_t end, uint64_t ticks)
{
	return ticks < VP_PAYLOAD_MAX ? vprof_join_time(host, end) - vprof_join_time(host, end - ticks) : ticks;
}

static uint64_t with_payload(uint64_t w, uint64_t payload)
{
	return VP_W(VP_CODE(w), payload < VP_PAYLOAD_MAX ? payload : VP_PAYLOAD_MAX);
}

static uint64_t salted(const struct vprof_join_host *host, uint64_t number)
{
	return vprof_mix(number ^ vprof_mix(host->number));
}

static int is_between(const struct vprof_join_host *host, uint64_t key)
{
	size_t i = VPROF_BISECT(host->n_between, at, host->between[at] < key);

	return i < host->n_between && host->between[i] == key;
}

/* A channel's three low bits tell its unit. */
static uint64_t channel(const struct vprof_join_host *host, uint64_t key)
{
	if (!host->number || (VP_CHANNEL_IS_BETWEEN_HOSTS(key) && is_between(host, key)))
		return key;
	return (salted(host, key) & ~UINT64_C(7)) | (key & 7);
}

static uint64_t own(const struct vprof_join_host *host, uint64_t number)
{
	return host->number && number ? salted(host, number) & ITEM_BITS : number;
}

static uint64_t object(const struct vprof_join_host *host, uint64_t w, uint64_t number)
{
	uint64_t flags = VP_PAYLOAD(w) >> 8;

	if (flags & VP_FLAG_CHANNEL)
		return channel(host, number);
	if (!(flags & VP_FLAG_SHARED))
		return number; /* an address in its process */
	if ((VP_PAYLOAD(w) & 0xff) == VP_WAIT_CHILD)
		return own(host, number);
	/* processes know it by its offset in a page */
	return (number & ~VP_OBJECT_HOST) | host->number << VP_OBJECT_HOST_SHIFT;
}

static uint64_t token(const struct vprof_join_host *host, uint64_t number)
{
	return number ? number + ((uint64_t)host->processes << 32) : 0;
}

void vprof_join_record(const struct vprof_join_host *host, struct vp_unit *u)
{
	uint64_t t = u->t;

	if (VP_CODE(u->w) == VP_KIND_STRING || VP_CODE(u->w) == VP_KIND_MODULE || VP_CODE(u->w) == VP_KIND_BUILD_ID)
		return; /* t is none */
	u->t = vprof_join_time(host, t);
	if (VP_CODE(u->w) >= VP_CODE_FUNCTION) {
		u->w = with_payload(u->w, duration(host, t, VP_PAYLOAD(u->w)));
		return;
	}
	switch (VP_CODE(u->w)) {
	case VP_KIND_WAIT:
		u[1].t = object(host, u->w, u[1].t);
		u[2].t = vprof_join_time(host, u[2].t);
		break;
	case VP_KIND_WAKE:
		u[1].t = object(host, u->w, u[1].t);
		break;
	case VP_KIND_ENQUEUE:
	case VP_KIND_DEQUEUE:
		u[1].t = own(host, u[1].t);
		break;
	case VP_KIND_CREATE:
		u[1].t = token(host, u[1].t);
		break;
	case VP_KIND_START:
		u[1].t = token(host, u[1].t);
		u[1].w += host->pids;
		break;
	case VP_KIND_SAMPLE:
		u[1].t = duration(host, t, u[1].t);
		break;
	case VP_KIND_SEND:
		u->w = with_payload(u->w, duration(host, t, VP_PAYLOAD(u->w)));
		u[1].t = channel(host, u[1].t);
		break;
	case VP_KIND_RECEIVE:
		u->w = with_payload(u->w, backwards(host, t, VP_PAYLOAD(u->w)));
		u[1].t = channel(host, u[1].t);
		break;
	case VP_KIND_READY:
		u[1].t = channel(host, u[1].t);
		break;
	case VP_KIND_SWITCH:
		u->w += (uint64_t)host->pids << VP_CODE_BITS;
		break;
	default:
		break;
	}
}

void vprof_join_header(const struct vprof_join_host *host, struct vp_chunk_header *h)
{
	if (h->thread_seq == VP_THREAD_PROCESSOR) {
		h->tid += host->processors;
		h->process_seq += host->processors;
		return;
	}
	h->pid += host->pids;
	h->tid += host->pids;
	h->thread_seq += host->threads;
	h->process_seq += host->processes;
	h->parent_seq += h->parent_seq ? host->processes : 0;
}
