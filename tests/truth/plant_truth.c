/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The account of the ground-truth programs.
 *
 * Of what a request spent in a column the account knows bounds, low and high. Most differ by tens of nanoseconds; where
 * the program was preempted between two of its readings they are as far apart as that took. truth_write gives for
 * each share the least and the largest value that any times within these bounds have. No chance is in them. */
#include "plant.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LISTED_PAIR 0.01 /* least share of a pair that is worth comparing */

static struct plant_time *time_of(const struct truth *t, size_t row, int column)
{
	return &t->rows[row * (size_t)t->n_columns + (size_t)column];
}

double truth_value(const struct truth *t, size_t row, int column)
{
	const struct plant_time *took = time_of(t, row, column);

	return (double)took->low + (double)(took->high - took->low) / 2;
}

/* Columns whose times are summed: a bit for each. */
typedef uint64_t columns;
#define ONLY(column) ((columns)1 << (column))

static double sum_of(const struct truth *t, size_t row, columns set)
{
	double sum = 0;

	for (int i = 0; i < t->n_columns; i++)
		sum += set & ONLY(i) ? truth_value(t, row, i) : 0;
	return sum;
}

/* The latency without a set of its columns. */
static double rest_of(const struct truth *t, size_t row, columns set)
{
	return truth_value(t, row, 0) - sum_of(t, row, set);
}

/* How far it may be from that. */
static double unsure(const struct truth *t, size_t row, columns set)
{
	double sum = 0;

	for (int i = 0; i < t->n_columns; i++) {
		const struct plant_time *took = time_of(t, row, i);

		sum += set & ONLY(i) ? (double)(took->high - took->low) / 2 : 0;
	}
	return sum;
}

static double mean_of(const struct truth *t, columns set)
{
	double sum = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += sum_of(t, i, set);
	return sum / (double)t->n;
}

static double mean(const struct truth *t, int column)
{
	return mean_of(t, ONLY(column));
}

static double covariance(const struct truth *t, int a, int b)
{
	double mean_a = mean(t, a), mean_b = mean(t, b), sum = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += (truth_value(t, i, a) - mean_a) * (truth_value(t, i, b) - mean_b);
	return sum / (double)(t->n - 1);
}

/* By how much the covariance of times within the bounds may differ from that of the values halfway: with deviations d
 * and errors e, sum((d_a + e_a)(d_b + e_b)) less what the errors' means take, which is at most what they are. */
static double covariance_error(const struct truth *t, int a, int b)
{
	double mean_a = mean(t, a), mean_b = mean(t, b), sum = 0, e_a = 0, e_b = 0;

	for (size_t i = 0; i < t->n; i++) {
		double x = unsure(t, i, ONLY(a)), y = unsure(t, i, ONLY(b));

		sum += fabs(truth_value(t, i, a) - mean_a) * y + fabs(truth_value(t, i, b) - mean_b) * x + x * y;
		e_a += x;
		e_b += y;
	}
	return (sum + e_a * e_b / (double)t->n) / (double)(t->n - 1);
}

double truth_variance(const struct truth *t, int column)
{
	return covariance(t, column, column);
}

double truth_share(const struct truth *t, int column)
{
	return covariance(t, column, column) / covariance(t, 0, 0);
}

struct bounds {
	double low, share, high;
};

static struct bounds share_of(const struct truth *t, double part, double error)
{
	double all = covariance(t, 0, 0), all_error = covariance_error(t, 0, 0);
	double least = all > all_error ? all - all_error : all / 1e6, most = all + all_error;
	struct bounds b = { .share = part / all };

	b.low = part - error > 0 ? (part - error) / most : (part - error) / least;
	b.high = part + error > 0 ? (part + error) / least : (part + error) / most;
	return b;
}

static double away_of(const struct truth *t, size_t row, columns set)
{
	double sum = 0;

	for (int i = 0; i < t->n_columns; i++)
		sum += set & ONLY(i) ? (double)time_of(t, row, i)->away : 0;
	return sum;
}

