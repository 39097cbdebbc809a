/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that a section took out of a structure, and that the thread uses only much later: a worker that prepares
 * itself for the connection that it was given, for instance.
 *
 * A pointer that was merely read (a neighbour in a list) leads to memory that others may give and take meanwhile, so
 * after the window only those are looked for that lead to the first bytes of an allocation, while that lasts, that no
 * longer lie where they were read, that the thread had not written to by then, and that it has not handed on.
 */
#include "runtime/flows/flow_runtime.h"

#include <string.h>

static void find_lines(struct flow_thread *t)
{
	flow_lines_find(t->late_lines, t->late, t->n_late);
}

static bool is_same_object(const struct flow_candidate *c)
{
	return flow_object_at(c->begin) == c->object;
}

static void drop(struct flow_thread *t, unsigned i)
{
	memmove(&t->late[i], &t->late[i + 1], sizeof *t->late * (--t->n_late - i));
}

static void end(struct flow_thread *t, unsigned i)
{
	const struct flow_candidate *c = &t->late[i];

	if (c->is_used && is_same_object(c))
		flow_use_write(t, c, 0);
	drop(t, i);
}

void flow_late_add(struct flow_thread *t, const struct flow_candidate *c)
{
	for (unsigned i = 0; i < t->n_late; i++)
		if (t->late[i].low == c->low) {
			end(t, i);
			break;
		}
	if (t->n_late == FLOW_LATE)
		end(t, 0); /* the oldest */
	t->late[t->n_late++] = *c;
	if (c->is_new)
		flow_watch_recorded(true); /* it may be used long from now */
	find_lines(t);
}

void flow_late_end(struct flow_thread *t, uintptr_t lock)
{
	unsigned n = t->n_late;

	for (unsigned i = 0; i < t->n_late;)
		if (!lock || t->late[i].lock == lock)
			end(t, i);
		else
			i++;
	if (t->n_late != n)
		find_lines(t);
}

void flow_late_handed_on(struct flow_thread *t, uint64_t value)
{
	for (unsigned i = 0; i < t->n_late; i++)
		if (t->late[i].low == value) {
			end(t, i);
			find_lines(t);
			return;
		}
}

void flow_late_use(struct flow_thread *t, uintptr_t address, size_t n, bool is_write, uintptr_t pc)
{
	unsigned n_before = t->n_late;

	for (unsigned i = 0; i < t->n_late;) {
		struct flow_candidate *c = &t->late[i];
		uint64_t bytes = flow_bytes_of(address, n, c->low);

		if (!bytes) {
			i++;
		} else if (!is_same_object(c)) {
			drop(t, i);
		} else if (is_write) {
			c->written |= bytes;
			c->is_used = true;
			i++;
		} else if (!(bytes & ~c->written)) {
			i++;
		} else {
			flow_use_write(t, c, pc);
			drop(t, i);
		}
	}
	if (t->n_late != n_before)
		find_lines(t);
}
