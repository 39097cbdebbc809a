/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/attachment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/array.h"
#include "live/doors.h"
#include "live/filters.h"
#include "live/process_list.h"
#include "trace/clock.h"

#define LOOK_EVERY_NS UINT64_C(100000000)
#define LOOK_SPARING 20 /* and so much longer than a look took: it is work beside the server */
#define PAUSE_NS 5000000L
#define LOCK_S 0.5 /* for what a killed vprof's keeper may still be at */
#define LOADING_NS UINT64_C(2000000000)

enum stand { NEW, WITHOUT, REFUSED, MET, INVITED, JOINED };

struct guest {
	pid_t pid;
	unsigned long long start_time;
	enum stand stand;
	int is_seen;
	uint64_t met_ns; /* when it, or its program, was new */
	int n_filters;	 /* of system calls, when these were looked at */
	struct vprof_door door;
};

struct vprof_attachment {
	pid_t pid;
	uid_t user;
	uint64_t looked_ns, look_ns; /* when the last look at the processes began, and how long it took */
	VPROF_ARRAY(struct guest) guests;
	struct vprof_attachment_state state;
};

static struct guest *find_guest(struct vprof_attachment *a, pid_t pid)
{
	for (size_t i = 0; i < a->guests.n; i++)
		if (a->guests.v[i].pid == pid)
			return &a->guests.v[i];
	return NULL;
}

/* The process itself, what descends from it, and what descended from it before its parents ended. */
static void mark_tree(struct vprof_attachment *a, struct vprof_process_list *all)
{
	int is_more = 1;

	for (size_t i = 0; i < all->v.n; i++) {
		const struct guest *g = find_guest(a, all->v.v[i].pid);

		/* The number of one that has ended may be a stranger's. */
		all->v.v[i].is_inside = g ? g->start_time == all->v.v[i].start_time :
					    all->v.v[i].pid == a->pid && !a->looked_ns;
	}
	while (is_more) { /* once, and once more to see that: children mostly have higher numbers */
		is_more = 0;
		for (size_t i = 0; i < all->v.n; i++) {
			const struct vprof_process_entry *parent =
				all->v.v[i].is_inside ? NULL : vprof_process_list_find(all, all->v.v[i].parent);

			if (parent && parent->is_inside)
				is_more = all->v.v[i].is_inside = 1;
		}
	}
}

static void drop(struct vprof_attachment *a, size_t i)
{
	vprof_door_close(&a->guests.v[i].door);
	a->guests.n--;
	memmove(a->guests.v + i, a->guests.v + i + 1, (a->guests.n - i) * sizeof *a->guests.v);
}

static void refuse(struct vprof_attachment *a, struct guest *g, const struct vprof_error *why)
{
	vprof_door_close(&g->door);
	g->stand = REFUSED;
	snprintf(a->state.refusal, sizeof a->state.refusal, "%.*s", (int)sizeof a->state.refusal - 1, why->message);
}

/* Finds its door. OK, or why there is none. */
static int meet(struct vprof_attachment *a, struct guest *g, struct vprof_error *err)
{
	int rc = vprof_door_open(&g->door, g->pid, a->looked_ns ? 0 : LOCK_S, err);

	g->n_filters = vprof_filters_count(g->pid);
	if (!rc)
		rc = vprof_filters_check(g->pid, err);
	if (rc)
		vprof_door_close(&g->door);
	if (!rc)
		g->stand = MET;
	else if (rc == VPROF_ERR_INPUT)
		g->stand = WITHOUT;
	else if (rc == VPROF_ERR_FAILED)
		refuse(a, g, err);
	return rc;
}

static struct guest new_guest(const struct vprof_process_entry *e)
{
	return (struct guest){
		.pid = e->pid, .start_time = e->start_time, .met_ns = vprof_clock_monotonic_ns(), .door.memory.fd = -1
	};
}

/* Every process of the tree is a guest; those that have ended are none any more. */
static int find_guests(struct vprof_attachment *a)
{
	struct vprof_process_list all;
	int rc = vprof_process_list_read(&all);

	if (!rc)
		mark_tree(a, &all);
	for (size_t i = 0; i < a->guests.n; i++)
		a->guests.v[i].is_seen = 0;
	for (size_t i = 0; !rc && i < all.v.n; i++) {
		struct guest *g = all.v.v[i].is_inside ? find_guest(a, all.v.v[i].pid) : NULL;

		if (g && g->start_time != all.v.v[i].start_time) { /* a child has the number of one that ended */
			vprof_door_close(&g->door);
			*g = new_guest(&all.v.v[i]);
		} else if (!g && all.v.v[i].is_inside) {
			g = VPROF_PUSH(&a->guests);
			if (g)
				*g = new_guest(&all.v.v[i]);
			else
				rc = VPROF_ERR_NOMEM;
		}
		if (g)
			g->is_seen = 1;
	}
	vprof_process_list_release(&all);
	for (size_t i = a->guests.n; !rc && i-- > 0;)
		if (!a->guests.v[i].is_seen)
			drop(a, i);
	return rc;
}

/* Its libraries may come yet. */
static int is_loading(const struct guest *g, uint64_t now_ns)
{
	return g->stand == WITHOUT && now_ns - g->met_ns < LOADING_NS;
}

/* A wrapper script may execute the server at any time, and a program loads its libraries after it has begun. */
static void forget_changed(struct guest *g, uint64_t now_ns)
{
	if (g->stand != WITHOUT && g->stand != REFUSED)
		return;
	if (vprof_door_is_other_program(&g->door)) {
		g->stand = NEW;
		g->met_ns = now_ns;
	} else if (is_loading(g, now_ns)) {
		g->stand = NEW;
	}
}