/* The least variance that the part of a column's time may have for which the thread surely had the CPU. */
static double least_on_cpu(const struct truth *t, int column)
{
	double mean_value = 0, sum = 0, error = 0, errors = 0;

	for (size_t i = 0; i < t->n; i++)
		mean_value += (truth_value(t, i, column) - away_of(t, i, ONLY(column)) / 2) / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		double away = away_of(t, i, ONLY(column)) / 2, e = unsure(t, i, ONLY(column)) + away;
		double d = truth_value(t, i, column) - away - mean_value;

		sum += d * d;
		error += 2 * fabs(d) * e + e * e;
		errors += e;
	}
	sum -= error + errors * errors / (double)t->n;
	return sum > 0 ? sum / (double)(t->n - 1) : 0;
}

/* What would be left of the variance if these columns always took their mean, with the least and the most that it may
 * be; from it what would go. may_be_away: of the columns' time the part counts for which the thread had the CPU, so
 * all that is known is that up to `away` of it does not. */
static struct bounds if_constant(const struct truth *t, columns set, int may_be_away)
{
	double mean_rest = mean(t, 0) - mean_of(t, set), sum = 0, error = 0, errors = 0;
	struct bounds left;

	for (size_t i = 0; i < t->n && may_be_away; i++)
		mean_rest += away_of(t, i, set) / 2 / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		double away = may_be_away ? away_of(t, i, set) / 2 : 0;
		double d = rest_of(t, i, set) + away - mean_rest, e = unsure(t, i, set | ONLY(0)) + away;

		sum += d * d;
		error += 2 * fabs(d) * e + e * e;
		errors += e;
	}
	left = share_of(t, sum / (double)(t->n - 1), (error + errors * errors / (double)t->n) / (double)(t->n - 1));
	return (struct bounds){ .low = 1 - left.high, .share = 1 - left.share, .high = 1 - left.low };
}

static void write_if_constant(FILE *f, const struct bounds *b)
{
	fprintf(f, "\"if_constant\": %.6f, \"if_constant_low\": %.6f, \"if_constant_high\": %.6f, ", b->share, b->low,
		b->high);
}

void truth_bound_exactly(struct truth *t, int column)
{
	struct bounds share = share_of(t, covariance(t, column, column), covariance_error(t, column, column)),
		      constant = if_constant(t, ONLY(column), 0);

	t->exact_low = share.low;
	t->exact_high = share.high;
	t->exact_constant_low = constant.low;
	t->exact_constant_high = constant.high;
}

double truth_mean_ns(const struct truth *t, int column)
{
	return mean(t, column) / plant_ticks_per_ns;
}

static int value_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The shortest latency of the slowest hundredth. */
double truth_tail_from(const struct truth *t)
{
	double *sorted = malloc(t->n * sizeof *sorted), from;

	if (!sorted) {
		perror("truth_tail_from");
		exit(1);
	}
	for (size_t i = 0; i < t->n; i++)
		sorted[i] = truth_value(t, i, 0);
	qsort(sorted, t->n, sizeof *sorted, value_order);
	from = sorted[t->n - (t->n + 99) / 100];
	free(sorted);
	return from;
}

static double mean_of_part(const struct truth *t, int column, int is_slow)
{
	double from = truth_tail_from(t), sum = 0, n = 0;

	for (size_t i = 0; i < t->n; i++)
		if ((truth_value(t, i, 0) >= from) == is_slow) {
			sum += truth_value(t, i, column);
			n++;
		}
	return sum / n / plant_ticks_per_ns;
}

double truth_tail_ns(const struct truth *t, int column)
{
	return mean_of_part(t, column, 1);
}

double truth_rest_ns(const struct truth *t, int column)
{
	return mean_of_part(t, column, 0);
}

