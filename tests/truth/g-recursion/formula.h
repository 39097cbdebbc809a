/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (g) evaluate_all and evaluate_any call each other, to a depth that differs; a leaf that the second level calls is
 * the cause. */
#ifndef FORMULA_H
#define FORMULA_H

#include "plant.h"

enum { LOAD_OPERAND, LEVELS, PARSE_FORMULA, N_FACTORS };

struct formula {
	uint64_t id;
	int depth, result;
	uint32_t ns[N_FACTORS]; /* LEVELS: each level's own cost */
	uint64_t took[N_FACTORS];
};

void evaluate_formula(struct formula *f);
void load_operand(struct formula *f);

#endif
