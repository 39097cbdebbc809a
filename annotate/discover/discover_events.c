/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: waits of the program's own for something to be told: a latch that is set, a condition that is signalled.
 *
 * One function sleeps on an object, another of an opposite name tells those that sleep on the same type. Over pthread
 * conditions, semaphores and futexes the runtime sees both by itself. Where the sleeper polls descriptors and is told
 * by a signal or by a byte in a pipe, the runtime cannot know whom it waits for: such pairs are proposed, with all
 * functions that sleep on the type or tell its sleepers.
 */
#include <string.h>

#include "annotate/discover/discovery.h"

#define TELL_DISTANCE_MAX 3

static const struct opposite event_words[] = {
	{ "wait", "set" },     { "wait", "signal" },	 { "wait", "broadcast" }, { "wait", "notify" },
	{ "wait", "wake" },    { "wait", "wakeup" },	 { "wait", "post" },	  { "wait", "kick" },
	{ "sleep", "signal" }, { "sleep", "broadcast" }, { "sleep", "wake" },	  { "sleep", "wakeup" },
};

/* The parameter that stands for what is waited for, or NULL. */
static const struct parameter *event_of(struct discovery *d, const struct vprof_facts_function *f)
{
	size_t n;
	const struct parameter *list = parameters_of(d, f, &n);

	return n && list[0].is_pointer && f->instrumentable && !f->is_tiny ? &list[0] : NULL;
}

static int sleeps(struct discovery *d, const struct vprof_facts_function *f)
{
	static const char *const words[] = { "wait", "sleep" }, *const beside[] = { "prepare", "init", "cancel" };
	size_t i = (size_t)(f - d->facts->functions);

	return has_word(f->name, words, LENGTH(words)) && !has_word(f->name, beside, LENGTH(beside)) &&
	       d->distance[TRAIT_POLL][i] != FAR && d->distance[TRAIT_POLL][i] < d->distance[TRAIT_WAIT][i] &&
	       event_of(d, f);
}

static int tells(struct discovery *d, const struct vprof_facts_function *f)
{
	return d->distance[TRAIT_TELL][f - d->facts->functions] <= TELL_DISTANCE_MAX && event_of(d, f);
}

static int is_proposed(const struct discovery *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->draft->n_sync; i++) {
		const struct vprof_sync_proposal *p = &d->draft->sync[i];

		if ((p->acquire && !strcmp(p->acquire, name)) || (p->release && !strcmp(p->release, name)))
			return 1;
	}
	return 0;
}

static void propose(struct discovery *d, const struct vprof_facts_function *f, int is_sleeper, const char *why)
{
	const char *name = public_name(d, f);
	struct vprof_sync_proposal *p;

	if (is_proposed(d, name))
		return;
	p = vprof_arena_push(d->arena, &d->draft->sync, &d->draft->n_sync, sizeof *p);
	if (!p)
		return;
	*p = (struct vprof_sync_proposal){ .custom = 1, .where = where_of(d, f), .why = why };
	if (is_sleeper) {
		p->acquire = name;
		p->acquire_object = event_of(d, f)->name;
	} else {
		p->release = name;
		p->release_object = event_of(d, f)->name;
	}
}

/* Other functions of the sleeper's file that sleep on the same type. */
static void propose_sleepers(struct discovery *d, const struct vprof_facts_function *sleeper)
{
	const char *type = event_of(d, sleeper)->type;
	size_t i;

	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *f = &d->facts->functions[i];

		if (f != sleeper && f->file == sleeper->file && sleeps(d, f) && !strcmp(event_of(d, f)->type, type))
			propose(d, f, 1, vprof_arena_printf(d->arena, "waits for the same as %s", sleeper->name));
	}
}

void find_events(struct discovery *d)
{
	size_t i, w;

	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *sleeper = &d->facts->functions[i], *teller;
		int found = 0;

		if (d->is_entry[i] || !sleeps(d, sleeper))
			continue;
		for (w = 0; w < LENGTH(event_words); w++) {
			teller = find_opposite(d, sleeper, &event_words[w], 1, 1);
			if (!teller || !tells(d, teller))
				continue;
			if (!found++)
				propose(d, sleeper, 1,
					vprof_arena_printf(d->arena, "polls until it is told; %s (%s) tells it",
							   teller->name, where_of(d, teller)));
			propose(d, teller, 0,
				vprof_arena_printf(d->arena, "tells those that wait in %s", sleeper->name));
		}
		if (found)
			propose_sleepers(d, sleeper);
	}
}
