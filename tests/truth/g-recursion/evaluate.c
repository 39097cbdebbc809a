/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formula.h"

static int evaluate_any(struct formula *f, int level);

static NOINLINE int evaluate_all(struct formula *f, int level)
{
	int result = level & 1;

	PLANT_SPIN(f->ns[LEVELS], f->took[LEVELS]);
	if (level < f->depth)
		result ^= evaluate_any(f, level + 1);
	return result;
}

static NOINLINE int evaluate_any(struct formula *f, int level)
{
	int result = level & 1;

	PLANT_SPIN(f->ns[LEVELS], f->took[LEVELS]);
	if (level == 2)
		load_operand(f);
	if (level < f->depth)
		result ^= evaluate_all(f, level + 1);
	return result;
}

static NOINLINE void parse_formula(struct formula *f)
{
	PLANT_SPIN(f->ns[PARSE_FORMULA], f->took[PARSE_FORMULA]);
}

NOINLINE void evaluate_formula(struct formula *f)
{
	parse_formula(f);
	f->result = evaluate_all(f, 1);
}
