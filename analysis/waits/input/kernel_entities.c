/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See kernel_entities.h. A tid names one thread at a time; entities of threads that ended stay. */
#include "analysis/waits/input/kernel_entities.h"

#include <stdio.h>

void vprof_kernel_entities_release(struct vprof_kernel_entities *all)
{
	vprof_hash_index_release(&all->by_tid);
	vprof_hash_index_release(&all->by_source);
	VPROF_ARRAY_RELEASE(&all->threads);
	VPROF_ARRAY_RELEASE(&all->sources);
}

static uint32_t add_entity(struct vprof_kernel_entities *all, uint8_t kind, const char *name)
{
	const char *kept = vprof_strings_keep(&all->input->strings, name);
	struct vprof_waits_entity *e = kept ? VPROF_PUSH(&all->input->history.entities) : NULL;

	if (!e)
		return VPROF_NONE;
	e->kind = kind;
	e->name = kept;
	e->creator = VPROF_NONE;
	e->is_foreign = kind != VPROF_WAITS_THREAD; /* matters if somebody waits for it */
	e->born = all->begin;
	e->ended = UINT64_MAX; /* the end of the recording, when that is known */
	return (uint32_t)(all->input->history.entities.n - 1);
}

static struct vprof_kernel_thread *find(const struct vprof_kernel_entities *all, uint32_t tid, uint64_t hash,
					size_t *at)
{
	VPROF_HASH_EACH(&all->by_tid, hash, *at, i)
	{
		if (all->threads.v[i].tid == tid)
			return &all->threads.v[i];
	}
	return NULL;
}

static struct vprof_kernel_thread *renew(struct vprof_kernel_entities *all, uint32_t tid, const char *name)
{
	uint64_t hash = vprof_mix(tid);
	struct vprof_kernel_thread *thread;
	uint32_t entity;
	size_t at;

	if (vprof_hash_index_room(&all->by_tid, 1))
		return NULL;
	thread = find(all, tid, hash, &at);
	entity = add_entity(all, VPROF_WAITS_THREAD, name);
	if (entity == VPROF_NONE)
		return NULL;
	if (!thread) {
		thread = VPROF_PUSH(&all->threads);
		if (!thread)
			return NULL;
		vprof_hash_index_put(&all->by_tid, at, hash, (uint32_t)(all->threads.n - 1));
	}
	*thread = (struct vprof_kernel_thread){
		.tid = tid, .entity = entity, .since = all->begin, .is_followed = !all->is_tree
	};
	all->input->history.entities.v[entity].tid = tid;
	all->input->history.entities.v[entity].is_foreign = (uint8_t)all->is_tree; /* until it is known to be not */
	return thread;
}

struct vprof_kernel_thread *vprof_kernel_entities_thread(struct vprof_kernel_entities *all, uint32_t tid)
{
	uint32_t *recent = &all->recent[tid % VPROF_KERNEL_ENTITIES_RECENT];
	struct vprof_kernel_thread *thread;
	char name[32];
	size_t at;

	if (*recent && all->threads.v[*recent - 1].tid == tid)
		return &all->threads.v[*recent - 1];
	thread = find(all, tid, vprof_mix(tid), &at);
	if (!thread) {
		snprintf(name, sizeof name, "thread %u", tid);
		thread = renew(all, tid, name);
	}
	if (thread)
		*recent = (uint32_t)(thread - all->threads.v) + 1;
	return thread;
}

struct vprof_kernel_thread *vprof_kernel_entities_make(struct vprof_kernel_entities *all, uint32_t tid, uint32_t pid,
						       const char *name, uint32_t creator, uint64_t t)
{
	struct vprof_kernel_thread *thread = renew(all, tid, name);
	struct vprof_waits_entity *e;

	if (!thread)
		return NULL;
	e = &all->input->history.entities.v[thread->entity];
	thread->pid = e->pid = pid;
	e->creator = creator;
	e->is_foreign = 0;
	e->born = t;
	thread->since = t;
	thread->is_followed = 1;
	return thread;
}

