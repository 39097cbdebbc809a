/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "common/text.h"
#include "common/utf8.h"

#define DRAW_EVERY_S 0.1
#define TELL_EVERY_S 1 /* as JSON */

static enum { AS_TEXT, AS_NOTHING, AS_JSON } form;
static int is_brief;

void vprof_progress_be_brief(void)
{
	is_brief = 1;
}

void vprof_progress_be_quiet(void)
{
	form = AS_NOTHING;
}

int vprof_progress_choose(const char *name)
{
	static const char *const names[] = { [AS_TEXT] = "text", [AS_NOTHING] = "none", [AS_JSON] = "json" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i])) {
			form = i;
			return 1;
		}
	return 0;
}

/* {"event":"step","step":"scan","text":"207 files","seconds":3.1}; what is not known is left out: step and text NULL,
 * done and seconds negative. */
static void tell_json(const char *event, const char *step, const char *text, double done, double seconds)
{
	struct vprof_text clean = VPROF_TEXT_INIT;
	cJSON *o = cJSON_CreateObject();
	char *line;

	cJSON_AddStringToObject(o, "event", event);
	if (step)
		cJSON_AddStringToObject(o, "step", step);
	vprof_text_add_utf8(&clean, text ? text : "");
	if (clean.len)
		cJSON_AddStringToObject(o, "text", clean.s);
	if (done >= 0)
		cJSON_AddNumberToObject(o, "done", round(1e3 * (done > 1 ? 1 : done)) / 1e3);
	if (seconds >= 0)
		cJSON_AddNumberToObject(o, "seconds", round(1e3 * seconds) / 1e3);
	line = cJSON_PrintUnformatted(o);
	if (line)
		fprintf(stderr, "%s\n", line);
	cJSON_free(line);
	cJSON_Delete(o);
	vprof_text_release(&clean);
}

static double since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static double seconds_since_begin(const struct vprof_progress *p)
{
	return since(&p->started);
}

int vprof_progress_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb");
}

void vprof_progress_begin(struct vprof_progress *p, const char *step)
{
	const char *term = getenv("TERM");

	memset(p, 0, sizeof *p);
	p->step = step;
	p->on_terminal = form == AS_TEXT && isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
	clock_gettime(CLOCK_MONOTONIC, &p->started);
	if (form == AS_JSON)
		tell_json("begin", step, NULL, -1, -1);
}

/* A job in the background (vprof iterate &) leaves the line to whoever types there. */
static int owns_terminal(void)
{
	pid_t foreground = tcgetpgrp(STDERR_FILENO);

	return foreground < 0 || foreground == getpgrp();
}

void vprof_progress_update(void *arg, const char *what, double done)
{
	struct vprof_progress *p = arg;

	if (p && form == AS_JSON && since(p->shown ? &p->drawn : &p->started) >= TELL_EVERY_S) {
		clock_gettime(CLOCK_MONOTONIC, &p->drawn);
		p->shown = 1;
		tell_json("running", p->step, what, done, seconds_since_begin(p));
	}
	if (!p || !p->on_terminal || !owns_terminal() || (p->shown && done < 1 && since(&p->drawn) < DRAW_EVERY_S))
		return;
	clock_gettime(CLOCK_MONOTONIC, &p->drawn);
	p->shown = 1;
	fprintf(stderr, "\r\033[K  %-8s %.60s", p->step, what ? what : "");
	if (done >= 0)
		fprintf(stderr, " %.0f %%", (done > 1 ? 1 : done) * 100);
	fflush(stderr);
}

void vprof_progress_note(struct vprof_progress *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (form == AS_NOTHING || (form == AS_TEXT && (p->on_terminal || is_brief)))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (form == AS_JSON)
		tell_json("running", p->step, text, -1, seconds_since_begin(p));
	else
		fprintf(stderr, "  %-8s %s\n", p->step, text);
}

void vprof_progress_drop(struct vprof_progress *p)
{
	if (p->shown && p->on_terminal)
		fputs("\r\033[K", stderr);
	p->shown = 0;
}

void vprof_progress_end(struct vprof_progress *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	vprof_progress_drop(p);
	if (form == AS_NOTHING || (form == AS_TEXT && is_brief))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (form == AS_JSON)
		tell_json("step", p->step, text, -1, seconds_since_begin(p));
	else
		fprintf(stderr, "  %-8s %-66s %6.1f s\n", p->step, text, seconds_since_begin(p));
}

/* Names within come from files that anybody may have written: no escape sequence of theirs reaches the terminal. */
static void put_line(const char *event, const char *label, struct vprof_text *text)
{
	for (char *s = text->s; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f)
			*s = '?';
	if (form == AS_JSON)
		tell_json(event, NULL, text->s, -1, -1);
	else
		fprintf(stderr, "%s%s\n", label, text->s);
}

int vprof_complain(int code, const struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_text_add(&text, err->message[0] ? err->message : "failed");
	put_line("error", "vprof: ", &text);
	vprof_text_release(&text);
	return code == VPROF_ERR_INCONCLUSIVE ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_FAILED;
}

static void put_format(const char *event, const char *label, const char *fmt, va_list ap)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_text_vaddf(&text, fmt, ap);
	if (form != AS_NOTHING)
		put_line(event, label, &text);
	vprof_text_release(&text);
}

void vprof_tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_format("note", "vprof: note: ", fmt, ap);
	va_end(ap);
}

void vprof_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_format("line", "", fmt, ap);
	va_end(ap);
}
