/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/collector/definitions.h"

#include "common/array.h"
#include "common/error.h"
#include "common/search.h"
#include "trace/walk.h"

struct owner {
	struct vp_chunk_header header; /* of the thread's last chunk */
	struct vp_unit start[2];
	int has_start;
	VPROF_ARRAY(struct vp_unit) units;
};

struct vprof_definitions {
	VPROF_ARRAY(struct owner *) owners; /* by thread_seq, process_seq */
	size_t n_left;			    /* when those of dead processes were forgotten last */
};

/* A process under a pid; after an exec it has another process_seq. */
struct holder {
	uint64_t pid_namespace;
	uint32_t pid, process_seq;
};

static void release(struct owner *o)
{
	VPROF_ARRAY_RELEASE(&o->units);
	free(o);
}

struct vprof_definitions *vprof_definitions_new(void)
{
	return calloc(1, sizeof(struct vprof_definitions));
}

void vprof_definitions_free(struct vprof_definitions *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->owners.n; i++)
		release(d->owners.v[i]);
	VPROF_ARRAY_RELEASE(&d->owners);
	free(d);
}

static int is_before(const struct owner *o, const struct vp_chunk_header *h)
{
	return o->header.thread_seq != h->thread_seq ? o->header.thread_seq < h->thread_seq :
						       o->header.process_seq < h->process_seq;
}

/* Where the chunk's owner is, or belongs. */
static size_t place_of(const struct vprof_definitions *d, const struct vp_chunk_header *h)
{
	size_t low = 0, high = d->owners.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(d->owners.v[middle], h))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct owner *owner_of(struct vprof_definitions *d, const struct vp_chunk_header *h)
{
	size_t i = place_of(d, h);
	struct owner *o = i < d->owners.n ? d->owners.v[i] : NULL;

	if (o && o->header.thread_seq == h->thread_seq && o->header.process_seq == h->process_seq)
		return o;
	o = calloc(1, sizeof *o);
	if (!o || !VPROF_PUSH(&d->owners)) {
		free(o);
		return NULL;
	}
	memmove(d->owners.v + i + 1, d->owners.v + i, (d->owners.n - 1 - i) * sizeof *d->owners.v);
	d->owners.v[i] = o;
	return o;
}

static int keep(struct owner *o, const struct vp_unit *u, uint32_t n)
{
	if (VPROF_ROOM(&o->units, o->units.n + n))
		return VPROF_ERR_NOMEM;
	memcpy(o->units.v + o->units.n, u, n * sizeof *u);
	o->units.n += n;
	return VPROF_OK;
}

/* A thread that ended and named nothing leaves nothing. */
static void forget(struct vprof_definitions *d, struct owner *o)
{
	size_t i = place_of(d, &o->header);

	o->has_start = 0;
	if (o->units.n)
		return;
	memmove(d->owners.v + i, d->owners.v + i + 1, (d->owners.n - 1 - i) * sizeof *d->owners.v);
	d->owners.n--;
	release(o);
}

int vprof_definitions_add(struct vprof_definitions *d, const struct vp_chunk_header *h, const struct vp_unit *units)
{
	const struct vp_unit *at = units, *end = units + h->n_bytes / VP_UNIT_BYTES, *u;
	struct owner *o = owner_of(d, h);
	uint32_t n;
	int rc = o ? VPROF_OK : VPROF_ERR_NOMEM, is_over = 0;

	if (o)
		o->header = *h;
	while (!rc && (u = vp_walk_next(&at, end, &n))) {
		switch (VP_CODE(u->w)) {
		case VP_KIND_STRING:
		case VP_KIND_MODULE:
		case VP_KIND_BUILD_ID:
			rc = keep(o, u, n);
			break;
		case VP_KIND_START:
			memcpy(o->start, u, sizeof o->start);
			o->has_start = 1;
			break;
		case VP_KIND_EXIT:
			is_over = 1;
			break;
		default:
			break;
		}
	}
	if (!rc && is_over)
		forget(d, o);
	return rc;
}

int vprof_definitions_is_due(const struct vprof_definitions *d)
{
	return d->owners.n > 2 * d->n_left + VPROF_DEFINITIONS_SLACK;
}

static int pid_order(const struct holder *x, const struct holder *y)
{
	if (x->pid_namespace != y->pid_namespace)
		return x->pid_namespace < y->pid_namespace ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int holder_order(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;
	int order = pid_order(x, y);

	return order ? order : x->process_seq < y->process_seq ? -1 : x->process_seq > y->process_seq;
}

static struct holder holder_of(const struct owner *o)
{
	return (struct holder){ o->header.pid_namespace, o->header.pid, o->header.process_seq };
}

/* Has a later process the owner's pid? `all` by holder_order. In unknown namespaces that says nothing. */
static int is_superseded(const struct holder *all, size_t n, const struct owner *o)
{
	const struct holder own = holder_of(o);
	size_t next = VPROF_BISECT(n, i, holder_order(&all[i], &own) <= 0);

	return own.pid_namespace && next < n && !pid_order(&all[next], &own);
}

int vprof_definitions_forget(struct vprof_definitions *d, const struct vprof_definitions_judge *judge)
{
	size_t n = d->owners.n, n_left = 0;
	struct holder *all = calloc(n + 1, sizeof *all);

	if (!all)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		all[i] = holder_of(d->owners.v[i]);
	qsort(all, n, sizeof *all, holder_order);
	for (size_t i = 0; i < n; i++) {
		struct owner *o = d->owners.v[i];

		if ((is_superseded(all, n, o) || judge->is_dead(judge->arg, &o->header)) &&
		    !judge->is_under_way(judge->arg, &o->header))
			release(o);
		else
			d->owners.v[n_left++] = o;
	}
	d->owners.n = d->n_left = n_left;
	free(all);
	return VPROF_OK;
}

/* As many whole records from `from` on as a chunk holds. */
static size_t chunk_units(const struct owner *o, size_t from)
{
	const struct vp_unit *first = o->units.v + from, *at = first, *end = o->units.v + o->units.n;
	size_t n_all = 0;
	uint32_t n;

	while (at < end && vp_walk_next(&at, end, &n) && (size_t)(at - first) * VP_UNIT_BYTES <= VP_UNITS_MAX_BYTES)
		n_all = (size_t)(at - first);
	return n_all;
}

int vprof_definitions_store(const struct vprof_definitions *d,
			    int (*store)(void *arg, const struct vp_chunk_header *h, const struct vp_unit *units),
			    void *arg)
{
	int rc = 0;

	for (size_t i = 0; i < d->owners.n && !rc; i++) {
		const struct owner *o = d->owners.v[i];
		struct vp_chunk_header h = o->header;
		size_t n;

		h.n_bytes = sizeof o->start;
		if (o->has_start)
			rc = store(arg, &h, o->start);
		for (size_t from = 0; !rc && (n = chunk_units(o, from)); from += n) {
			h.n_bytes = (uint32_t)(n * VP_UNIT_BYTES);
			rc = store(arg, &h, o->units.v + from);
		}
	}
	return rc;
}
