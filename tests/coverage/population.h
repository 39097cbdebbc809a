/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The planted values of a situation: figures of very many of its requests. */
#ifndef POPULATION_H
#define POPULATION_H

#include "situation.h"

#define COLUMNS_MAX (2 * PARTS_MAX + 1)

/* A part, what a function takes beside its parts, or (column 0) the latency. */
struct column {
	char name[48]; /* as in a factor's key, behind "v:" */
	int part, parent, is_body;
};

struct population {
	size_t n_columns;
	struct column columns[COLUMNS_MAX];
	double mean[COLUMNS_MAX];		     /* ns */
	double covariance[COLUMNS_MAX][COLUMNS_MAX]; /* ns^2 */
	double between;				     /* share of the variance between types */
	double work;				     /* ... that the work explains */
};

/* n_draws requests. */
void population_take(struct population *p, const struct situation *of, size_t n_draws);
/* The column that a factor with this key is, or the two of a covariance. Returns their number; 0: it is none of the
 * situation's. */
size_t population_find(const struct population *p, const char *key, int columns[2]);
/* Of the sum of these columns: Var(f) / Var(T), and 1 - Var(T - f) / Var(T). */
double population_share(const struct population *p, const int *columns, size_t n);
double population_if_constant(const struct population *p, const int *columns, size_t n);
/* 2 Cov / Var(T) */
double population_pair(const struct population *p, int a, int b);

#endif