static void attend(struct vprof_attachment *a, struct guest *g, const char *path, uint64_t nonce)
{
	struct vprof_error err = { "" };
	int joined = 0, rc;

	forget_changed(g, a->looked_ns);
	if (g->stand == NEW && meet(a, g, &err))
		return;
	if (g->stand == MET) {
		rc = vprof_door_invite(&g->door, path, nonce, &err);
		g->stand = INVITED;
	} else if (g->stand == INVITED || g->stand == JOINED) {
		rc = vprof_door_look(&g->door, &joined, &err);
		g->stand = joined ? JOINED : INVITED;
		if (!rc && !joined && vprof_filters_count(g->pid) != g->n_filters) { /* it has one more since */
			vprof_door_withdraw(&g->door);
			vprof_door_close(&g->door);
			g->stand = NEW;
		}
	} else {
		return;
	}
	if (rc == VPROF_ERR_MISSING) { /* it has executed another program, or ended */
		vprof_door_close(&g->door);
		g->stand = NEW;
		g->met_ns = a->looked_ns;
	} else if (rc) {
		refuse(a, g, &err);
	}
}

static void count(struct vprof_attachment *a)
{
	a->state.n_doors = a->state.n_joined = a->state.n_refused = a->state.n_others = 0;
	for (size_t i = 0; i < a->guests.n; i++) {
		enum stand stand = a->guests.v[i].stand;

		a->state.n_doors += stand == MET || stand == INVITED || stand == JOINED;
		a->state.n_joined += stand == JOINED;
		a->state.n_refused += stand == REFUSED;
		a->state.n_others += stand == NEW || is_loading(&a->guests.v[i], a->looked_ns);
	}
	a->state.is_over = !a->guests.n;
}

int vprof_attachment_step(struct vprof_attachment *a, const char *path, uint64_t nonce)
{
	uint64_t now_ns = vprof_clock_monotonic_ns();

	if (a->looked_ns && now_ns - a->looked_ns < LOOK_EVERY_NS + LOOK_SPARING * a->look_ns)
		return VPROF_OK;
	a->looked_ns = now_ns;
	if (find_guests(a))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < a->guests.n; i++)
		attend(a, &a->guests.v[i], path, nonce);
	count(a);
	a->look_ns = vprof_clock_monotonic_ns() - now_ns;
	return VPROF_OK;
}

/* The first reason that keeps a process of the tree out, if none is in. */
static int meet_all(struct vprof_attachment *a, struct vprof_error *err)
{
	struct vprof_error first = { "" }, why;
	int rc = VPROF_ERR_MISSING, is_met = 0;
	uid_t user;

	for (size_t i = 0; i < a->guests.n; i++) {
		struct guest *g = &a->guests.v[i];
		int met = meet(a, g, &why);

		if (!met && !vprof_process_user(g->pid, &user)) {
			if (!is_met || !a->user) /* one that is not root: root opens its own processes' alone */
				a->user = user;
			is_met = 1;
		}
		/* what is refused says more than what is not linked */
		if (met && (!first.message[0] || (met == VPROF_ERR_FAILED && rc != VPROF_ERR_FAILED))) {
			first = why;
			rc = met;
		}
	}
	if (is_met)
		return VPROF_OK;
	if (!first.message[0])
		return vprof_error_set(err, VPROF_ERR_MISSING, "process %d has ended", (int)a->pid);
	if (err)
		*err = first;
	return rc;
}

int vprof_attachment_new(struct vprof_attachment **out, pid_t pid, struct vprof_error *err)
{
	struct vprof_attachment *a = calloc(1, sizeof *a);
	int rc;

	*out = NULL;
	if (!a)
		return vprof_error_no_memory(err);
	a->pid = pid;
	rc = find_guests(a) ? vprof_error_no_memory(err) : VPROF_OK;
	if (!rc && !find_guest(a, pid))
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "there is no process %d", (int)pid);
	if (!rc)
		rc = meet_all(a, err);
	if (rc) {
		vprof_attachment_free(a);
		return rc;
	}
	*out = a;
	return VPROF_OK;
}

uid_t vprof_attachment_user(const struct vprof_attachment *a)
{
	return a->user;
}

void vprof_attachment_look(const struct vprof_attachment *a, struct vprof_attachment_state *state)
{
	*state = a->state;
}

size_t vprof_attachment_end(struct vprof_attachment *a, double wait_s)
{
	const struct timespec pause = { 0, PAUSE_NS };
	uint64_t until_ns = vprof_clock_monotonic_ns() + (uint64_t)(wait_s * 1e9);
	size_t n_left;

	for (size_t i = 0; i < a->guests.n; i++)
		if (a->guests.v[i].stand == INVITED)
			vprof_door_withdraw(&a->guests.v[i].door);
	for (;;) {
		n_left = 0;
		for (size_t i = 0; i < a->guests.n; i++) {
			struct guest *g = &a->guests.v[i];
			int joined;

			if (g->stand != JOINED && g->stand != INVITED)
				continue;
			if (vprof_door_look(&g->door, &joined, NULL) || !joined)
				g->stand = WITHOUT;
			else
				n_left++;
		}
		if (!n_left || vprof_clock_monotonic_ns() > until_ns)
			return n_left;
		nanosleep(&pause, NULL);
	}
}

void vprof_attachment_free(struct vprof_attachment *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->guests.n; i++)
		vprof_door_close(&a->guests.v[i].door);
	VPROF_ARRAY_RELEASE(&a->guests);
	free(a);
}
