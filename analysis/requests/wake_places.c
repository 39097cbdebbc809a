/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/wake_places.h"

#include "analysis/requests/agreement.h"
#include "common/hash/hash_index.h"

#define TESTS_ENOUGH 8
#define QUEUE_RATE 0.5 /* of tests that are right, from here on */
#define BEFORE_RIGHT 0.5
#define BEFORE_SEEN 1.0

/* The place's number; VPROF_NONE without memory. */
static uint32_t find(struct vprof_wake_places *p, struct vprof_hash_index *index, uint32_t process, uint32_t place)
{
	uint64_t hash = vprof_mix((uint64_t)process << 32 | place);
	struct vprof_wake_place *added;
	size_t at;

	if (vprof_hash_index_room(index, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(index, hash, at, i)
	{
		if (p->v.v[i].process == process && p->v.v[i].place == place)
			return i;
	}
	added = VPROF_PUSH(&p->v);
	if (!added)
		return VPROF_NONE;
	*added = (struct vprof_wake_place){ .process = process, .place = place, .kind = VPROF_PLACE_UNTESTED };
	vprof_hash_index_put(index, at, hash, (uint32_t)(p->v.n - 1));
	return (uint32_t)(p->v.n - 1);
}

int vprof_wake_places_init(struct vprof_wake_places *p, const struct vprof_socket_history *h)
{
	struct vprof_hash_index index = { 0 };
	int ret = VPROF_OK;

	memset(p, 0, sizeof *p);
	p->of_wake = malloc((h->wakes.n + 1) * sizeof *p->of_wake);
	if (!p->of_wake)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < h->wakes.n && !ret; i++) {
		const struct vprof_thread_wake *w = &h->wakes.v[i];

		p->of_wake[i] = find(p, &index, h->threads.v[w->wakee].process, w->place);
		ret = p->of_wake[i] == VPROF_NONE ? VPROF_ERR_NOMEM : VPROF_OK;
	}
	vprof_hash_index_release(&index);
	return ret;
}

void vprof_wake_places_release(struct vprof_wake_places *p)
{
	VPROF_ARRAY_RELEASE(&p->v);
	free(p->of_wake);
}

void vprof_wake_places_test(struct vprof_wake_places *p, uint32_t place, int is_right)
{
	p->v.v[place].n_tests++;
	p->v.v[place].n_right += is_right != 0;
}

/* What is no futex has no place of its own: pipes, sockets and all else. It is never settled. */
static enum vprof_place_kind kind_of(const struct vprof_wake_place *p)
{
	if (p->n_tests < TESTS_ENOUGH || !p->place)
		return (enum vprof_place_kind)p->kind;
	return p->n_right >= QUEUE_RATE * p->n_tests ? VPROF_PLACE_QUEUE : VPROF_PLACE_OTHER;
}

int vprof_wake_places_settle(struct vprof_wake_places *p)
{
	int has_changed = 0;

	for (size_t i = 0; i < p->v.n; i++) {
		enum vprof_place_kind kind = kind_of(&p->v.v[i]);

		if (kind == (enum vprof_place_kind)p->v.v[i].kind || p->v.v[i].kind == VPROF_PLACE_OTHER)
			continue; /* wakes that no longer count are tested no more */
		p->v.v[i].kind = (uint8_t)kind;
		has_changed = 1;
	}
	for (size_t i = 0; i < p->v.n && has_changed; i++)
		p->v.v[i].n_tests = p->v.v[i].n_right = 0;
	return has_changed;
}

double vprof_wake_places_rate(const struct vprof_wake_places *p, uint32_t place)
{
	return vprof_rate_told(p->v.v[place].n_right, p->v.v[place].n_tests, BEFORE_RIGHT, BEFORE_SEEN);
}
