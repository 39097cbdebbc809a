#include <string>
#include "planted.h"
#include "forms.h"
COUNTER(other_unit);

int other_unit(int a)
{
	static std::string text = "other";
	PLANTED(other_unit) for (int i = 0; i < 2; i++) a += counted_inline(i);
	return a + (int)text.size();
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
