/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/compare/conditions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *skip(const char *at)
{
	return at + strspn(at, " \t\n");
}

/* NULL when nothing fits. */
static const char *read_one(const char *at, struct vprof_condition *c)
{
	size_t length = strcspn(at, " \t\n<>"), i = 0;
	char *end;

	while (i < VPROF_FIGURE_COUNT &&
	       (strlen(vprof_figure_names[i]) != length || memcmp(vprof_figure_names[i], at, length)))
		i++;
	if (i == VPROF_FIGURE_COUNT)
		return NULL;
	c->figure = (enum vprof_figure)i;
	at = skip(at + length);
	if (*at != '<' && *at != '>')
		return NULL;
	c->is_above = *at == '>';
	at = skip(at + 1);
	c->limit = strtod(at, &end) / 100;
	/* no hexadecimals */
	if (end == at || strspn(at, "+-.0123456789eE") < (size_t)(end - at) || !isfinite(c->limit))
		return NULL;
	at = skip(end);
	return *at == '%' ? skip(at + 1) : NULL;
}

size_t vprof_conditions_parse(const char *text, struct vprof_condition conditions[VPROF_CONDITIONS_MAX],
			      const char **wrong)
{
	const char *at = skip(text), *after;

	for (size_t n = 0; n < VPROF_CONDITIONS_MAX; at = skip(after + 1)) {
		*wrong = at;
		after = read_one(at, &conditions[n]);
		if (!after || (*after && *after != ','))
			return 0;
		n++;
		if (!*after)
			return n;
	}
	*wrong = at;
	return 0;
}

enum vprof_verdict_of_change vprof_condition_judge(const struct vprof_condition *c, const struct vprof_change *change)
{
	double nearest = c->is_above ? change->low - c->limit : c->limit - change->high;
	double furthest = c->is_above ? change->high - c->limit : c->limit - change->low;

	if (furthest <= 0)
		return VPROF_CHANGE_PASSES;
	return nearest > 0 ? VPROF_CHANGE_FAILS : VPROF_CHANGE_INCONCLUSIVE; /* NaN: neither */
}
