/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/code/distances.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "annotate/code/identifiers.h"

#define TABLE_MIN 3

/* syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, ...), or what the macros stand for: "202", "&word", "(0 | 128)". */
static void mark_futex(struct vprof_discovery *d, uint32_t caller, const struct vprof_facts_call *call)
{
	const char *number = vprof_discovery_argument(d, call, 0), *op = vprof_discovery_argument(d, call, 2);

	if (!number || !op || (!strstr(number, "futex") && strtol(number, NULL, 10) != SYS_futex))
		return;
	op += strspn(op, "( ");
	if (strstr(op, "WAIT") || !strncmp(op, "0 ", 2) || !strcmp(op, "0"))
		d->distance[VPROF_ROLE_WAIT][caller] = 0;
	else if (strstr(op, "WAKE") || !strncmp(op, "1 ", 2) || !strcmp(op, "1"))
		d->distance[VPROF_ROLE_SIGNAL][caller] = 0;
	else
		d->distance[VPROF_ROLE_WAIT][caller] = d->distance[VPROF_ROLE_SIGNAL][caller] = 0;
}

/* select(0, NULL, NULL, NULL, &timeout) and poll(NULL, 0, timeout) only wait for a time. */
static int only_sleeps(struct vprof_discovery *d, const struct vprof_facts_call *call)
{
	static const char *const none[] = { "0", "NULL", "nullptr" };
	const char *callee = vprof_name_last(call->callee);
	const char *first;

	if (strcmp(callee, "select") && strcmp(callee, "pselect") && strcmp(callee, "poll") && strcmp(callee, "ppoll"))
		return 0;
	first = vprof_discovery_argument(d, call, 0);
	return first && vprof_name_in(first, none, VPROF_LENGTH(none));
}

static void mark_direct_calls(struct vprof_discovery *d)
{
	size_t i;
	int t;

	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = vprof_facts_caller(d->facts, call);

		if (caller == UINT32_MAX || call->callee_function || call->kind == VPROF_CALL_POINTER)
			continue;
		for (t = 0; t < VPROF_ROLE_DISPATCH; t++)
			if (vprof_call_has_role(call, (enum vprof_call_role)t) &&
			    !(t == VPROF_ROLE_POLL && only_sleeps(d, call)))
				d->distance[t][caller] = 0;
		if (!strcmp(call->callee, "syscall"))
			mark_futex(d, caller, call);
	}
}

static void spread(struct vprof_discovery *d)
{
	size_t i;
	int t, round;

	for (round = 0; round < VPROF_DISTANCE_MAX; round++) {
		for (i = 0; i < d->facts->n_calls; i++) {
			const struct vprof_facts_call *call = &d->facts->calls[i];
			uint32_t caller = call->callee_function ? vprof_facts_caller(d->facts, call) : UINT32_MAX;

			if (caller == UINT32_MAX)
				continue;
			for (t = 0; t < VPROF_ROLE_N; t++)
				if (d->distance[t][call->callee_function - 1] == round &&
				    d->distance[t][caller] > round + 1)
					d->distance[t][caller] = (uint8_t)(round + 1);
		}
	}
}

static struct vprof_dispatch_table *table_at(struct vprof_discovery *d, const char *variable, const char *signature)
{
	struct vprof_dispatch_table *t;
	size_t i;

	for (i = 0; i < d->n_tables; i++)
		if (!strcmp(d->tables[i].variable, variable) && !strcmp(d->tables[i].signature, signature))
			return &d->tables[i];
	t = vprof_arena_push(d->arena, &d->tables, &d->n_tables, sizeof *t);
	if (t)
		*t = (struct vprof_dispatch_table){ variable, signature, 0, vprof_name_sounds_like_request(signature) };
	return t;
}

/* Variables whose initialisers name several functions of one type. */
static void find_tables(struct vprof_discovery *d)
{
	size_t i, n = 0, largest = 0;
	struct vprof_dispatch_table *t;

	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (a->use != VPROF_ADDRESS_INITIALIZER || !a->function || !*a->signature)
			continue;
		t = table_at(d, a->target, a->signature);
		if (t)
			t->n++;
	}
	for (i = 0; i < d->n_tables; i++)
		if (d->tables[i].n >= TABLE_MIN)
			d->tables[n++] = d->tables[i];
	d->n_tables = n;
	/* beside a large table of commands, small tables of operations (open, read, write, ...) mean nothing
	 */
	for (i = 0; i < n; i++)
		if (d->tables[i].takes_request && d->tables[i].n > largest)
			largest = d->tables[i].n;
	for (i = 0; i < n; i++)
		if (d->tables[i].n < largest / 8)
			d->tables[i].takes_request = 0;
}

static void find_dispatchers(struct vprof_discovery *d)
{
	size_t i, t;

	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = call->kind == VPROF_CALL_POINTER ? vprof_facts_caller(d->facts, call) : UINT32_MAX;

		if (caller == UINT32_MAX || !*call->signature)
			continue;
		for (t = 0; t < d->n_tables; t++) {
			if (strcmp(d->tables[t].signature, call->signature))
				continue;
			if (d->dispatch_call[caller] && d->tables[d->dispatch_table[caller]].n >= d->tables[t].n)
				continue;
			if (d->tables[t].takes_request)
				d->distance[VPROF_ROLE_DISPATCH][caller] = 0;
			d->dispatch_call[caller] = (uint32_t)i + 1;
			d->dispatch_table[caller] = (uint32_t)t;
		}
	}
}

void vprof_distances_find(struct vprof_discovery *d)
{
	mark_direct_calls(d);
	find_tables(d);
	find_dispatchers(d);
	spread(d);
}
