/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "common/text.h"

#define DRAW_EVERY_S 0.1

static int is_brief;

void vprof_progress_be_brief(void)
{
	is_brief = 1;
}

static double since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

double vprof_progress_seconds(const struct vprof_progress *p)
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
	p->on_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
	clock_gettime(CLOCK_MONOTONIC, &p->started);
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

	if (p->on_terminal || is_brief)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "  %-8s %s\n", p->step, text);
}

void vprof_progress_drop(struct vprof_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = 0;
}

void vprof_progress_end(struct vprof_progress *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	vprof_progress_drop(p);
	if (is_brief)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "  %-8s %-66s %6.1f s\n", p->step, text, vprof_progress_seconds(p));
}

/* Names within come from files that anybody may have written: no escape sequence of theirs reaches the terminal. */
static void put_line(const char *label, struct vprof_text *text)
{
	for (char *s = text->s; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f)
			*s = '?';
	fprintf(stderr, "%s%s\n", label, text->s);
}

int vprof_complain(int code, const struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_text_add(&text, err->message[0] ? err->message : "failed");
	put_line("vprof: ", &text);
	vprof_text_release(&text);
	return code == VPROF_ERR_INCONCLUSIVE ? VPROF_EXIT_INCONCLUSIVE : VPROF_EXIT_FAILED;
}

void vprof_tell(const char *fmt, ...)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	va_list ap;

	va_start(ap, fmt);
	vprof_text_vaddf(&text, fmt, ap);
	va_end(ap);
	put_line("vprof: note: ", &text);
	vprof_text_release(&text);
}
