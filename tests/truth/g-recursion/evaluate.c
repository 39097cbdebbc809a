/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formula.h"

static int evaluate_any(struct formula *f, int level);

static NOINLINE int evaluate_all(struct formula *f, int level)
{
	uint64_t begin = PLANT_NOW();
	int result = level & 1;

	PLANT_SPIN(f->ns[LEVELS], f->bodies);
	if (level < f->depth && level == 1)
		PLANT_CALL(f->took[EVALUATE_ANY], result ^= evaluate_any(f, level + 1));
	else if (level < f->depth)
		result ^= evaluate_any(f, level + 1);
	if (level == 1)
		f->took[EVALUATE_ALL].low = PLANT_NOW() - begin;
	return result;
}

static NOINLINE int evaluate_any(struct formula *f, int level)
{
	uint64_t begin = PLANT_NOW();
	int result = level & 1;

	PLANT_SPIN(f->ns[LEVELS], f->bodies);
	if (level == 2)
		PLANT_CALL(f->took[LOAD_OPERAND], load_operand(f));
	if (level < f->depth)
		result ^= evaluate_all(f, level + 1);
	if (level == 2)
		f->took[EVALUATE_ANY].low = PLANT_NOW() - begin;
	return result;
}

static NOINLINE void parse_formula(struct formula *f)
{
	PLANT_SPIN(f->ns[PARSE_FORMULA], f->took[PARSE_FORMULA]);
}

NOINLINE void evaluate_formula(struct formula *f)
{
	PLANT_CALL(f->took[PARSE_FORMULA], parse_formula(f));
	PLANT_CALL(f->took[EVALUATE_ALL], f->result = evaluate_all(f, 1));
}
