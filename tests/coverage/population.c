/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "population.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SEED UINT64_C(0x5eed0fa11)
#define TYPES_MAX 3

/* Sums over draws, about the values of the first one. */
struct sums {
	double at[COLUMNS_MAX], sum[COLUMNS_MAX], product[COLUMNS_MAX][COLUMNS_MAX];
	double type_n[TYPES_MAX], type_sum[TYPES_MAX];
	double work, work_square, work_product;
};

static int add_column(struct population *p, int part, int parent, int is_body, const char *name)
{
	struct column *c = &p->columns[p->n_columns];

	assert_true(p->n_columns < COLUMNS_MAX);
	*c = (struct column){ .part = part, .parent = parent, .is_body = is_body };
	snprintf(c->name, sizeof c->name, "%s", name);
	return (int)p->n_columns++;
}

static void name_part(const struct part *part, char *name, size_t size)
{
	if (part->kind == PART_WAIT)
		snprintf(name, size, "pthread_mutex_lock");
	else if (part->kind == PART_PREEMPTED)
		snprintf(name, size, "preempted");
	else if (part->kind == PART_QUEUED)
		snprintf(name, size, "queued");
	else
		snprintf(name, size, "%sf%u", part->kind == PART_BENEATH ? "beneath:" : "", part->function);
}

/* Columns of a part and its parts, parents first; a body is the last of its siblings. */
static void add_part(struct population *p, const struct situation *of, int part, int parent)
{
	int column = 0, has_parts = 0;
	char name[40], body[48];

	name_part(&of->parts[part], name, sizeof name);
	column = add_column(p, part, parent, 0, name);
	for (int i = part + 1; i < (int)of->n_parts; i++)
		if (of->parts[i].parent == part) {
			add_part(p, of, i, column);
			has_parts = 1;
		}
	snprintf(body, sizeof body, "body of %s", name);
	if (has_parts && of->parts[part].kind == PART_FUNCTION)
		add_column(p, part, column, 1, body);
}

static double value(const struct population *p, const struct situation *of, const struct request *r, size_t column)
{
	const struct column *c = &p->columns[column];

	if (c->part < 0)
		return request_latency(of, r);
	return c->is_body ? r->own[c->part] : request_part(of, r, (size_t)c->part);
}

static void add_draw(struct sums *s, const struct population *p, const struct request *r, const double *x)
{
	double d[COLUMNS_MAX];

	for (size_t i = 0; i < p->n_columns; i++) {
		d[i] = x[i] - s->at[i];
		s->sum[i] += d[i];
		for (size_t k = 0; k <= i; k++)
			s->product[i][k] += d[i] * d[k];
	}
	s->type_n[r->type]++;
	s->type_sum[r->type] += d[0];
	s->work += r->work;
	s->work_square += (double)r->work * r->work;
	s->work_product += r->work * d[0];
}

static void finish(struct population *p, const struct sums *s, double n)
{
	double work_variance = s->work_square - s->work * s->work / n,
	       with_work = s->work_product - s->work * s->sum[0] / n;

	for (size_t i = 0; i < p->n_columns; i++) {
		p->mean[i] = s->at[i] + s->sum[i] / n;
		for (size_t k = 0; k <= i; k++)
			p->covariance[i][k] = p->covariance[k][i] = (s->product[i][k] - s->sum[i] * s->sum[k] / n) / n;
	}
	p->between = -s->sum[0] * s->sum[0] / n;
	for (int t = 0; t < TYPES_MAX; t++)
		p->between += s->type_n[t] > 0 ? s->type_sum[t] * s->type_sum[t] / s->type_n[t] : 0;
	p->between /= n * p->covariance[0][0];
	p->work = work_variance > 0 ? with_work * with_work / work_variance / n / p->covariance[0][0] : NAN;
}

void population_take(struct population *p, const struct situation *of, size_t n_draws)
{
	double x[COLUMNS_MAX];
	struct stream stream;
	struct sums s;

	memset(p, 0, sizeof *p);
	memset(&s, 0, sizeof s);
	add_column(p, -1, -1, 0, "");
	for (int i = 0; i < (int)of->n_parts; i++)
		if (of->parts[i].parent < 0)
			add_part(p, of, i, 0);
	stream_start(&stream, of, SEED);
	for (size_t i = 0; i < n_draws; i++) {
		struct request r;

		memset(&r, 0, sizeof r);
		of->draw(&stream, &r);
		for (size_t k = 0; k < p->n_columns; k++)
			x[k] = value(p, of, &r, k);
		if (!i)
			memcpy(s.at, x, sizeof s.at);
		add_draw(&s, p, &r, x);
	}
	finish(p, &s, (double)n_draws);
}

static int column_of(const struct population *p, const char *name, size_t length)
{
	for (size_t i = 1; i < p->n_columns; i++)
		if (strlen(p->columns[i].name) == length && !memcmp(p->columns[i].name, name, length))
			return (int)i;
	return -1;
}

size_t population_find(const struct population *p, const char *key, int columns[2])
{
	const char *name = key + 2, *bar = strchr(name, '|');

	columns[0] = column_of(p, name, bar ? (size_t)(bar - name) : strlen(name));
	columns[1] = bar ? column_of(p, bar + 1, strlen(bar + 1)) : 0;
	return columns[0] < 0 || columns[1] < 0 ? 0 : bar ? 2 : 1;
}

double population_share(const struct population *p, const int *columns, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			sum += p->covariance[columns[i]][columns[k]];
	return sum / p->covariance[0][0];
}

double population_if_constant(const struct population *p, const int *columns, size_t n)
{
	double with_latency = 0;

	for (size_t i = 0; i < n; i++)
		with_latency += p->covariance[columns[i]][0];
	return 2 * with_latency / p->covariance[0][0] - population_share(p, columns, n);
}

double population_pair(const struct population *p, int a, int b)
{
	return 2 * p->covariance[a][b] / p->covariance[0][0];
}