/* Cov(x, column) with n - 1 and Var(x). */
static double covariance_with(const struct truth *t, int column, const uint32_t *x, double *variance)
{
	double mean_x = 0, mean_t = mean(t, column), sum = 0, squares = 0;

	for (size_t i = 0; i < t->n; i++)
		mean_x += (double)x[i] / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		sum += ((double)x[i] - mean_x) * (truth_value(t, i, column) - mean_t);
		squares += ((double)x[i] - mean_x) * ((double)x[i] - mean_x);
	}
	*variance = squares / (double)(t->n - 1);
	return sum / (double)(t->n - 1);
}

double truth_slope_ns(const struct truth *t, const uint32_t *x)
{
	double variance, c = covariance_with(t, 0, x, &variance);

	return c / variance / plant_ticks_per_ns;
}

double truth_explained(const struct truth *t, int column, const uint32_t *x)
{
	double variance, c = covariance_with(t, column, x, &variance);

	return c * c / variance / covariance(t, column, column);
}

double truth_between(const struct truth *t, int column, const uint32_t *kind, uint32_t n_kinds)
{
	double all = mean(t, column), between = 0;

	for (uint32_t k = 0; k < n_kinds; k++) {
		double sum = 0, n = 0;

		for (size_t i = 0; i < t->n; i++)
			if (kind[i] == k) {
				sum += truth_value(t, i, column) - all;
				n++;
			}
		between += n > 0 ? sum * sum / n : 0;
	}
	return between / (double)(t->n - 1) / covariance(t, column, column);
}

static void write_figures(FILE *f, const struct truth_figure *figures)
{
	const char *comma = "";

	fputs(" \"figures\": [", f);
	for (int i = 0; i < TRUTH_MAX_FIGURES && figures[i].key; i++) {
		fprintf(f, "%s\n  {", comma);
		if (figures[i].list)
			fprintf(f, "\"list\": \"%s\", \"item\": \"%s\", ", figures[i].list, figures[i].item);
		fprintf(f,
			"\"key\": \"%s\", \"of\": %.9g, \"preempted\": %.6f, \"preempted_rest\": %.6f, \"share\": %.6f}",
			figures[i].key, figures[i].of, figures[i].preempted, figures[i].preempted_rest,
			figures[i].share);
		comma = ",";
	}
	fputs("],\n", f);
}

static int is_same(const struct truth_column *a, const struct truth_column *b)
{
	return !strcmp(a->name, b->name) && (a->flags & TRUTH_BLAME) == (b->flags & TRUTH_BLAME);
}

/* One more than the highest function that it calls. */
static int height_of(const struct truth *t, int column)
{
	int height = t->columns[column].beneath;

	for (int j = 1; j < t->n_columns; j++)
		if (t->columns[j].parent == column && !(t->columns[j].flags & (TRUTH_BLAME | TRUTH_PREEMPTED))) {
			int part = height_of(t, j) + 1;

			height = part > height ? part : height;
		}
	return height;
}

/* All columns of its name that lie in no other of them; of both kinds, own work and blame, if `is_together`. */
static columns places_of(const struct truth *t, int column, int is_together)
{
	const struct truth_column *c = &t->columns[column];
	columns all = 0, outermost = 0;

	for (int i = 0; i < t->n_columns; i++)
		if (is_together ? !strcmp(c->name, t->columns[i].name) : is_same(c, &t->columns[i]))
			all |= ONLY(i);
	for (int i = 0; i < t->n_columns; i++) {
		int above = t->columns[i].parent;

		while (above > 0 && !(all & ONLY(above)))
			above = t->columns[above].parent;
		if (all & ONLY(i) && above <= 0)
			outermost |= ONLY(i);
	}
	return outermost;
}

static int has_parts(const struct truth *t, const struct truth_column *c)
{
	for (int i = 1; i < t->n_columns; i++)
		if (!(t->columns[i].flags & TRUTH_PREEMPTED) && is_same(c, &t->columns[t->columns[i].parent]))
			return 1;
	return 0;
}

