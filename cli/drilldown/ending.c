/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/drilldown/ending.h"

#include <stdlib.h>

#include "cli/drilldown/decide.h"
#include "common/text.h"
#include "report/format_value.h"

#define NAMED 3

enum vprof_ending vprof_ending_of(const struct vprof_results *r, const struct vprof_session *s)
{
	char *seen = calloc(r->n_factors + 1, 1);
	enum vprof_ending ending = VPROF_ENDING_NONE;

	if (seen)
		ending = vprof_decide_left_open(r, s, seen) < r->n_factors ? VPROF_ENDING_CHOSEN :
									     VPROF_ENDING_ALL_MEASURED;
	free(seen);
	return ending;
}

/* "filter, 32 % (10 callees not measured)", up to NAMED of them, the heaviest first. Returns how many. */
static size_t add_open(const struct vprof_results *r, const struct vprof_session *s, char *seen, struct vprof_text *out)
{
	size_t n = 0, i;

	while (n < NAMED && (i = vprof_decide_left_open(r, s, seen)) < r->n_factors) {
		const struct vprof_factor *f = &r->factors[i];

		seen[i] = 1;
		vprof_text_add(out, n++ ? "; " : "; still open: ");
		vprof_format_cut(out, f->name, 60, 1, 0);
		vprof_text_addf(out, "%s, %s", f->is_blame ? " (others' work)" : "", vprof_format_percent(f->share).s);
		if (f->n_unmeasured)
			vprof_text_addf(out, " (%s callee%s not measured)", vprof_format_count(f->n_unmeasured).s,
					f->n_unmeasured == 1 ? "" : "s");
	}
	return n;
}

char *vprof_ending_tell(const struct vprof_results *r, const struct vprof_session *s)
{
	char *seen = r && s->ending ? calloc(r->n_factors + 1, 1) : NULL;
	struct vprof_text out = VPROF_TEXT_INIT;

	vprof_text_add(&out, vprof_ending_texts[s->ending]);
	if (seen && add_open(r, s, seen, &out))
		vprof_text_addf(&out, ". To go on: vprof iterate %s",
				s->ending == VPROF_ENDING_MAX ? "with a larger --max" :
				s->ending == VPROF_ENDING_UNSETTLED || s->ending == VPROF_ENDING_REPEATED ?
								"--repeat N" :
								"with a larger --k");
	free(seen);
	return vprof_text_detach(&out);
}
