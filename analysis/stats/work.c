/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns are centred and scaled, so neither a large offset nor counters of different size cost digits. */
#include "analysis/stats/work.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdio.h>

#define BATCH_ROWS 512
#define RANK_LIMIT 1e-8 /* smallest singular value of the columns, as part of the largest, that counts */

void vprof_work_row(const struct vprof_work_model *m, const struct vprof_interval_attributes *attributes, size_t i,
		    double *row)
{
	for (size_t c = 0; c < m->n_columns; c++)
		row[c] = (attributes->amounts[i * attributes->n_counters + m->counter[c]] - m->mean[c]) / m->sd[c];
}

double vprof_work_adjusted(double r2, double n, size_t p)
{
	double adjusted;

	if (n < (double)p + 2)
		return NAN;
	adjusted = 1 - (1 - r2) * (n - 1) / (n - 1 - (double)p);
	return adjusted > 0 ? adjusted : 0;
}

double vprof_work_solve(const double *a, const double *c, size_t n, double *b)
{
	double copy[VPROF_COUNTERS_MAX * VPROF_COUNTERS_MAX], values[VPROF_COUNTERS_MAX];
	double vectors[VPROF_COUNTERS_MAX * VPROF_COUNTERS_MAX], space[4 * VPROF_COUNTERS_MAX], explained = 0;
	gsl_matrix_view matrix = gsl_matrix_view_array(copy, n, n), v = gsl_matrix_view_array(vectors, n, n);
	gsl_vector_view value = gsl_vector_view_array(values, n);
	gsl_eigen_symmv_workspace work = { n, space, space + n, space + 2 * n, space + 3 * n };

	memcpy(copy, a, n * n * sizeof *copy);
	memset(b, 0, n * sizeof *b);
	if (gsl_eigen_symmv(&matrix.matrix, &value.vector, &v.matrix, &work))
		return NAN; /* does not converge */
	gsl_eigen_symmv_sort(&value.vector, &v.matrix, GSL_EIGEN_SORT_VAL_DESC);
	for (size_t k = 0; k < n && values[k] > RANK_LIMIT * values[0] && values[k] > 0; k++) {
		double along = 0;

		for (size_t i = 0; i < n; i++)
			along += vectors[i * n + k] * c[i];
		for (size_t i = 0; i < n; i++)
			b[i] += vectors[i * n + k] * along / values[k];
	}
	for (size_t i = 0; i < n; i++)
		explained += b[i] * c[i];
	return explained;
}

/* Counters that vary become columns. */
static void make_columns(struct vprof_work_model *m, const struct vprof_interval_attributes *t)
{
	for (size_t c = 0; c < t->n_counters; c++) {
		double mean = 0, squares = 0;

		for (size_t i = 0; i < t->n; i++)
			mean += t->amounts[i * t->n_counters + c];
		mean /= (double)t->n;
		for (size_t i = 0; i < t->n; i++) {
			double d = t->amounts[i * t->n_counters + c] - mean;

			squares += d * d;
		}
		if (!(squares > 0) || t->n < 2)
			continue;
		m->counter[m->n_columns] = c;
		m->mean[m->n_columns] = mean;
		m->sd[m->n_columns++] = sqrt(squares / (double)(t->n - 1));
	}
}

/* Rows are folded into the triangle on top, R of QR = [columns | response], batch by batch. */
static int fold_rows(gsl_matrix *rows, const struct vprof_interval_attributes *t, const struct vprof_work_model *m,
		     double mean)
{
	size_t p = m->n_columns, width = p + 1, n = width;
	gsl_vector *tau = gsl_vector_alloc(width);

	if (!tau)
		return VPROF_ERR_NOMEM;
	gsl_matrix_set_zero(rows);
	for (size_t i = 0; i < t->n; i++) {
		double *row = gsl_matrix_ptr(rows, n++, 0);

		vprof_work_row(m, t, i, row);
		row[p] = t->ns[i] - mean;
		if (n < rows->size1 && i + 1 < t->n)
			continue;
		gsl_linalg_QR_decomp(rows, tau);
		for (size_t a = 0; a < rows->size1; a++)
			for (size_t b = 0; b < width && (a >= width || b < a); b++)
				gsl_matrix_set(rows, a, b, 0);
		n = width;
	}
	gsl_vector_free(tau);
	return 0;
}

