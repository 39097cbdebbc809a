/* SPDX-License-Identifier: GPL-3.0-or-later */
/* join_rows INTERVALS.csv ROWS...: the account (TRUTH_OUT) of the intervals that an analysis counted, by what the
 * programs that ran one after the other wrote of all of theirs (plant.h, plant_rows).
 *
 * INTERVALS.csv is what vprof export csv-intervals writes. An interval is the row with its id of the process that ran
 * when it began, or where ids are used again the row that began then. Of a function most of whose calls nobody times
 * (TRUTH_SAMPLED) the account has what all calls took: which ones were timed, this does not know (check_truth has to
 * allow for it). Only of its own time without what was preempted, which the rows do not tell apart, it allows five
 * hundredths to either side. Figures of other views are left out. Exit status 1: an interval that was counted has no
 * row, or none was counted; 2: a file cannot be read.
 */
#include "plant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_TOLERANCE 0.05
#define MAX_COLUMNS 64
#define CLOCKS_NS 1000000

struct process {
	struct plant_rows h;
	struct plant_rows_column *columns;
	uint64_t (*which)[2]; /* id; begin, Unix ns or 0 */
	struct plant_time *rows;
};

static void die(const char *path, const char *why)
{
	fprintf(stderr, "join_rows: %s: %s\n", path, why);
	exit(2);
}

static void *read_items(FILE *f, const char *path, size_t n, size_t size)
{
	void *items = calloc(n + 1, size);

	if (!items || fread(items, size, n, f) != n)
		die(path, "too short");
	return items;
}

static void read_process(struct process *p, const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f || fread(&p->h, sizeof p->h, 1, f) != 1 || p->h.magic != PLANT_ROWS_MAGIC ||
	    p->h.n_columns > MAX_COLUMNS)
		die(path, "no rows");
	p->columns = read_items(f, path, p->h.n_columns, sizeof *p->columns);
	p->which = read_items(f, path, p->h.n, sizeof *p->which);
	p->rows = read_items(f, path, p->h.n * p->h.n_columns, sizeof *p->rows);
	fclose(f);
}

/* Its row, or of rows that tell when they began, the nearest to `unix_ns`: the clocks are read a little apart. */
static const struct plant_time *row_in(const struct process *p, uint64_t unix_ns, uint64_t id)
{
	const struct plant_time *nearest = NULL;
	uint64_t best = CLOCKS_NS;

	for (size_t k = 0; k < p->h.n; k++) {
		uint64_t began = p->which[k][1], off = began > unix_ns ? began - unix_ns : unix_ns - began;
		const struct plant_time *row = &p->rows[k * p->h.n_columns];

		if (!began && p->which[k][0] == id)
			return row;
		if (began && off < best) {
			best = off;
			nearest = row;
		}
	}
	return nearest;
}

static const struct plant_time *row_of(const struct process *processes, int n, uint64_t unix_ns, uint64_t id)
{
	for (int i = 0; i < n; i++) {
		const struct process *p = &processes[i];
		const struct plant_time *row = NULL;

		if (unix_ns >= p->h.begin_unix_ns && unix_ns <= p->h.end_unix_ns)
			row = row_in(p, unix_ns, id);
		if (row)
			return row;
	}
	return NULL;
}

/* Which field of a line has this name; fields before those that are looked for hold no commas. */
static int place_of(const char *line, const char *name)
{
	int place = 0;

	for (const char *at = line; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL, place++)
		if (!strncmp(at, name, strlen(name)) && strchr(",\r\n", at[strlen(name)]))
			return place;
	die("INTERVALS.csv", name);
	return -1;
}

static uint64_t field(const char *line, int place)
{
	while (place--) {
		line = strchr(line, ',');
		if (!line)
			die("INTERVALS.csv", "a line is too short");
		line++;
	}
	return strtoull(line, NULL, 10);
}

static void add_counted(struct truth *t, const struct process *processes, int n, const char *csv)
{
	FILE *f = fopen(csv, "r");
	char line[4096];
	int id, at, analysed;

	if (!f || !fgets(line, sizeof line, f))
		die(csv, "cannot be read");
	id = place_of(line, "id");
	at = place_of(line, "begin_unix_ns");
	analysed = place_of(line, "analysed");
	while (fgets(line, sizeof line, f)) {
		const struct plant_time *row = row_of(processes, n, field(line, at), field(line, id));

		if (!field(line, analysed))
			continue;
		if (!row) {
			fprintf(stderr, "join_rows: no process tells of the interval %llu\n",
				(unsigned long long)field(line, id));
			exit(1);
		}
		truth_add(t, row);
	}
	fclose(f);
}

/* By all calls: the rows have them. */
static void bound_sampled(struct truth *t)
{
	for (int i = 0; i < t->n_columns; i++) {
		if (!(t->columns[i].flags & TRUTH_SAMPLED))
			continue;
		truth_bound_exactly(t, i);
		t->sampled_low = t->exact_low;
		t->sampled_high = t->exact_high;
		t->own_low = t->exact_low - OWN_TOLERANCE;
		t->own_high = t->exact_high + OWN_TOLERANCE;
		t->constant_low = t->exact_constant_low;
		t->constant_high = t->exact_constant_high;
	}
}

int main(int argc, char **argv)
{
	int n = argc - 2;
	struct process *processes = calloc((size_t)(n > 0 ? n : 1), sizeof *processes);
	struct truth_column columns[MAX_COLUMNS];
	struct truth_answer answer = { 0 };
	const struct process *first = processes;
	struct truth t;
	size_t n_rows = 0;

	if (n < 1 || !processes) {
		fputs("usage: join_rows INTERVALS.csv ROWS...\n", stderr);
		return 2;
	}
	for (int i = 0; i < n; i++) {
		read_process(&processes[i], argv[i + 2]);
		n_rows += processes[i].h.n;
	}
	for (uint32_t i = 0; i < first->h.n_columns; i++)
		columns[i] = (struct truth_column){ first->columns[i].name, first->columns[i].parent,
						    first->columns[i].flags, first->columns[i].beneath };
	plant_ticks_per_ns = first->h.ticks_per_ns;
	truth_open(&t, (int)first->h.n_columns, columns, n_rows);
	add_counted(&t, processes, n, argv[1]);
	if (t.n < 2) {
		fputs("join_rows: no interval was counted\n", stderr);
		return 1;
	}
	bound_sampled(&t);
	answer = (struct truth_answer){ .interval = first->h.interval,
					.a = *first->h.a ? first->h.a : NULL,
					.b = *first->h.b ? first->h.b : NULL,
					.has_untimed = first->h.has_untimed };
	return truth_write(&t, &answer);
}
