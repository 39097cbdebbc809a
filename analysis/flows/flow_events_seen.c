/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/flows/flow_events_seen.h"

struct registration {
	uint32_t process;
	int fd;
	uint64_t key, value;
};

struct registrations {
	VPROF_ARRAY(struct registration) list;
	struct vprof_hash_index index;
};

/* The access of an event's section; NULL: the recording is damaged. */
static const struct vprof_flow_record *access_of(const struct vprof_flow_record *head, unsigned kind)
{
	for (uint32_t i = 1; i <= head->count; i++)
		if (head[i].kind == kind)
			return &head[i];
	return NULL;
}

/* The last registration of this pointer with this instance, made if there is none; NULL without memory. */
static struct registration *registration_of(struct registrations *r, uint32_t process, uint64_t key, uint64_t value)
{
	uint64_t hash = vprof_mix(value) ^ vprof_mix(key ^ process);
	struct registration *one;
	size_t at;

	if (vprof_hash_index_room(&r->index, 1))
		return NULL;
	VPROF_HASH_EACH(&r->index, hash, at, i)
	{
		one = &r->list.v[i];
		if (one->process == process && one->key == key && one->value == value)
			return one;
	}
	one = VPROF_PUSH(&r->list);
	if (!one)
		return NULL;
	*one = (struct registration){ process, -1, key, value };
	vprof_hash_index_put(&r->index, at, hash, (uint32_t)r->list.n - 1);
	return one;
}

static int read_event(struct vprof_flow_events *e, struct registrations *registrations,
		      const struct vprof_flow_section *section)
{
	int is_registration = section->head->flags & VPROF_FLOW_PUBLISH;
	const struct vprof_flow_record *access =
		access_of(section->head, is_registration ? VPROF_FLOW_WRITE : VPROF_FLOW_READ);
	struct registration *registration =
		access ? registration_of(registrations, section->process, section->head->a, access->b) : NULL;
	struct vprof_flow_event_seen *event;

	if (!access || !registration)
		return access ? -1 : 0;
	if (is_registration) {
		registration->fd = (int)access->count;
		return 0;
	}
	event = VPROF_PUSH(&e->list);
	if (!event)
		return -1;
	*event = (struct vprof_flow_event_seen){ .section = section->number,
						 .value = access->b,
						 .process = section->process,
						 .fd = registration->fd,
						 .head = section->head };
	return 0;
}

struct vprof_flow_event_seen *vprof_flow_event_find(const struct vprof_flow_events *e, uint64_t section)
{
	size_t low = 0, high = e->list.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e->list.v[middle].section < section)
			low = middle + 1;
		else
			high = middle;
	}
	return low < e->list.n && e->list.v[low].section == section ? &e->list.v[low] : NULL;
}

/* ---- paths ---- */

static const struct vprof_flow_record *frame_of(const struct vprof_flow_record *head, uint64_t frame)
{
	for (uint32_t i = 1; i <= head->count; i++)
		if (head[i].kind == VPROF_FLOW_FRAME && !head[i].flags && head[i].a == frame)
			return &head[i];
	return NULL;
}

static void make_path(const struct vprof_flow_events *e, uint32_t process, const struct vprof_flow_record *transfer,
		      uint32_t loop, const struct vprof_flow_record *waits, struct vprof_flow_path *path)
{
	struct vprof_flow_function waiting[VPROF_FLOW_DEPTH], here[VPROF_FLOW_DEPTH];
	size_t n_waiting = vprof_flow_place_functions(e->places, process, waits->b, waiting, VPROF_FLOW_DEPTH),
	       from = 0;

	for (uint32_t i = loop; i > 0; i--) {
		size_t n = vprof_flow_place_functions(e->places, process, transfer[i].b, here, VPROF_FLOW_DEPTH);

		for (from = 0;
		     i == loop && from < n && from < n_waiting && !strcmp(here[from].name, waiting[from].name);)
			from++;
		for (; from < n && path->n < VPROF_FLOW_DEPTH; from++)
			path->functions[path->n++] = here[from];
	}
}

/* From the outermost function of this name on. What a library itself receives or sends is its handler's. No path: the
 * event is another handler's. */
static void make_handled_path(const struct vprof_flow_events *e, uint32_t process,
			      const struct vprof_flow_record *transfer, const char *handler,
			      struct vprof_flow_path *path)
{
	struct vprof_flow_function here[VPROF_FLOW_DEPTH];

