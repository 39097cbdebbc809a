/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invariant: a key acts on what the screen showed when it was pressed. What is chosen is kept by its key or name, so
 * that it stays chosen when the next look puts the causes into another order. */
#include "cli/top/top_screen.h"

#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/drilldown/decide.h"
#include "cli/drilldown/review_walk.h"
#include "cli/live/live_channel.h"
#include "cli/top/top_source.h"
#include "report/format_value.h"
#include "trace/clock.h"

#define HEAD_ROWS 9 /* of the view, beside the list */
#define KEY_ROWS 3  /* a message, and two lines of keys */
#define REFRESH_MS 500
#define MS_NS UINT64_C(1000000)
#define ASKED_MS 50
#define LEAD 3 /* lines of source above the one that is shown */
#define TAB_KEY '\t'

struct screen {
	const struct vprof_project *project;
	struct vprof_session session; /* for the verdicts */
	struct vprof_top *top;
	enum vprof_top_list list;
	size_t row, first;
	char *chosen; /* key or name of the row; NULL: the list is empty */
	int is_gone;  /* it is not in the list now: no row is marked, and its neighbour is not meant instead */
	int is_frozen, is_marking, is_over;
	uint64_t looked_ns;
	int asked; /* a request's socket, -1: none */
	struct vprof_top_source source;
	size_t source_first;
	int shows_source;
	char message[VPROF_REQUEST_BYTES];
};

static size_t list_rows(void)
{
	return LINES > HEAD_ROWS + KEY_ROWS ? (size_t)(LINES - HEAD_ROWS - KEY_ROWS) : 1;
}

static void say(struct screen *s, const char *text)
{
	snprintf(s->message, sizeof s->message, "%s", text);
}

static void add_line(int row, const char *text)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	vprof_format_cut(&line, text, (size_t)(COLS > 1 ? COLS - 1 : 1), 0, 0);
	if (line.s && row >= 0)
		mvaddstr(row, 0, line.s);
	vprof_text_release(&line);
}

static void draw_keys(const struct screen *s)
{
	add_line(LINES - 3, s->is_marking ?
				    "mark it: c culprit  i inherent  g ignore  f fixed  t todo  d drop the mark" :
				    s->message);
	attron(A_REVERSE);
	if (s->shows_source) {
		add_line(LINES - 2, "j/k or arrows, page keys: other lines");
		add_line(LINES - 1, "any other key: back");
	} else {
		add_line(LINES - 2, s->is_frozen ? "frozen: f go on   j/k select   Tab causes/functions   q leave" :
						   "j/k or arrows select   Tab causes/functions   f freeze   q leave");
		add_line(LINES - 1,
			 s->top->status.is_pinned ?
				 "b break down  c close  m mark  s source  h release the round  w save a run" :
				 "b break down  c close  m mark  s source  h hold the round  w save a run");
	}
	attroff(A_REVERSE);
}

static void draw_source(const struct screen *s)
{
	size_t rows = LINES > KEY_ROWS + 2 ? (size_t)(LINES - KEY_ROWS - 2) : 1;

	add_line(0, s->source.title ? s->source.title : "");
	for (size_t i = 0; i < rows && s->source_first + i < s->source.n; i++) {
		size_t line = s->source_first + i;
		struct vprof_text text = VPROF_TEXT_INIT;

		vprof_text_addf(&text, "%s%5zu  %s", line + 1 == s->source.line ? ">" : " ", line + 1,
				s->source.lines[line]);
		add_line((int)i + 2, text.s ? text.s : "");
		vprof_text_release(&text);
	}
}

static void draw_view(struct screen *s)
{
	struct vprof_top_layout layout = { .width = (size_t)(COLS > 1 ? COLS - 1 : 1),
					   .rows = list_rows(),
					   .list = s->list,
					   .chosen = s->is_gone ? -1 : (long)s->row };
	struct vprof_text text = VPROF_TEXT_INIT;
	char *rest = NULL;
	int row = 0;

	if (s->row < s->first)
		s->first = s->row;
	if (s->row >= s->first + layout.rows)
		s->first = s->row - layout.rows + 1;
	layout.first = s->first;
	vprof_top_text(s->top, &layout, &text);
	for (char *at = text.s; at && *at && row < LINES - KEY_ROWS; at = rest) {
		rest = strchr(at, '\n');
		if (rest)
			*rest++ = 0;
		if (*at == '>')
			attron(A_BOLD);
		mvaddstr(row++, 0, at);
		attroff(A_BOLD);
		rest = rest ? rest : at + strlen(at);
	}
	vprof_text_release(&text);
}