/* Least squares of the triangle: slopes per sd of each column, and R^2; NaN where no solution is found. OK or NOMEM. */
static int fit(const struct vprof_interval_attributes *t, const struct vprof_work_model *m, double mean, double *slope,
	       double *with, double *r2)
{
	size_t p = m->n_columns, rank;
	gsl_matrix *rows = gsl_matrix_calloc(p + 1 + BATCH_ROWS, p + 1), *x = gsl_matrix_alloc(p + 1, p);
	gsl_vector *y = gsl_vector_alloc(p + 1), *b = gsl_vector_alloc(p);
	gsl_matrix *cov = gsl_matrix_alloc(p, p);
	gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(p + 1, p);
	double chisq, total = 0;
	int ret = VPROF_ERR_NOMEM;

	*r2 = NAN;
	if (!rows || !x || !y || !b || !cov || !work || fold_rows(rows, t, m, mean))
		goto out;
	for (size_t i = 0; i <= p; i++) {
		for (size_t k = 0; k < p; k++)
			gsl_matrix_set(x, i, k, gsl_matrix_get(rows, i, k));
		gsl_vector_set(y, i, gsl_matrix_get(rows, i, p));
		total += gsl_vector_get(y, i) * gsl_vector_get(y, i);
	}
	ret = 0;
	if (gsl_multifit_linear_tsvd(x, y, RANK_LIMIT, b, cov, &chisq, &rank, work))
		goto out;
	for (size_t k = 0; k < p; k++) {
		slope[k] = gsl_vector_get(b, k);
		with[k] = 0;
		for (size_t i = 0; i <= p; i++)
			with[k] += gsl_matrix_get(x, i, k) * gsl_vector_get(y, i);
	}
	*r2 = total > 0 ? 1 - chisq / total : 0;
out:
	gsl_matrix_free(rows);
	gsl_matrix_free(x);
	gsl_matrix_free(cov);
	gsl_vector_free(y);
	gsl_vector_free(b);
	if (work)
		gsl_multifit_linear_free(work);
	return ret;
}

static const char *counter_name(struct vprof_results *r, const char *text, uint64_t hash)
{
	char number[32];

	if (text)
		return vprof_results_string(r, text);
	snprintf(number, sizeof number, "counter %llx", (unsigned long long)hash);
	return vprof_results_string(r, number);
}

/* Places stay those of the counters until vprof_work_fill sorts. A counter that never varies explains nothing. */
static int name_counters(struct vprof_results *r, const struct vprof_interval_attributes *t)
{
	r->work = calloc(t->n_counters + 1, sizeof *r->work);
	if (!r->work)
		return VPROF_ERR_NOMEM;
	for (size_t c = 0; c < t->n_counters; c++) {
		struct vprof_work *w = &r->work[c];

		w->name = counter_name(r, t->counter_names[c], t->counters[c]);
		if (!w->name)
			return VPROF_ERR_NOMEM;
		r->n_work++;
		for (size_t i = 0; i < t->n; i++)
			w->mean += t->amounts[i * t->n_counters + c];
		w->mean /= (double)t->n;
		w->low = w->high = NAN;
	}
	return 0;
}

int vprof_work_fill(struct vprof_results *r, const struct vprof_interval_attributes *t, struct vprof_work_model *m)
{
	double slope[VPROF_COUNTERS_MAX], with[VPROF_COUNTERS_MAX], r2, adjusted;

	*m = (struct vprof_work_model){ 0 };
	r->work_share = r->work_low = r->work_high = NAN;
	r->n_worked = t->n_worked;
	if (!t->n_counters || !t->n)
		return 0;
	if (name_counters(r, t))
		return VPROF_ERR_NOMEM;
	make_columns(m, t);
	if (!m->n_columns || t->n < m->n_columns + 2 || !(r->var_ns2 > 0))
		return 0;
	if (fit(t, m, r->mean_ns, slope, with, &r2))
		return VPROF_ERR_NOMEM;
	if (isnan(r2))
		return 0;
	r->work_share = adjusted = vprof_work_adjusted(r2, (double)t->n, m->n_columns);
	for (size_t k = 0; k < m->n_columns; k++) {
		struct vprof_work *w = &r->work[m->counter[k]];
		double squares = (double)(t->n - 1) * r->var_ns2;

		w->sd = m->sd[k];
		w->ns_per_unit = slope[k] / m->sd[k];
		w->r = with[k] / sqrt(squares * (double)(t->n - 1));
		w->share = r2 > 0 ? slope[k] * with[k] / squares * adjusted / r2 : 0;
	}
	return 0;
}
