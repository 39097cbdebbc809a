/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery: the program's own events: a latch that is set, a condition that is signalled.
 *
 * One function sleeps on an object, another with an opposite name notifies those that sleep on the same type. With
 * pthread conditions, semaphores and futexes the runtime sees both by itself. If the sleeper polls descriptors and is
 * notified by a signal or by a byte in a pipe, the runtime cannot know whom it waits for: such pairs are proposed, with
 * all functions that sleep on the type or notify its sleepers.
 */
#include "annotate/discover/discover_events.h"

#include <string.h>

#include "annotate/code/identifiers.h"
#include "annotate/code/opposites.h"
#include "annotate/discover/draft.h"

#define TELL_DISTANCE_MAX 3

static const struct vprof_opposite event_words[] = {
	{ "wait", "set" },     { "wait", "signal" },	 { "wait", "broadcast" }, { "wait", "notify" },
	{ "wait", "wake" },    { "wait", "wakeup" },	 { "wait", "post" },	  { "wait", "kick" },
	{ "sleep", "signal" }, { "sleep", "broadcast" }, { "sleep", "wake" },	  { "sleep", "wakeup" },
};

/* The parameter that stands for what is waited for, or NULL. */
static const struct vprof_parameter *event_of(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	size_t n;
	const struct vprof_parameter *list = vprof_discovery_parameters(d, f, &n);

	return n && list[0].is_pointer && f->instrumentable && !f->is_tiny ? &list[0] : NULL;
}

static int sleeps(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	static const char *const words[] = { "wait", "sleep" }, *const beside[] = { "prepare", "init", "cancel" };
	size_t i = (size_t)(f - d->facts->functions);

	return vprof_name_has_part(f->name, words, VPROF_LENGTH(words)) &&
	       !vprof_name_has_part(f->name, beside, VPROF_LENGTH(beside)) &&
	       d->distance[VPROF_ROLE_POLL][i] != VPROF_FAR &&
	       d->distance[VPROF_ROLE_POLL][i] < d->distance[VPROF_ROLE_WAIT][i] && event_of(d, f);
}

static int tells(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	return d->distance[VPROF_ROLE_TELL][f - d->facts->functions] <= TELL_DISTANCE_MAX && event_of(d, f);
}

static void propose(struct vprof_discovery *d, const struct vprof_facts_function *f, int is_sleeper, const char *why)
{
	const char *name = vprof_discovery_name(d, f);
	struct vprof_sync_proposal *p;

	if (vprof_draft_has_sync(d->draft, name))
		return;
	p = vprof_arena_push(d->arena, &d->draft->sync, &d->draft->n_sync, sizeof *p);
	if (!p)
		return;
	*p = (struct vprof_sync_proposal){ .custom = 1, .where = vprof_discovery_where(d, f), .why = why };
	if (is_sleeper) {
		p->acquire = name;
		p->acquire_object = event_of(d, f)->name;
	} else {
		p->release = name;
		p->release_object = event_of(d, f)->name;
	}
}

/* Other functions of the sleeper's file that sleep on the same type. */
static void propose_sleepers(struct vprof_discovery *d, const struct vprof_facts_function *sleeper)
{
	const char *type = event_of(d, sleeper)->type;
	size_t i;

	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *f = &d->facts->functions[i];

		if (f != sleeper && f->file == sleeper->file && sleeps(d, f) && !strcmp(event_of(d, f)->type, type))
			propose(d, f, 1,
				vprof_arena_printf(d->arena, "waits for the same kind of event as %s", sleeper->name));
	}
}

void vprof_discover_events(struct vprof_discovery *d)
{
	size_t i, w;

	for (i = 0; i < d->facts->n_functions; i++) {
		const struct vprof_facts_function *sleeper = &d->facts->functions[i], *teller;
		int found = 0;

		if (d->is_entry[i] || !sleeps(d, sleeper))
			continue;
		for (w = 0; w < VPROF_LENGTH(event_words); w++) {
			teller = vprof_opposite_find(d, sleeper, &event_words[w], 1, 1);
			if (!teller || !tells(d, teller))
				continue;
			if (!found++)
				propose(d, sleeper, 1,
					vprof_arena_printf(d->arena, "polls until %s (%s) notifies it", teller->name,
							   vprof_discovery_where(d, teller)));
			propose(d, teller, 0,
				vprof_arena_printf(d->arena, "notifies threads that wait in %s", sleeper->name));
		}
		if (found)
			propose_sleepers(d, sleeper);
	}
}
