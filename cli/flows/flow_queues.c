/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of the functions between the critical section's and the access, the first with a suitable parameter counts. Which one
 * is meant is read from the line of the access: `elem->p = p;`, `TAILQ_INSERT_TAIL(&q->list, item, link);`. */
#include "cli/flows/flow_queues.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"

#define CANDIDATES 8
#define ANONYMOUS "(anonymous namespace)::"

const struct vprof_facts_function *vprof_flow_function_of(struct vprof_discovery *d,
							  const struct vprof_flow_function *f)
{
	const char *file = f->file ? vprof_path_name(f->file) : NULL;
	uint32_t found[CANDIDATES];
	char plain[256];
	size_t n;

	n = vprof_facts_find(d->facts, f->name, file, found, CANDIDATES);
	if (!n) { /* an instance of a template, or in a namespace without a name */
		size_t depth = 0, k = 0;

		for (const char *c = f->name; *c && k + 1 < sizeof plain; c++) {
			if (!strncmp(c, ANONYMOUS, sizeof ANONYMOUS - 1)) {
				c += sizeof ANONYMOUS - 2;
				continue;
			}
			depth += *c == '<';
			if (!depth)
				plain[k++] = *c;
			depth -= *c == '>' && depth;
		}
		plain[k] = 0;
		n = vprof_facts_find(d->facts, plain, file, found, CANDIDATES);
	}
	for (size_t i = 0; i < n && i < CANDIDATES; i++) {
		const struct vprof_facts_function *one = &d->facts->functions[found[i]];

		if (n == 1 || (f->line >= one->line && f->line <= one->end_line))
			return one;
	}
	return NULL;
}

static const char *line_of(struct vprof_discovery *d, const struct vprof_facts_function *function, int line)
{
	const struct vprof_facts_file *file = vprof_facts_file(d->facts, function->file);
	struct vprof_text text = VPROF_TEXT_INIT;
	const char *start, *copy = "";

	if (!file || line < 1 || vprof_file_read(file->path, &text, NULL))
		return copy;
	for (start = text.s; *start && --line; start++)
		start += strcspn(start, "\n");
	copy = vprof_arena_copy(d->arena, start, strcspn(start, "\n"));
	vprof_text_release(&text);
	return copy;
}

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is `name` mentioned as a value of its own: not a member, not what leads to one? */
static int is_mentioned(const char *text, const char *name, int dereferenced)
{
	size_t n = strlen(name);

	for (const char *at = text; n && (at = strstr(at, name)); at += n) {
		const char *after = at + n, *before = at;

		if ((at > text && is_word(at[-1])) || is_word(*after))
			continue;
		while (*after == ' ')
			after++;
		while (before > text && (before[-1] == ' ' || before[-1] == '('))
			before--;
		if (*after == '.' || *after == '[' || !strncmp(after, "->", 2))
			continue;
		if (before > text &&
		    (before[-1] == '.' || (before[-1] == '>' && before > text + 1 && before[-2] == '-') ||
		     before[-1] == '&'))
			continue;
		if (dereferenced && (before == text || before[-1] != '*'))
			continue;
		return 1;
	}
	return 0;
}

/* Right of the last assignment. */
static const char *stored(const char *line)
{
	const char *last = line;

	for (const char *c = line; *c; c++)
		if (*c == '=' && c[1] != '=' && (c == line || !strchr("=!<>", c[-1])))
			last = c + 1;
	return last;
}

static const char *enqueued_item(struct vprof_discovery *d, const struct vprof_facts_function *f, int line)
{
	const char *text = stored(line_of(d, f, line)), *item = NULL;
	const struct vprof_parameter *list;
	size_t n;

	list = vprof_discovery_parameters(d, f, &n);
	for (size_t i = 0; i < n; i++)
		if (list[i].is_pointer && is_mentioned(text, list[i].name, 0))
			item = list[i].name;
	for (size_t i = n > 1; i < n && !item; i++)
		if (list[i].is_pointer)
			item = list[i].name;
	return item;
}

static int is_pointer_to_pointer(const char *type)
{
	return strchr(type, '*') != strrchr(type, '*');
}

/* Does a return statement give something else than NULL? A thread's function that works on what it takes returns none.
 */
static int returns_item(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	static const char *const none[] = { "NULL", "0", "nullptr", "(void *)0", "(void*)0" };
	const struct vprof_facts_file *file = vprof_facts_file(d->facts, f->file);
	struct vprof_text text = VPROF_TEXT_INIT;
	int is_read = file && !vprof_file_read(file->path, &text, NULL), n = 0;

	for (size_t i = 0; i < d->facts->n_exits; i++) {
		const struct vprof_facts_exit *e = &d->facts->exits[i];
		int is_none = 0;

		if (e->function != f->id || e->expr_begin < 0)
			continue;
		for (size_t k = 0; is_read && e->editable && k < sizeof none / sizeof *none; k++)
			is_none |= e->expr_end <= (int64_t)text.len &&
				   strlen(none[k]) == (size_t)(e->expr_end - e->expr_begin) &&
				   !strncmp(text.s + e->expr_begin, none[k], strlen(none[k]));
		n += !is_none;
	}
	vprof_text_release(&text);
	return n != 0;
}