/* Column i and all of its name after it. */
static void write_factor(FILE *f, const struct truth *t, int i)
{
	const struct truth_column *c = &t->columns[i];
	double part = 0, error = 0, at_least = 0, at_most = 0, on_cpu = 0;
	int height = 0, flags = 0;
	struct bounds b, own = { 0, 0, 0 }, constant;

	for (int j = i; j < t->n_columns; j++) {
		if (!is_same(c, &t->columns[j]))
			continue;
		part += covariance(t, j, j);
		error += covariance_error(t, j, j);
		on_cpu += least_on_cpu(t, j);
		for (size_t k = 0; k < t->n; k++) {
			at_least += (double)time_of(t, k, j)->low;
			at_most += (double)time_of(t, k, j)->high;
		}
		height = height_of(t, j) > height ? height_of(t, j) : height;
		flags |= t->columns[j].flags;
	}
	b = share_of(t, part, error);
	if (flags & TRUTH_SAMPLED) {
		b.low += t->sampled_low - b.share;
		b.high += t->sampled_high - b.share;
		own = (struct bounds){ .low = t->own_low - error / covariance(t, 0, 0),
				       .high = t->own_high + error / covariance(t, 0, 0) };
	}
	fprintf(f, "%s\n  {", i ? "," : "");
	if (flags & TRUTH_SAMPLED)
		fprintf(f,
			"\"own_low\": %.6f, \"own_high\": %.6f, \"exact_low\": %.6f, \"exact_high\": %.6f, "
			"\"exact_if_constant_low\": %.6f, \"exact_if_constant_high\": %.6f, \"undivided_high\": %.6f, ",
			own.low, own.high, t->exact_low, t->exact_high, t->exact_constant_low, t->exact_constant_high,
			t->undivided_high);
	if (c->flags & TRUTH_BLAME)
		fprintf(f, "\"beneath\": \"%s\", ", t->columns[c->parent].name);
	constant = if_constant(t, places_of(t, i, 0), 0);
	if (flags & TRUTH_SAMPLED) {
		constant.low += t->constant_low - constant.share;
		constant.high += t->constant_high - constant.share;
	}
	write_if_constant(f, &constant);
	constant = if_constant(t, places_of(t, i, 1), 0);
	if (places_of(t, i, 1) != places_of(t, i, 0))
		fprintf(f, "\"together_low\": %.6f, \"together_high\": %.6f, ", constant.low, constant.high);
	constant = if_constant(t, places_of(t, i, 1), 1);
	if (flags & TRUTH_SAMPLED) {
		constant.low += t->constant_low - constant.share;
		constant.high += t->constant_high - constant.share;
	}
	fprintf(f, "\"cause_low\": %.6f, \"cause_high\": %.6f, \"on_cpu_low\": %.6f, ", constant.low, constant.high,
		on_cpu / (covariance(t, 0, 0) + covariance_error(t, 0, 0)));
	fprintf(f,
		"\"factor\": \"%s\", \"is_interval\": %d, \"is_blame\": %d, \"is_planted\": %d, \"is_wait\": %d, \"is_sampled\": %d, "
		"\"is_preempted\": %d, \"has_parts\": %d, "
		"\"height\": %d, \"share\": %.6f, \"low\": %.6f, \"high\": %.6f, \"mean_low_ns\": %.1f, \"mean_high_ns\": %.1f, "
		"\"variance_ns2\": %.9g}",
		c->name, !i, !!(flags & TRUTH_BLAME), !!(flags & TRUTH_PLANTED), !!(flags & TRUTH_WAIT),
		!!(flags & TRUTH_SAMPLED), !!(flags & TRUTH_PREEMPTED), has_parts(t, c), height, b.share, b.low, b.high,
		at_least / (double)t->n / plant_ticks_per_ns, at_most / (double)t->n / plant_ticks_per_ns,
		part / plant_ticks_per_ns / plant_ticks_per_ns);
}

static int is_unique(const struct truth *t, int i)
{
	for (int j = 0; j < t->n_columns; j++)
		if (j != i && is_same(&t->columns[i], &t->columns[j]))
			return 0;
	return 1;
}

