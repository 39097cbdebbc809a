/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/known.h"

#include "tests/simulate/schedule/hot.h"
#include "tests/simulate/schedule/programs.h"

#define FEW 1000 /* intervals */

/* Without counting what occurs on its path: compare.c does. */
static void find_uncounted(struct truth *t, struct world *w, const struct sim_instance *i)
{
	uint64_t uncounted[COVER_COUNT] = { 0 }, *coverage = w->coverage;

	w->coverage = uncounted;
	truth_find(t, w, i);
	w->coverage = coverage;
}

/* What was begun again lost its id to the interval: it goes with it. */
static void set_apart(const struct world *w, struct sim_instance *i)
{
	i->is_apart = true;
	for (struct sim_instance *before = i->older; before; before = before->older) {
		if (before->id != i->id || before->name != i->name || (w->shares_ids && before->process != i->process))
			continue;
		if (!before->is_restarted)
			break;
		before->is_apart = true;
	}
}

void known_choose(struct world *w)
{
	struct truth truth = { 0 };

	truth_prepare(w);
	for (struct sim_instance *i = w->instances; i; i = i->older) {
		enum truth_loss loss;

		if (!i->is_complete || i->is_before_trace || i->name != records_hash("request") ||
		    !windows_contain(w, i->begin))
			continue;
		loss = truth_loss(w, i);
		if (loss == TRUTH_LOSSY) /* the analysis has to leave it out itself */
			continue;
		if (loss == TRUTH_NO_LOSS) {
			find_uncounted(&truth, w, i);
			i->is_figured = !truth.is_unknowable;
		}
		if (i->is_figured) {
			COVER(w, FIGURED);
		} else {
			COVER(w, APART);
			set_apart(w, i);
		}
	}
	truth_release(&truth);
}

bool known_has_apart(const struct world *w)
{
	for (const struct sim_instance *i = w->instances; i; i = i->older)
		if (i->is_apart)
			return true;
	return false;
}

void known_add(struct figures *f, struct world *w)
{
	struct truth truth = { 0 };

	for (const struct sim_instance *i = w->instances; i; i = i->older)
		if (i->is_figured) {
			find_uncounted(&truth, w, i);
			figures_add(f, &truth, w->ns_per_tick);
		}
	truth_release(&truth);
}

bool known_are_most(const uint64_t *coverage)
{
	uint64_t n = coverage[COVER_FIGURED] + coverage[COVER_APART];

	return n < FEW || (long double)coverage[COVER_APART] <= KNOWN_LEFT_OUT_MOST * (long double)n;
}
