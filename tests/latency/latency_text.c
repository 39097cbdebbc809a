/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "latency_text.h"

#include <inttypes.h>
#include <stdio.h>

static void fail(const char *line)
{
	fprintf(stderr, "latency_text: cannot read \"%s\"\n", line);
	exit(2);
}

static int may_follow(void *arg, uint32_t function, uint32_t place, uint32_t next)
{
	const struct latency_text *t = arg;

	for (size_t i = 0; i < t->cannot.n; i++)
		if (t->cannot.v[i].function == function && t->cannot.v[i].from == place && t->cannot.v[i].to == next)
			return 0;
	return 1;
}

static uint32_t function_number(struct latency_text *t, const char *name, int is_kernel)
{
	uint8_t layer = is_kernel ? VPROF_LATENCY_KERNEL : VPROF_LATENCY_PROGRAM;
	struct vprof_latency_function *f;

	for (uint32_t i = 0; i < t->history.functions.n; i++)
		if (!strcmp(t->history.functions.v[i].name, name) && t->history.functions.v[i].layer == layer)
			return i;
	f = VPROF_PUSH(&t->history.functions);
	*f = (struct vprof_latency_function){ vprof_strings_keep(&t->names, name), "", layer, 0, 0 };
	return (uint32_t)t->history.functions.n - 1;
}

static uint32_t flag(const char *word)
{
	return !strcmp(word, "held")	 ? VPROF_LATENCY_HELD :
	       !strcmp(word, "new")	 ? VPROF_LATENCY_NEW_CALL :
	       !strcmp(word, "off")	 ? VPROF_LATENCY_OFF_CPU :
	       !strcmp(word, "skipped")	 ? VPROF_LATENCY_SKIPPED :
	       !strcmp(word, "disk")	 ? VPROF_LATENCY_DISK :
	       !strcmp(word, "unpaired") ? VPROF_LATENCY_UNPAIRED :
					   0;
}

static int is_same_stack(const struct vprof_latency_history *h, const struct vprof_latency_stack *a,
			 const struct vprof_latency_stack *b)
{
	return a->n == b->n && a->n_user == b->n_user &&
	       !memcmp(h->frames.v + a->first, h->frames.v + b->first, a->n * sizeof *h->frames.v);
}

/* The stack that was pushed last, or an equal one before it. */
static uint32_t stack_number(struct vprof_latency_history *h)
{
	const struct vprof_latency_stack *last = &h->stacks.v[h->stacks.n - 1];

	for (uint32_t i = 0; i + 1 < h->stacks.n; i++)
		if (is_same_stack(h, &h->stacks.v[i], last)) {
			h->frames.n = last->first;
			h->stacks.n--;
			return i;
		}
	return (uint32_t)h->stacks.n - 1;
}

static void read_event(struct latency_text *t, const char *line, char *words)
{
	struct vprof_latency_history *h = &t->history;
	struct vprof_latency_stack *s = VPROF_PUSH(&h->stacks);
	struct vprof_latency_event e = { 0 };
	int is_kernel = 0, is_flag = 0;
	char *save, *word = strtok_r(words, " ", &save);

	if (!word || !h->threads.n)
		fail(line);
	e.t = strtoull(word, NULL, 10);
	s->first = h->frames.n;
	while ((word = strtok_r(NULL, " ", &save))) {
		char *colon = strchr(word, ':');

		if (!strcmp(word, "|")) {
			is_kernel = 1;
		} else if (!strcmp(word, ";")) {
			is_flag = 1;
		} else if (is_flag) {
			e.flags |= flag(word);
		} else if (colon) {
			*colon = 0;
			const uint32_t function = function_number(t, word, is_kernel);

			*VPROF_PUSH(&h->frames) = (struct vprof_latency_frame){ function, (uint32_t)atoi(colon + 1) };
			s->n++;
			s->n_user += !is_kernel;
		} else {
			fail(line);
		}
	}
	e.stack = stack_number(h);
	*VPROF_PUSH(&h->events) = e;
	h->threads.v[h->threads.n - 1].n_events++;
}

static void read_thread(struct latency_text *t, const char *line)
{
	struct vprof_latency_thread *thread = VPROF_PUSH(&t->history.threads);
	char name[64];

	if (sscanf(line, "thread %63s %" SCNu64 " %" SCNu64, name, &thread->begin, &thread->end) != 3)
		fail(line);
	thread->name = vprof_strings_keep(&t->names, name);
	thread->tid = thread->pid = (uint32_t)t->history.threads.n;
	thread->begin_is_cut = strstr(line, "begin-cut") != NULL;
	thread->end_is_cut = strstr(line, "end-cut") != NULL;
	thread->first_event = t->history.events.n;
}

static void read_line(struct latency_text *t, const char *line)
{
	char copy[4096], name[64];
	unsigned int from, to;

	if (!*line || *line == '#')
		return;
	snprintf(copy, sizeof copy, "%s", line);
	if (!strncmp(line, "event ", 6)) {
		read_event(t, line, copy + 6);
	} else if (!strncmp(line, "thread ", 7)) {
		read_thread(t, line);
	} else if (sscanf(line, "idle %63s", name) == 1) {
		from = function_number(t, name, 0);
		t->history.functions.v[from].is_idle = 1;
	} else if (sscanf(line, "condition %63s", name) == 1) {
		from = function_number(t, name, 0);
		t->history.functions.v[from].is_idle = VPROF_LATENCY_IDLE_CONDITION;
	} else if (sscanf(line, "cannot %63s %u %u", name, &from, &to) == 3) {
		const uint32_t function = function_number(t, name, 0);

		*VPROF_PUSH(&t->cannot) = (struct latency_text_cannot){ function, from, to };
		t->history.may_follow = may_follow;
		t->history.arg = t;
	} else if (sscanf(line, "recording %" SCNu64 " %" SCNu64, &t->history.begin, &t->history.end) != 2) {
		fail(line);
	}
}

const char *latency_text_read(struct latency_text *t, const char *text)
{
	memset(t, 0, sizeof *t);
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = strndup(text, n);
		int is_end = !strcmp(line, "end");

		text += n + (text[n] == '\n');
		if (!is_end)
			read_line(t, line);
		free(line);
		if (is_end)
			return *text ? text : NULL;
	}
	return NULL;
}

void latency_text_release(struct latency_text *t)
{
	vprof_latency_history_release(&t->history);
	vprof_strings_release(&t->names);
	VPROF_ARRAY_RELEASE(&t->cannot);
}