static const char *dequeued_item(struct vprof_discovery *d, const struct vprof_facts_function *f, int line)
{
	const char *text = line_of(d, f, line), *name = NULL;
	const struct vprof_parameter *list;
	size_t n;

	if (f->return_kind == VPROF_RETURNS_SCALAR && strchr(f->returns, '*') && returns_item(d, f))
		return "$return";
	list = vprof_discovery_parameters(d, f, &n);
	for (size_t i = 0; i < n; i++)
		if (list[i].is_pointer && is_pointer_to_pointer(list[i].type) &&
		    (is_mentioned(text, list[i].name, 1) || !name))
			name = list[i].name;
	return name ? vprof_arena_printf(d->arena, "*%s", name) : NULL;
}

const struct vprof_parameter *vprof_flow_handled(struct vprof_discovery *d, const struct vprof_facts_function *f)
{
	const struct vprof_parameter *list;
	size_t n;

	list = vprof_discovery_parameters(d, f, &n);
	for (size_t i = 0; i < n; i++)
		if (list[i].is_pointer && !is_pointer_to_pointer(list[i].type))
			return &list[i];
	return NULL;
}

static const char *handled_item(struct vprof_discovery *d, const struct vprof_facts_function *f, int line)
{
	const struct vprof_parameter *handled = vprof_flow_handled(d, f);

	(void)line;
	return handled ? handled->name : NULL;
}

/* Functions of the system's headers (containers) are passed over, and so are those that take no item. */
static const char *find_end(struct vprof_discovery *d, const struct vprof_flow_place *place,
			    const char *(*item_of)(struct vprof_discovery *, const struct vprof_facts_function *, int),
			    const char **name)
{
	for (size_t i = 0; i < place->n; i++) {
		const struct vprof_facts_function *f = vprof_flow_function_of(d, &place->functions[i]);
		const char *item = f && f->instrumentable ? item_of(d, f, place->functions[i].line) : NULL;

		if (item) {
			*name = vprof_discovery_name(d, f);
			return item;
		}
	}
	return NULL;
}

struct vprof_flow_queue vprof_flow_queue_of(struct vprof_discovery *d, const struct vprof_flow *flow)
{
	struct vprof_flow_queue q = { .dequeue_at_exit = 1 };

	if (!flow->producer.n || !flow->consumer.n) {
		q.open = "the program has no symbols: build it without stripping";
		return q;
	}
	if (flow->is_range) {
		q.open =
			"items are copied, so no pointer tells which one was taken: call vprof_enqueue and vprof_dequeue (vprof.h) with a member that does";
		return q;
	}
	q.enqueue_item = find_end(d, &flow->producer, enqueued_item, &q.enqueue);
	if (flow->is_in_loop) {
		q.open =
			"the function that waits for events uses what was registered itself: call vprof_dequeue (vprof.h) where it does";
		return q;
	}
	if (flow->is_event) {
		q.dequeue_at_exit = 0;
		q.dequeue_item = find_end(d, &flow->consumer, handled_item, &q.dequeue);
	} else {
		q.dequeue_item = find_end(d, &flow->consumer, dequeued_item, &q.dequeue);
	}
	if (q.enqueue_item && q.dequeue_item && !strcmp(q.enqueue, q.dequeue))
		q.open =
			"one function stores and takes, as an atomic exchange does: call vprof_enqueue and vprof_dequeue (vprof.h) in its callers";
	else if (!q.enqueue_item)
		q.open = "the item is no parameter of the function that stores it: call vprof_enqueue (vprof.h) there";
	else if (!q.dequeue_item && flow->is_event)
		q.open =
			"no function that uses what was registered has a parameter for it: call vprof_dequeue (vprof.h) where its event is handled";
	else if (!q.dequeue_item)
		q.open =
			"the function that takes the item neither returns it nor has a parameter for it: call vprof_dequeue (vprof.h) there";
	return q;
}

size_t vprof_flow_handlers_of(struct vprof_discovery *d, const struct vprof_flow *flow,
			      struct vprof_flow_handler *handlers)
{
	const struct vprof_facts_function *f =
		flow->consumer.n ? vprof_flow_function_of(d, &flow->consumer.functions[0]) : NULL;
	uint32_t targets[VPROF_FLOW_HANDLERS_MAX];
	size_t n = 0, n_targets = 0;

	if (flow->is_in_loop) /* a library of loops: whom it calls is not known */
		return 0;
	for (uint32_t i = 0; f && i < f->n_calls && !n_targets; i++) {
		const struct vprof_facts_call *call = vprof_facts_call_of(d->facts, f, i);

		if (call->kind == VPROF_CALL_POINTER)
			n_targets = vprof_facts_pointer_targets(d->facts, call->signature, targets,
								VPROF_FLOW_HANDLERS_MAX);
	}
	if (f && !n_targets) {
		targets[0] = (uint32_t)(f - d->facts->functions);
		n_targets = 1;
	}
	for (size_t i = 0; i < n_targets && i < VPROF_FLOW_HANDLERS_MAX; i++) {
		const struct vprof_facts_function *target = &d->facts->functions[targets[i]];
		const char *item = target->instrumentable ? handled_item(d, target, 0) : NULL;

		if (item)
			handlers[n++] = (struct vprof_flow_handler){ vprof_discovery_name(d, target), item };
	}
	return n;
}
