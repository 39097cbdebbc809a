/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a round is repeated, and when that ends: on results made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/results/repeat.h"

struct fixture {
	struct vprof_results r;
	struct vprof_factor factors[3];
	struct vprof_cause causes[2];
};

static const uint32_t of_first[] = { 0, 1 }, of_second[] = { 2 };

static void set_bounds(struct vprof_factor *f, double low, double high)
{
	f->share_low = low;
	f->share_high = high;
}

/* hold and its part flush are one cause, which may be due to chance; all three shares are known well */
static struct fixture results_of(uint64_t n_runs)
{
	struct fixture f = {
		.r = { .n_runs = n_runs, .threshold = 0.02, .n_selected = 3, .n_factors = 3, .n_causes = 2 },
		.factors = { { .name = "hold" }, { .name = "flush" }, { .name = "parse" } },
		.causes = { { .factors = of_first, .n_factors = 2, .if_constant = 0.6, .if_constant_low = 0 },
			    { .factors = of_second, .n_factors = 1, .if_constant = 0.1, .if_constant_low = 0 } },
	};

	set_bounds(&f.factors[0], 0.5, 0.68);
	set_bounds(&f.factors[1], 0.3, 0.4);
	set_bounds(&f.factors[2], 0, 0.2);
	return f;
}

static enum vprof_repeat judge(struct fixture *f, size_t n_max)
{
	f->r.factors = f->factors;
	f->r.causes = f->causes;
	return vprof_repeat_judge(&f->r, n_max);
}

/* Fewer runs than tell how runs differ are never enough, however narrow their bounds. */
static void few_runs_tell_nothing(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < VPROF_REPEATS_MIN; n++) {
		struct fixture f = results_of(n);

		f.causes[0].status = f.causes[1].status = VPROF_CAUSE_SETTLED;
		assert_int_equal(judge(&f, VPROF_REPEATS_MAX), VPROF_REPEAT_MORE);
		assert_int_equal(judge(&f, n), VPROF_REPEAT_SPENT);
	}
}

static void narrow_bounds_are_known(void **state)
{
	struct fixture f = results_of(4);

	(void)state;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_KNOWN);
	assert_true(vprof_repeat_is_narrow(&f.r));
	assert_ptr_equal(vprof_repeat_widest(&f.r), &f.factors[2]);
	f.r.inconclusive = 1; /* for another reason than these bounds */
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.r.n_runs = 8;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_SPENT);
	f.r.inconclusive = 0;
	f.r.n_selected = 0; /* nothing is above the threshold */
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_KNOWN);
	assert_null(vprof_repeat_widest(&f.r));
}

/* A part of a settled cause need not be known: which share fdatasync has of what save_snapshot does, another drill-down
 * may ask. Settled within one run is not settled. */
static void a_settled_cause_is_known(void **state)
{
	struct fixture f = results_of(4);

	(void)state;
	set_bounds(&f.factors[1], 0, 0.5);
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.causes[1].status = VPROF_CAUSE_SETTLED; /* another one */
	f.causes[0].status = VPROF_CAUSE_SETTLED_HERE;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.causes[0].status = VPROF_CAUSE_SETTLED;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_KNOWN);
	assert_false(vprof_repeat_is_narrow(&f.r));
	assert_ptr_equal(vprof_repeat_widest(&f.r), &f.factors[1]);
	set_bounds(&f.factors[2], 0, 0.3); /* less wide, but what is not known comes first */
	f.causes[1].status = VPROF_CAUSE_CANDIDATE;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	assert_ptr_equal(vprof_repeat_widest(&f.r), &f.factors[2]);
	f.r.n_runs = 8;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_SPENT);
}

/* By hand: t(3) = 3.182, t(5) = 2.571, t(7) = 2.365; eight runs give bounds of at least 2.365 / sqrt 56 : 3.182 / sqrt
 * 12 = 0.344 of the width of four, and 0.673 of six: narrower than 0.2 from 0.581 and 0.297. */
static void what_cannot_be_known_is_given_up(void **state)
{
	struct fixture f = results_of(4);

	(void)state;
	f.factors[0].share_low = 0.1; /* 58 points: might be narrow after eight runs */
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.factors[0].share_low = 0.09;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE); /* 0.6 - 0.344 * 0.6 > 0.3: the cause might be settled */
	f.causes[0].if_constant_low = -0.28;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_FUTILE); /* 0.6 - 0.344 * 0.88 < 0.3 */
	assert_int_equal(judge(&f, 100), VPROF_REPEAT_MORE); /* a hundred runs tell more than eight */
	set_bounds(&f.factors[2], 0, 0.3);		     /* another one might become known: it is worth going on */
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.factors[2].share_high = 0.2;
	f.r.n_runs = 6;
	f.causes[0].if_constant_low = 0.1;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_FUTILE); /* 0.6 - 0.673 * 0.5 < 0.3 */
	set_bounds(&f.factors[0], 0.4, 0.69);
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.factors[0].share_high = 0.7;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_FUTILE);
	f.causes[0].if_constant_low = 0.2;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.causes[0].kind = VPROF_CAUSE_UNDIVIDED; /* never settled */
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_FUTILE);
	f.r.n_causes = 0;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_FUTILE);
	set_bounds(&f.factors[0], NAN, NAN); /* bounds that are not known exclude nothing */
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_MORE);
	f.r.n_runs = 8;
	assert_int_equal(judge(&f, 8), VPROF_REPEAT_SPENT);
}

/* Whatever the runs tell, a round ends: looks at 4, 6 and 8 runs. */
static void repeating_ends(void **state)
{
	static const size_t looks[] = { 4, 6, 8 };
	struct fixture f = results_of(1);
	size_t n = 0;

	(void)state;
	set_bounds(&f.factors[0], NAN, NAN);
	while (judge(&f, VPROF_REPEATS_MAX) == VPROF_REPEAT_MORE) {
		f.r.n_runs = vprof_repeat_next(f.r.n_runs, VPROF_REPEATS_MAX);
		assert_true(n < 3);
		assert_int_equal(f.r.n_runs, looks[n++]);
	}
	assert_int_equal(n, 3);
	assert_int_equal(vprof_repeat_next(4, 5), 5);
	assert_int_equal(vprof_repeat_next(1, 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_runs_tell_nothing),    cmocka_unit_test(narrow_bounds_are_known),
		cmocka_unit_test(a_settled_cause_is_known), cmocka_unit_test(what_cannot_be_known_is_given_up),
		cmocka_unit_test(repeating_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
