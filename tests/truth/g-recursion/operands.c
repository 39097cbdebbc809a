/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formula.h"

NOINLINE void load_operand(struct formula *f)
{
	PLANT_SPIN(f->ns[LOAD_OPERAND], f->took[LOAD_OPERAND]);
}
