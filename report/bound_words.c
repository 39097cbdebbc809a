/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/bound_words.h"

#include <string.h>

#include "report/format_value.h"

void vprof_bound_share_words(double low, double high, struct vprof_text *out)
{
	struct vprof_value a = vprof_format_percent(low < 0 ? 0 : low), b = vprof_format_percent(high > 1 ? 1 : high);
	char *unit = strstr(a.s, " %");

	if (!strcmp(a.s, b.s)) {
		vprof_text_add(out, a.s);
		return;
	}
	if (unit)
		*unit = 0;
	vprof_text_addf(out, "%s .. %s", a.s, b.s);
}

void vprof_bound_time_words(double low_ns, double high_ns, struct vprof_text *out)
{
	struct vprof_value a = vprof_format_duration(low_ns), b = vprof_format_duration(high_ns);
	char *unit_a = strchr(a.s, ' '), *unit_b = strchr(b.s, ' ');

	if (!strcmp(a.s, b.s)) {
		vprof_text_add(out, a.s);
		return;
	}
	if (unit_a && unit_b && !strcmp(unit_a, unit_b))
		*unit_a = 0;
	vprof_text_addf(out, "%s .. %s", a.s, b.s);
}
