/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/links.h"

#include <math.h>

#include "common/array.h"

#define POINTS 8
#define UNCERTAIN_MOST 0.985 /* what is not certain is not told to be nearly so */
/* Among VPROF_LINK_MANY_OPEN requests what a score below this says is another thing: a pool so busy that its threads
 * never sleep shows nothing of requests that they pass on. */
#define SURE_AMONG_MANY 0.95
#define AMBIGUOUS_MOST 0.79

/* Straight lines between these points. Below 0.5 a score may also say that an observation is mostly wrong, so nothing
 * is told there. What turns tell alone is told as it scores: too few simulated loops fail. So is what other rules tell
 * of threads that work for several requests at once. */
static const struct point {
	double score, right;
} of_how[VPROF_LINK_HOWS][POINTS] = {
	[VPROF_LINK_THREAD] = { { 0, 0 }, { 0.45, 0.79 }, { 0.46, 0.93 }, { 0.6, 0.97 }, { 0.7, 0.985 }, { 1, 1 } },
	[VPROF_LINK_REPLY] = { { 0, 0 }, { 0.79, 0.79 }, { 0.8, 0.93 }, { 0.95, 0.985 }, { 1, 1 } },
	[VPROF_LINK_WOKEN] = { { 0, 0 },
			       { 0.5, 0.5 },
			       { 0.65, 0.7 },
			       { 0.75, 0.84 },
			       { 0.85, 0.9 },
			       { 0.95, 0.96 },
			       { 1, 1 } },
	[VPROF_LINK_HANDED] = { { 0, 0 }, { 0.45, 0.79 }, { 0.46, 0.94 }, { 0.7, 0.985 }, { 1, 1 } },
	[VPROF_LINK_LENGTH] = { { 0, 0 }, { 0.95, 0.79 }, { 1, 1 } },
	[VPROF_LINK_ORDER] = { { 0, 0 }, { 0.84, 0.79 }, { 0.87, 0.85 }, { 0.9, 0.95 }, { 0.95, 0.975 }, { 1, 1 } },
	[VPROF_LINK_ONLY] = { { 0, 0 }, { 0.7, 0.9 }, { 0.8, 0.97 }, { 1, 1 } },
};

static double between(const struct point *p, double score)
{
	while (score > p[1].score)
		p++;
	return p[0].right + (p[1].right - p[0].right) * (score - p[0].score) / (p[1].score - p[0].score);
}

static double confidence_of(const struct vprof_link *link, enum vprof_link_how how, double score)
{
	int is_of_turns = how == VPROF_LINK_LENGTH || how == VPROF_LINK_ORDER;

	if (!(score >= 0))
		return 0;
	if (score >= (double)VPROF_LINK_CERTAIN || !(of_how[how][1].score > 0) || (!is_of_turns && !link->waits))
		return score;
	if (link->n_open < VPROF_LINK_MANY_OPEN || score >= SURE_AMONG_MANY)
		return fmin(between(of_how[how], score), UNCERTAIN_MOST);
	return how == VPROF_LINK_THREAD || how == VPROF_LINK_REPLY ? fmin(score, AMBIGUOUS_MOST) : score;
}

void vprof_link_decide(struct vprof_link *link, uint32_t parent, enum vprof_link_how how, double score)
{
	link->parent = link->likeliest = parent;
	link->how = link->by = (uint8_t)how;
	link->confidence = (float)confidence_of(link, how, score);
	link->score = (float)score;
	if (parent != VPROF_NONE && link->confidence >= VPROF_LINK_MIN_CONFIDENCE)
		return;
	link->parent = VPROF_NONE;
	if (parent != VPROF_NONE)
		link->how = VPROF_LINK_AMBIGUOUS;
}
