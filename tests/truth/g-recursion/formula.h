/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (g) evaluate_all and evaluate_any call each other, to a depth that differs; a leaf that the second level calls is
 * the cause. */
#ifndef FORMULA_H
#define FORMULA_H

#include "plant.h"

enum { REQUEST, PARSE_FORMULA, EVALUATE_ALL, EVALUATE_ANY, LOAD_OPERAND, N_FACTORS };
#define DEPTH_MAX 7	    /* of some of the requests */
#define LEVELS EVALUATE_ALL /* of ns: what each level takes itself */

struct formula {
	uint64_t id;
	int depth, result;
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	struct plant_time bodies; /* of all levels */
};

void evaluate_formula(struct formula *f);
void load_operand(struct formula *f);

#endif