	for (uint32_t i = transfer->count; i > 0; i--) {
		size_t n = vprof_flow_place_functions(e->places, process, transfer[i].b, here, VPROF_FLOW_DEPTH);

		for (size_t k = 0; k < n && path->n < VPROF_FLOW_DEPTH; k++)
			if (path->n || !strcmp(here[k].name, handler))
				path->functions[path->n++] = here[k];
	}
	if (!path->n && !(transfer->count && vprof_flow_module_find(e->t, process, transfer[1].b)))
		path->functions[path->n++] = (struct vprof_flow_function){ handler, NULL, 0 };
}

const struct vprof_flow_path *vprof_flow_path_of(struct vprof_flow_events *e, const struct vprof_flow_event_seen *event,
						 const struct vprof_flow_mark *transfer)
{
	const struct vprof_flow_record *r = transfer->record, *waits = NULL;
	uint64_t key = transfer->process;
	struct vprof_flow_path **slot;
	uint32_t loop = 0;
	size_t at;

	while (!waits && loop < r->count) {
		waits = r[++loop].kind == VPROF_FLOW_FRAME && !event->library ? frame_of(event->head, r[loop].a) : NULL;
		key = vprof_mix(key ^ r[loop].b);
	}
	if (!waits && !(event->library && event->handler))
		return NULL;
	key = vprof_mix(key ^ (waits ? waits->b : (uint64_t)(uintptr_t)event->handler));
	if (vprof_hash_index_room(&e->path_index, 1))
		goto failed;
	VPROF_HASH_EACH(&e->path_index, key, at, i)
	{
		if (e->paths.v[i]->key == key)
			return e->paths.v[i]->n || waits ? e->paths.v[i] : NULL;
	}
	slot = VPROF_PUSH(&e->paths);
	if (!slot)
		goto failed;
	*slot = calloc(1, sizeof **slot);
	if (!*slot) {
		e->paths.n--;
		goto failed;
	}
	(*slot)->key = key;
	if (waits)
		make_path(e, transfer->process, r, loop, waits, *slot);
	else
		make_handled_path(e, transfer->process, r, event->handler, *slot);
	vprof_hash_index_put(&e->path_index, at, key, (uint32_t)e->paths.n - 1);
	return (*slot)->n || waits ? *slot : NULL;
failed:
	e->failed = 1;
	return NULL;
}

/* ---- reading ---- */

static void read_links(struct vprof_flow_events *e)
{
	for (size_t i = 0; i < e->t->links.n; i++) {
		const struct vprof_flow_record *r = e->t->links.v[i].record;
		struct vprof_flow_event_seen *event = vprof_flow_event_find(e, r->a);
		const char *function;

		if (!event || r->b / 8 >= VPROF_FLOW_EVENT_LINKS)
			continue;
		function = vprof_flow_place_entry(e->places, event->process, r->c);
		if (r->flags) {
			event->library = r->flags;
			event->handler = function;
		} else if (!function)
			event->links[r->b / 8] = r->c;
		else if (!event->handler && !event->library)
			event->handler = function;
	}
}

int vprof_flow_events_read(struct vprof_flow_events *e, const struct vprof_flow_trace *t,
			   const struct vprof_flow_places *places)
{
	struct registrations registrations = { 0 };

	memset(e, 0, sizeof *e);
	e->t = t;
	e->places = places;
	for (size_t i = 0; i < t->sections.n && !e->failed; i++)
		if (t->sections.v[i].head->flags & VPROF_FLOW_EVENT)
			e->failed = read_event(e, &registrations, &t->sections.v[i]) != 0;
	if (!e->failed)
		read_links(e);
	for (size_t i = 0; i < t->transfers.n && !e->failed; i++) {
		struct vprof_flow_event_seen *event = vprof_flow_event_find(e, t->transfers.v[i].record->b);

		if (event && !event->path && !(t->transfers.v[i].record->flags & VPROF_FLOW_CLOSED))
			event->path = vprof_flow_path_of(e, event, &t->transfers.v[i]);
	}
	VPROF_ARRAY_RELEASE(&registrations.list);
	vprof_hash_index_release(&registrations.index);
	return e->failed ? -1 : 0;
}

void vprof_flow_events_release(struct vprof_flow_events *e)
{
	for (size_t i = 0; i < e->paths.n; i++)
		free(e->paths.v[i]);
	VPROF_ARRAY_RELEASE(&e->list);
	VPROF_ARRAY_RELEASE(&e->paths);
	vprof_hash_index_release(&e->path_index);
}