static uint64_t source_hash(uint32_t kind, uint32_t id)
{
	return vprof_mix((uint64_t)kind << 32 | id);
}

static uint32_t find_source(const struct vprof_kernel_entities *all, uint32_t kind, uint32_t id, size_t *at)
{
	VPROF_HASH_EACH(&all->by_source, source_hash(kind, id), *at, i)
	{
		if (all->sources.v[i].kind == kind && all->sources.v[i].id == id)
			return all->sources.v[i].entity;
	}
	return VPROF_NONE;
}

static uint32_t source_entity(struct vprof_kernel_entities *all, uint32_t kind, uint32_t id, uint8_t entity_kind,
			      const char *name)
{
	struct vprof_kernel_source *added;
	uint32_t entity;
	size_t at;

	if (vprof_hash_index_room(&all->by_source, 1))
		return VPROF_NONE;
	entity = find_source(all, kind, id, &at);
	if (entity != VPROF_NONE)
		return entity;
	entity = add_entity(all, entity_kind, name);
	added = entity == VPROF_NONE ? NULL : VPROF_PUSH(&all->sources);
	if (!added)
		return VPROF_NONE;
	*added = (struct vprof_kernel_source){ kind, id, entity };
	vprof_hash_index_put(&all->by_source, at, source_hash(kind, id), (uint32_t)(all->sources.n - 1));
	return entity;
}

uint32_t vprof_kernel_entities_device(struct vprof_kernel_entities *all, enum vp_source source, uint32_t id)
{
	size_t at;
	uint32_t entity = find_source(all, source, id, &at);
	char name[64];

	if (entity != VPROF_NONE)
		return entity;
	snprintf(name, sizeof name, source == VP_SOURCE_BLOCK ? "disk %u:%u" : "network interface %u",
		 source == VP_SOURCE_BLOCK ? id >> 20 : id, id & 0xfffff);
	entity = source_entity(all, source, id, source == VP_SOURCE_BLOCK ? VPROF_WAITS_DISK : VPROF_WAITS_NETWORK,
			       name);
	if (entity != VPROF_NONE && source == VP_SOURCE_NET && all->input->history.entities.v[entity].bytes_per_s == 0)
		all->input->history.entities.v[entity].bytes_per_s = all->bytes_per_s;
	return entity;
}

/* Of an interrupt whose source the recorder could not tell: by its kind. */
static uint32_t unknown_source(struct vprof_kernel_entities *all, enum vp_context context)
{
	switch (context) {
	case VP_CONTEXT_TIMER:
	case VP_CONTEXT_HRTIMER:
		return source_entity(all, VP_SOURCE_TIMER, 0, VPROF_WAITS_TIMER, "timer");
	case VP_CONTEXT_BLOCK:
		return source_entity(all, VP_SOURCE_COUNT + context, 0, VPROF_WAITS_DISK, "disk (which is not known)");
	case VP_CONTEXT_NET_TX:
	case VP_CONTEXT_NET_RX:
		return source_entity(all, VP_SOURCE_COUNT + context, 0, VPROF_WAITS_NETWORK, "network");
	default:
		return source_entity(all, VP_SOURCE_COUNT, 0, VPROF_WAITS_INTERRUPT, "interrupts of unknown source");
	}
}

static uint32_t running_thread(struct vprof_kernel_entities *all, const struct vprof_kernel_event *e)
{
	const struct vprof_kernel_thread *thread;

	if (!e->waking.current_tid)
		return unknown_source(all, VP_CONTEXT_HARDIRQ);
	thread = vprof_kernel_entities_thread(all, e->waking.current_tid);
	return thread ? thread->entity : VPROF_NONE;
}

static int is_loopback(const struct vprof_kernel_entities *all, uint32_t entity)
{
	return entity != VPROF_NONE && all->input->history.entities.v[entity].bytes_per_s < 0;
}

