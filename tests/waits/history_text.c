/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* strchrnul */
#include "history_text.h"

#include <inttypes.h>
#include <stdio.h>

typedef VPROF_ARRAY(struct vprof_waits_mark) marks_array;

static void wrong(const char *line)
{
	fprintf(stderr, "history: cannot read: %s\n", line);
	exit(1);
}

static const char *keep(struct history_text *t, const char *s)
{
	t->texts = realloc(t->texts, (t->n_texts + 1) * sizeof *t->texts);
	t->texts[t->n_texts] = strdup(s);
	return t->texts[t->n_texts++];
}

uint32_t history_text_entity(const struct history_text *t, const char *name)
{
	for (uint32_t i = 0; i < t->history.entities.n; i++)
		if (!strcmp(t->tokens[i], name))
			return i;
	if (!strcmp(name, "-"))
		return VPROF_NONE;
	wrong(name);
	return VPROF_NONE;
}

static const struct {
	const char *word;
	uint8_t kind;
} kinds[] = {
	{ "thread", VPROF_WAITS_THREAD }, { "disk", VPROF_WAITS_DISK },		  { "network", VPROF_WAITS_NETWORK },
	{ "timer", VPROF_WAITS_TIMER },	  { "interrupt", VPROF_WAITS_INTERRUPT }, { "outside", VPROF_WAITS_OUTSIDE },
};

static int declare(struct history_text *t, const char *word, const char *line)
{
	char name[64], creator[64];
	uint64_t born = t->history.begin, ended = t->history.end;
	struct vprof_waits_entity *e;
	size_t k = 0;
	int n;

	while (k < sizeof kinds / sizeof *kinds && strcmp(kinds[k].word, word))
		k++;
	if (k == sizeof kinds / sizeof *kinds)
		return 0;
	n = sscanf(line, "%*s %63s by %63s from %" SCNu64 " to %" SCNu64, name, creator, &born, &ended);
	if (n < 1)
		wrong(line);
	e = VPROF_PUSH(&t->history.entities);
	e->kind = kinds[k].kind;
	t->tokens = realloc(t->tokens, t->history.entities.n * sizeof *t->tokens);
	t->tokens[t->history.entities.n - 1] = keep(t, name);
	*strchrnul(name, '#') = '\0';
	e->name = keep(t, name);
	e->creator = VPROF_NONE;
	e->creator = n > 1 ? history_text_entity(t, creator) : VPROF_NONE;
	e->born = born;
	e->ended = ended;
	if (e->kind == VPROF_WAITS_NETWORK)
		sscanf(line, "%*s %*s %lf", &e->bytes_per_s);
	return 1;
}

static int segment(struct history_text *t, const char *word, const char *line)
{
	struct vprof_waits_segment s = { .waker = VPROF_NONE };
	char name[64], waker[64] = "-";
	uint64_t to;

	if (strcmp(word, "run") && strcmp(word, "ready") && strcmp(word, "wait"))
		return 0;
	s.state = *word == 'w' ? VPROF_WAITS_BLOCKED : word[1] == 'u' ? VPROF_WAITS_RUNNING : VPROF_WAITS_RUNNABLE;
	if (sscanf(line, "%*s %63s %" SCNu64 " %" SCNu64 " %63s %" SCNu32 " %" SCNu32, name, &s.from, &to, waker,
		   &s.wait_stack, &s.waker_stack) < 3)
		wrong(line);
	s.to = to;
	s.waker = history_text_entity(t, waker);
	*VPROF_PUSH(&t->history.entities.v[history_text_entity(t, name)].segments) = s;
	return 1;
}

static int request(struct history_text *t, const char *word, const char *line)
{
	struct vprof_waits_request r = { 0 };
	char device[64], thread[64];

	if (strcmp(word, "request"))
		return 0;
	if (sscanf(line, "%*s %63s %63s %" SCNu64 " %" SCNu64 " %" SCNu64, device, thread, &r.issue, &r.complete,
		   &r.n_bytes) != 5)
		wrong(line);
	r.device = history_text_entity(t, device);
	r.thread = history_text_entity(t, thread);
	*VPROF_PUSH(&t->history.requests) = r;
	return 1;
}

static int mark(struct history_text *t, marks_array *marks, const char *word, const char *line)
{
	struct vprof_waits_mark m = { .is_false_wake = *word == 'f' };
	char thread[64], waker[64] = "-";
	int n;

	if (strcmp(word, "spin") && strcmp(word, "false_wake"))
		return 0;
	n = sscanf(line, "%*s %63s %" SCNu64 " %" SCNu64 " %63s", thread, &m.from, &m.to, waker);
	if (n < 2)
		wrong(line);
	m.thread = history_text_entity(t, thread);
	m.waker = history_text_entity(t, waker);
	*VPROF_PUSH(marks) = m;
	return 1;
}

static void read_line(struct history_text *t, marks_array *marks, const char *line)
{
	char word[32];
	unsigned cpus;

	if (sscanf(line, "%31s", word) != 1 || declare(t, word, line) || segment(t, word, line) ||
	    request(t, word, line) || mark(t, marks, word, line))
		return;
	if (sscanf(line, " recording %" SCNu64 " %" SCNu64, &t->history.begin, &t->history.end) == 2)
		return;
	if (sscanf(line, " cpus %u", &cpus) == 1)
		t->history.n_cpus = cpus;
	else if (!strcmp(word, "stack"))
		*VPROF_PUSH(&t->history.stacks) = keep(t, strstr(line, "stack") + 6);
	else if (sscanf(line, " options %lf %lf %lf %lf", &t->options.knots.threshold,
			&t->options.knots.background_cpus, &t->options.short_lived_share, &t->options.min_overlap) != 4)
		wrong(line);
}

const char *history_text_read(struct history_text *t, const char *text)
{
	marks_array marks = { NULL, 0, 0 };
	struct vprof_error err = { "" };
	char line[512];

	memset(t, 0, sizeof *t);
	t->options = vprof_waits_defaults();
	*VPROF_PUSH(&t->history.stacks) = "";
	while (*text) {
		size_t n = strcspn(text, "\n");

		snprintf(line, sizeof line, "%.*s", (int)n, text);
		text += n + (text[n] == '\n');
		if (!strcmp(line, "end"))
			break;
		read_line(t, &marks, line);
	}
	if (vprof_waits_history_mark(&t->history, marks.v, marks.n, &err))
		wrong(err.message);
	VPROF_ARRAY_RELEASE(&marks);
	return *text ? text : NULL;
}

void history_text_release(struct history_text *t)
{
	vprof_waits_history_release(&t->history);
	for (size_t i = 0; i < t->n_texts; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->tokens);
}