static int is_pair(const struct truth *t, const struct truth_answer *answer, int i, int j)
{
	const char *x = t->columns[i].name, *y = t->columns[j].name;

	return answer->a && answer->b &&
	       ((!strcmp(x, answer->a) && !strcmp(y, answer->b)) || (!strcmp(x, answer->b) && !strcmp(y, answer->a)));
}

/* Siblings that move together: of functions only, each of which stands in one place. */
static void write_pairs(FILE *f, const struct truth *t, const struct truth_answer *answer)
{
	const char *comma = "";
	const int left_out = TRUTH_BLAME | TRUTH_SAMPLED | TRUTH_PREEMPTED | TRUTH_APART;

	fputs(" \"pairs\": [", f);
	for (int i = 1; i < t->n_columns; i++) {
		for (int j = i + 1; j < t->n_columns; j++) {
			struct bounds b = share_of(t, 2 * covariance(t, i, j), 2 * covariance_error(t, i, j));
			struct bounds constant = if_constant(t, ONLY(i) | ONLY(j), 0);

			if (t->columns[i].parent != t->columns[j].parent || !is_unique(t, i) || !is_unique(t, j) ||
			    (t->columns[i].flags | t->columns[j].flags) & left_out ||
			    (fabs(b.share) < LISTED_PAIR && !is_pair(t, answer, i, j)))
				continue;
			fprintf(f, "%s\n  {", comma);
			write_if_constant(f, &constant);
			fprintf(f,
				"\"factor\": [\"%s\", \"%s\"], \"is_planted\": %d, \"share\": %.6f, \"low\": %.6f, "
				"\"high\": %.6f}",
				t->columns[i].name, t->columns[j].name, is_pair(t, answer, i, j), b.share, b.low,
				b.high);
			comma = ",";
		}
	}
	fputs("],\n", f);
}

static void write_preempted(FILE *f, const struct truth *t)
{
	double latency = mean(t, 0) * (double)t->n / plant_ticks_per_ns;

	fprintf(f, " \"preempted_share\": %.6f,\n", latency > t->cpu_ns ? 1 - t->cpu_ns / latency : 0);
}

/* The variance of latencies less the time in which others may have had the CPU, of that of latencies. */
static double calm_share(const struct truth *t)
{
	double calm_mean = 0, sum = 0;

	for (size_t i = 0; i < t->n; i++)
		calm_mean += (truth_value(t, i, 0) - away_of(t, i, ONLY(0))) / (double)t->n;
	for (size_t i = 0; i < t->n; i++) {
		double d = truth_value(t, i, 0) - away_of(t, i, ONLY(0)) - calm_mean;

		sum += d * d;
	}
	return sum / (double)(t->n - 1) / covariance(t, 0, 0);
}

/* Does column i stand for all that was done in it? A wait does, whoever it was for. */
static int is_leaf(const struct truth *t, int i)
{
	if (t->columns[i].flags & TRUTH_WAIT)
		return 1;
	for (int j = 1; j < t->n_columns; j++)
		if (t->columns[j].parent == i && !(t->columns[j].flags & TRUTH_PREEMPTED))
			return 0;
	return 1;
}

/* The leaves that lie in no other: what the account knows of a request, each time once. */
static columns leaves_of(const struct truth *t)
{
	columns leaves = 0;

	for (int i = 1; i < t->n_columns; i++) {
		int above = t->columns[i].parent;

		while (above > 0 && !is_leaf(t, above))
			above = t->columns[above].parent;
		if (above <= 0 && is_leaf(t, i) && !(t->columns[i].flags & (TRUTH_BLAME | TRUTH_PREEMPTED)))
			leaves |= ONLY(i);
	}
	return leaves;
}

/* The largest share that anything in no column can have: it took no longer than what the columns leave of each request,
 * and the variance of such times is at most their mean square. A system call that the machine held up is there. */
