/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/links.h"

#include <math.h>

#define POINTS 8
#define UNCERTAIN_MOST 0.985 /* what is not certain is not told to be nearly so */
/* From that many requests at once on, what a score below SURE_AMONG_MANY says is another thing: a pool so busy that its
 * threads never sleep shows nothing of requests that they pass on. */
#define MANY_OPEN 12
#define SURE_AMONG_MANY 0.95
#define AMBIGUOUS_MOST 0.79

/* Straight lines between these points. A kind without points is told as it scores. */
static const struct point {
	double score, right;
} of_how[VPROF_LINK_HOWS][POINTS] = {
	[VPROF_LINK_THREAD] = { { 0, 0 },
				{ 0.02, 0.5 },
				{ 0.1, 0.93 },
				{ 0.2, 0.95 },
				{ 0.5, 0.965 },
				{ 0.6, 0.985 },
				{ 1, 1 } },
	[VPROF_LINK_REPLY] = { { 0, 0 }, { 0.9, 0.9 }, { 0.95, 0.985 }, { 1, 1 } },
	[VPROF_LINK_WOKEN] = { { 0, 0 },
			       { 0.5, 0.5 },
			       { 0.65, 0.7 },
			       { 0.75, 0.84 },
			       { 0.85, 0.9 },
			       { 0.95, 0.96 },
			       { 1, 1 } },
	[VPROF_LINK_HANDED] = { { 0, 0 },
				{ 0.02, 0.79 },
				{ 0.03, 0.93 },
				{ 0.2, 0.945 },
				{ 0.5, 0.97 },
				{ 0.7, 0.985 },
				{ 1, 1 } },
	[VPROF_LINK_MATCHED] = { { 0, 0 }, { 0.79, 0.79 }, { 0.8, 0.985 }, { 1, 1 } },
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

double vprof_link_confidence(enum vprof_link_how how, double score, uint32_t n_open)
{
	int is_of_thread = how == VPROF_LINK_THREAD || how == VPROF_LINK_REPLY;

	if (score >= (double)VPROF_LINK_CERTAIN || !(of_how[how][1].score > 0))
		return score;
	if (n_open >= MANY_OPEN && !(score >= SURE_AMONG_MANY))
		return is_of_thread ? fmin(score, AMBIGUOUS_MOST) : score;
	return fmin(between(of_how[how], score), UNCERTAIN_MOST);
}