static void draw(struct screen *s)
{
	erase();
	if (s->shows_source)
		draw_source(s);
	else
		draw_view(s);
	draw_keys(s);
	refresh();
}

/* ---- what is chosen ---- */

static void choose(struct screen *s, size_t row)
{
	size_t n = vprof_top_n_rows(s->top, s->list);
	const char *name;

	s->row = row < n ? row : n ? n - 1 : 0;
	s->is_gone = 0;
	name = vprof_top_row(s->top, s->list, s->row);
	free(s->chosen);
	s->chosen = name ? strdup(name) : NULL;
}

/* Where what was chosen is now. It may be missing for one look and be back in the next. */
static void find_chosen(struct screen *s)
{
	size_t n = vprof_top_n_rows(s->top, s->list);

	for (size_t i = 0; s->chosen && i < n; i++)
		if (!strcmp(vprof_top_row(s->top, s->list, i), s->chosen)) {
			s->row = i;
			s->is_gone = 0;
			return;
		}
	if (!s->chosen)
		choose(s, s->row);
	else
		s->is_gone = 1;
}

static void read_verdicts(struct screen *s)
{
	vprof_session_release(&s->session);
	vprof_session_open(&s->session, s->project, NULL); /* without one there are none */
	if (s->top->results)
		vprof_decide_verdicts(s->top->results, &s->session);
}

/* What there is now, every half second. */
static int look(struct screen *s, struct vprof_error *err)
{
	struct vprof_top next;
	int rc;

	/* while a mark is asked for, the list stands still */
	if (s->is_frozen || s->is_marking || s->is_over ||
	    vprof_clock_monotonic_ns() - s->looked_ns < REFRESH_MS * MS_NS)
		return VPROF_OK;
	s->looked_ns = vprof_clock_monotonic_ns();
	rc = vprof_top_read(&next, s->project->vprof_dir, s->top, err);
	if (rc)
		return rc;
	vprof_top_release(s->top);
	*s->top = next;
	read_verdicts(s);
	find_chosen(s);
	return VPROF_OK;
}

/* ---- keys ---- */

static void ask(struct screen *s, const char *what, const char *name)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_error err = { "" };

	if (s->asked >= 0) {
		say(s, "the session has not answered yet; it does when it has analysed what it recorded");
		return;
	}
	vprof_text_addf(&text, "%s%s", what, name);
	if (text.failed || vprof_live_request_send(&s->asked, s->project->vprof_dir, text.s, &err))
		say(s, err.message[0] ? err.message : "out of memory");
	else
		say(s, "asked; the session answers when it has analysed what it recorded");
	vprof_text_release(&text);
}

static void hear(struct screen *s)
{
	char text[VPROF_REQUEST_BYTES];
	int rc = s->asked < 0 ? 0 : vprof_live_request_look(s->asked, text);

	if (!rc)
		return;
	close(s->asked);
	s->asked = -1;
	say(s, rc > 0 ? text : "the session ended without an answer");
}

static void ask_of_chosen(struct screen *s, const char *of_cause, const char *of_function)
{
	if (!s->chosen)
		say(s, "nothing is chosen");
	else
		ask(s, s->list == VPROF_TOP_CAUSES ? of_cause : of_function, s->chosen);
}

/* 0: said why there is none. */
static int has_row(struct screen *s)
{
	if (s->chosen && !s->is_gone)
		return 1;
	say(s, s->chosen ? "what was chosen is not in the list any more: choose with j and k" : "nothing is chosen");
	return 0;
}

static void close_chosen(struct screen *s)
{
	if (s->list == VPROF_TOP_FUNCTIONS && !s->is_gone && vprof_top_row_is_closed(s->top, s->row))
		ask_of_chosen(s, "", "open function ");
	else
		ask_of_chosen(s, "close cause ", "close function ");
}