uint32_t vprof_kernel_entities_waker(struct vprof_kernel_entities *all, const struct vprof_kernel_event *e)
{
	char name[32];
	uint32_t entity;

	if (e->waking.context == VP_CONTEXT_TASK)
		return running_thread(all, e);
	switch (e->waking.source) {
	case VP_SOURCE_TIMER:
		return unknown_source(all, VP_CONTEXT_TIMER);
	case VP_SOURCE_BLOCK:
		return vprof_kernel_entities_device(all, VP_SOURCE_BLOCK, e->waking.source_id);
	case VP_SOURCE_NET:
		entity = vprof_kernel_entities_device(all, VP_SOURCE_NET, e->waking.source_id);
		return is_loopback(all, entity) ? running_thread(all, e) : entity;
	case VP_SOURCE_IRQ:
		snprintf(name, sizeof name, "interrupt %u", e->waking.source_id);
		return source_entity(all, VP_SOURCE_IRQ, e->waking.source_id, VPROF_WAITS_INTERRUPT, name);
	default:
		return unknown_source(all, e->waking.context);
	}
}

/* "disk vda", "network eth0". The speed of a loopback interface is stored as -1: it is no device. */
static int read_device(struct vprof_kernel_entities *all, const struct vp_unit *u)
{
	uint64_t payload = VP_PAYLOAD(u->w);
	enum vp_source source = (enum vp_source)(payload >> 8 & 15);
	size_t n = payload & 0xff;
	struct vprof_waits_entity *e;
	char name[300];
	uint32_t entity;

	if ((source != VP_SOURCE_BLOCK && source != VP_SOURCE_NET) || u->t > UINT32_MAX)
		return VPROF_OK;
	entity = vprof_kernel_entities_device(all, source, (uint32_t)u->t);
	if (entity == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	e = &all->input->history.entities.v[entity];
	snprintf(name, sizeof name, "%s %.*s", source == VP_SOURCE_BLOCK ? "disk" : "network", (int)n,
		 (const char *)(u + 2));
	e->name = vprof_strings_keep(&all->input->strings, name);
	if (u[1].t)
		e->bytes_per_s = (double)u[1].t / 8;
	if (payload >> 12 & VP_DEVICE_LOOPBACK)
		e->bytes_per_s = -1;
	return e->name ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Those of the session; and the recorder itself, which has a name, but of whose switches only some are told. */
static int read_task(struct vprof_kernel_entities *all, const struct vprof_kernel_event *e)
{
	int is_told = !all->is_tree || (e->task.flags & VP_TASK_SESSION);
	struct vprof_kernel_thread *thread =
		vprof_kernel_entities_make(all, e->task.tid, e->task.pid, e->task.comm, VPROF_NONE, all->begin);

	if (!thread)
		return VPROF_ERR_NOMEM;
	all->input->history.entities.v[thread->entity].is_foreign = (uint8_t)!is_told;
	thread->is_followed = (uint8_t)is_told;
	return VPROF_OK;
}

int vprof_kernel_entities_read_tables(struct vprof_kernel_entities *all, const struct vprof_trace *trace)
{
	int ret = VPROF_OK;

	for (size_t i = 0; i < trace->n_kernel_tables && !ret; i++) {
		struct vprof_trace_cursor cursor;
		const struct vp_unit *u;
		uint32_t n;

		vprof_trace_cursor_init(&cursor, &trace->kernel_tables[i]);
		while (!ret && (u = vprof_trace_next(&cursor, &n))) {
			struct vprof_kernel_event e;

			if (VP_CODE(u->w) == VP_KIND_KERNEL_DEVICE) {
				ret = read_device(all, u);
			} else if (VP_CODE(u->w) == VP_KIND_KERNEL_TASK && vprof_kernel_event_decode(u, n, 0, &e)) {
				ret = read_task(all, &e);
			}
		}
		vprof_trace_cursor_release(&cursor);
	}
	return ret;
}