static double most_elsewhere(const struct truth *t)
{
	columns leaves = leaves_of(t);
	double sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		double rest = rest_of(t, i, leaves) + unsure(t, i, leaves | ONLY(0));

		sum += rest > 0 ? rest * rest : 0;
	}
	return share_of(t, sum / (double)(t->n - 1), 0).high;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* The rows, for an account of some of them. 0, or -1 with errno. */
static int write_rows(const struct truth *t, const struct truth_answer *answer, const char *folder)
{
	struct plant_rows h = { .magic = PLANT_ROWS_MAGIC,
				.n_columns = (uint32_t)t->n_columns,
				.n = t->n,
				.ticks_per_ns = plant_ticks_per_ns,
				.begin_unix_ns = plant_start_unix_ns,
				.has_untimed = answer->has_untimed };
	uint64_t now_ticks = PLANT_NOW();
	struct timespec now;
	char path[4096];
	FILE *f;

	clock_gettime(CLOCK_REALTIME, &now);
	h.end_unix_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	snprintf(h.interval, sizeof h.interval, "%s", answer->interval ? answer->interval : "request");
	snprintf(h.a, sizeof h.a, "%s", or_empty(answer->a));
	snprintf(h.b, sizeof h.b, "%s", or_empty(answer->b));
	snprintf(path, sizeof path, "%s/%llu.%ld", folder, (unsigned long long)h.begin_unix_ns, (long)getpid());
	f = fopen(path, "wb");
	if (!f)
		return -1;
	fwrite(&h, sizeof h, 1, f);
	for (int i = 0; i < t->n_columns; i++) {
		const struct truth_column *c = &t->columns[i];
		struct plant_rows_column column = { "", c->parent, c->flags, c->beneath };

		snprintf(column.name, sizeof column.name, "%s", c->name);
		fwrite(&column, sizeof column, 1, f);
	}
	for (size_t i = 0; i < t->n; i++) {
		uint64_t ago = (uint64_t)((double)(now_ticks - t->begins[i]) / plant_ticks_per_ns);
		uint64_t which[2] = { t->id_of ? t->id_of(t, i) : i + 1, t->begins[i] ? h.end_unix_ns - ago : 0 };

		fwrite(which, sizeof which, 1, f);
	}
	fwrite(t->rows, sizeof *t->rows, t->n * (size_t)t->n_columns, f);
	if (ferror(f)) {
		fclose(f);
		return -1;
	}
	return fclose(f);
}

int truth_write(struct truth *t, const struct truth_answer *answer)
{
	const char *rows = getenv("TRUTH_ROWS");
	const char *path = getenv("TRUTH_OUT");
	FILE *f;

	if (rows && *rows && write_rows(t, answer, rows)) {
		fprintf(stderr, "cannot write the rows to %s: %s\n", rows, strerror(errno));
		return 1;
	}
	if (!path || !*path)
		path = "truth.json";
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
		return 1;
	}
	fprintf(f, "{\"interval\": \"%s\", \"n\": %zu,\n", answer->interval ? answer->interval : "request", t->n);
	fprintf(f, " \"calm_share\": %.6f,\n", calm_share(t));
	fprintf(f, " \"elsewhere_high\": %.6f,\n", answer->has_untimed ? 0 : most_elsewhere(t));
	fprintf(f, " \"has_untimed\": %d,\n", answer->has_untimed);
	if (answer->has_preempted)
		write_preempted(f, t);
	write_figures(f, answer->figures);
	write_pairs(f, t, answer);
	fputs(" \"factors\": [", f);
	for (int i = 0; i < t->n_columns; i++) {
		int first = 0;

		while (!is_same(&t->columns[first], &t->columns[i]))
			first++;
		if (first == i)
			write_factor(f, t, i);
	}
	fputs("]}\n", f);
	free(t->rows);
	free(t->begins);
	t->rows = NULL;
	t->begins = NULL;
	return fclose(f) ? 1 : 0;
}