static void begin_mark(struct screen *s)
{
	if (s->list != VPROF_TOP_CAUSES)
		say(s, "marks are of causes: Tab");
	else
		s->is_marking = has_row(s);
}

static void mark(struct screen *s, int key)
{
	enum vprof_verdict verdict = vprof_review_letter(key);
	struct vprof_judged judged = { 0, s->row };
	struct vprof_error err = { "" };

	s->is_marking = 0;
	say(s, "");
	if (!verdict && key != 'd')
		return;
	if (vprof_review_judge(s->project, &s->session, s->top->results, judged, verdict, NULL, &err))
		say(s, err.message);
	else
		say(s, verdict ? "marked; every report shows it, and the drill-down heeds it at its next look" :
				 "the mark is withdrawn");
}

static void show_source(struct screen *s)
{
	struct vprof_error err = { "" };

	if (!has_row(s))
		return;
	vprof_top_source_release(&s->source);
	if (vprof_top_source_read(&s->source, s->project, s->top, s->list, s->row, &err)) {
		say(s, err.message);
		return;
	}
	s->shows_source = 1;
	s->source_first = s->source.line > LEAD + 1 ? s->source.line - LEAD - 1 : 0;
}

/* `by` rows, if the key moves. */
static int moves(int key, size_t page, long *by)
{
	*by = key == KEY_UP || key == 'k'   ? -1 :
	      key == KEY_DOWN || key == 'j' ? 1 :
	      key == KEY_PPAGE		    ? -(long)page :
	      key == KEY_NPAGE		    ? (long)page :
					      0;
	return *by != 0;
}

static size_t moved(size_t from, long by)
{
	return by < 0 && (size_t)-by > from ? 0 : from + (size_t)by;
}

static void press_in_source(struct screen *s, int key)
{
	long by;

	if (!moves(key, (size_t)LINES / 2, &by)) {
		s->shows_source = 0;
		return;
	}
	s->source_first = moved(s->source_first, by);
	if (s->source_first >= s->source.n)
		s->source_first = s->source.n ? s->source.n - 1 : 0;
}

static void press(struct screen *s, int key)
{
	long by;

	if (key == ERR || key == KEY_RESIZE)
		return;
	if (s->shows_source) {
		press_in_source(s, key);
		return;
	}
	if (s->is_marking) {
		mark(s, key);
		return;
	}
	if (moves(key, list_rows(), &by))
		choose(s, moved(s->row, by));
	else if (key == TAB_KEY) {
		s->list = s->list == VPROF_TOP_CAUSES ? VPROF_TOP_FUNCTIONS : VPROF_TOP_CAUSES;
		choose(s, 0);
	} else if (key == 'b')
		ask_of_chosen(s, "break-down cause ", "break-down function ");
	else if (key == 'c')
		close_chosen(s);
	else if (key == 'm')
		begin_mark(s);
	else if (key == 's')
		show_source(s);
	else if (key == 'h')
		ask(s, s->top->status.is_pinned ? "release" : "hold", "");
	else if (key == 'w')
		ask(s, "save", "");
	else if (key == 'f')
		s->is_frozen = !s->is_frozen;
	else if (key == 'q')
		s->is_over = 1;
}

int vprof_top_watch(const struct vprof_project *p, struct vprof_top *top, struct vprof_error *err)
{
	struct screen s = { .project = p, .top = top, .asked = -1 };
	SCREEN *terminal;
	int rc = VPROF_OK;

	setlocale(LC_CTYPE, "");
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "the terminal is not known (TERM=%s): vprof top --once prints the view",
				       getenv("TERM") ? getenv("TERM") : "");
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	vprof_session_init(&s.session);
	read_verdicts(&s);
	choose(&s, 0);
	while (!rc && !s.is_over) {
		hear(&s);
		draw(&s);
		timeout(s.asked >= 0 ? ASKED_MS : REFRESH_MS);
		press(&s, getch());
		rc = look(&s, err);
	}
	endwin();
	delscreen(terminal);
	if (s.asked >= 0)
		close(s.asked);
	vprof_top_source_release(&s.source);
	vprof_session_release(&s.session);
	free(s.chosen);
	return rc;
}
