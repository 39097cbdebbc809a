/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check_truth TRUTH.json RESULTS.json [UNTIMED]: did vprof find what happened? UNTIMED: how far figures of functions
 * may be off of which some calls were not timed, where the account does not know which (a live session's).
 *
 * TRUTH.json is the program's own account of the same run: the share of every function, wait and delay in it, with the
 * least and the largest value that its readings of the clock allow. What vprof found excuses nothing, but where only
 * the trace can tell what the account is about: a factor may be more than the account says by waits that the machine
 * made, if it is right directly beneath the planted wait (is_beneath_others); a pair may be that of a function further
 * out, where the drill-down began there (is_of_outer_function); heights may be one more above preempted time
 * (is_raised); and a mean may lack what the records in it cost, which the account has (check_mean).
 *
 * - every factor of the account has its share in the results, within these bounds and RESOLUTION; so have its mean, the
 *   height of a function, and the pairs of functions that move together;
 * - a factor that is planted, or has a tenth of the variance, must have been measured;
 * - what would go if a factor were constant, of each and of the pairs, lies within the account's bounds; likewise of a
 *   function's own work together with that beneath waits;
 * - every planted factor is named by a cause; the causes are ordered as the account says, but for the scheduler's, and
 * the first of the others is a planted one, unless the account has something that may be larger;
 * - factors are ranked as the account's shares say, wherever its bounds tell two of them apart: what is left is a tie;
 * - nothing else takes a share worth mentioning itself, but what the kernel (preempted) or other threads (blame) did;
 * - where the account has them: the preempted part of the mean latency; figures of other views;
 * - the contributions add up to the mean latency, and to the gap between the slowest hundredth and the others.
 *
 * Exit status 0: yes; 1: no, with the reason; 2: a file cannot be read; 3: the program was preempted between two
 * of its readings so often or for so long that its account tells too little: by the account alone.
 */
#include "check_truth.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of a mean: the same, and the ticks' length by two calibrations */
#define MEAN_RESOLUTION 0.005
/* of the mean latency: an interrupt that wakes the next thread is partly charged to that */
#define PREEMPTED_TOLERANCE 0.02
#define SURELY_MEASURED 0.1 /* the drill-down ends when nothing of this share is left to break down */
#define TELLING 0.1	    /* of the variance: bounds wider than this to either side tell too little */
#define SHOWN 8

static int bad;
static double untimed_resolution = RESOLUTION; /* of a function of which some calls were not timed */

void complain(const char *fmt, ...)
{
	va_list ap;

	fputs("FAIL: ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	fputc('\n', stdout);
	bad = 1;
}

static cJSON *read_json(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t n = 0, got;
	cJSON *json;

	if (!f) {
		perror(path);
		exit(2);
	}
	do {
		text = realloc(text, n + 65537);
		if (!text)
			exit(2);
		got = fread(text + n, 1, 65536, f);
		n += got;
	} while (got);
	text[n] = 0;
	fclose(f);
	json = cJSON_Parse(text);
	free(text);
	if (!json) {
		fprintf(stderr, "%s is not JSON\n", path);
		exit(2);
	}
	return json;
}

const char *text_of(const cJSON *object, const char *key)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

	return s ? s : "";
}

double number_of(const cJSON *object, const char *key)
{
	const cJSON *n = cJSON_GetObjectItem(object, key);

	return cJSON_IsNumber(n) ? n->valuedouble : NAN;
}

/* true, or a number other than 0 */
int is_set(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);

	return cJSON_IsTrue(item) || (cJSON_IsNumber(item) && item->valuedouble != 0);
}

static int is_pair(const cJSON *factor)
{
	return !strcmp(text_of(factor, "kind"), "covariance");
}

/* Is `factor` the one that `wanted` names: a string, or an array of two in any order? */
static int has_name(const cJSON *factor, const cJSON *wanted)
{
	const char *a, *b, *x, *y;

	if (cJSON_IsString(wanted))
		return !is_pair(factor) && !strcmp(text_of(factor, "name"), wanted->valuestring);
	if (!is_pair(factor) || cJSON_GetArraySize(wanted) != 2)
		return 0;
	a = cJSON_GetStringValue(cJSON_GetArrayItem(wanted, 0));
	b = cJSON_GetStringValue(cJSON_GetArrayItem(wanted, 1));
	x = text_of(factor, "name_a");
	y = text_of(factor, "name_b");
	return (!strcmp(a, x) && !strcmp(b, y)) || (!strcmp(a, y) && !strcmp(b, x));
}

/* The account's entry for a factor of the results, or NULL. */
static const cJSON *entry_of(const cJSON *truth, const cJSON *factor)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, is_pair(factor) ? "pairs" : "factors"))
	{
		if (has_name(factor, cJSON_GetObjectItem(entry, "factor")) &&
		    is_set(entry, "is_blame") == is_set(factor, "is_blame"))
			return entry;
	}
	return NULL;
}

static const cJSON *factor_of(const cJSON *results, const cJSON *entry)
{
	const cJSON *factor;

	cJSON_ArrayForEach(factor, cJSON_GetObjectItem(results, "factors"))
	{
		if (has_name(factor, cJSON_GetObjectItem(entry, "factor")) &&
		    is_set(factor, "is_blame") == is_set(entry, "is_blame"))
			return factor;
	}
	return NULL;
}

/* What the kernel would have to tell, and does not. */
int is_unknown(const cJSON *results, const cJSON *entry)
{
	return is_set(entry, "is_preempted") && *text_of(results, "no_switches");
}

/* For messages: a name, or a pair's two. */
const char *title(const cJSON *entry)
{
	static char text[256];
	const cJSON *name = cJSON_GetObjectItem(entry, "factor");

	if (cJSON_IsString(name))
		snprintf(text, sizeof text, "%s%s", name->valuestring, is_set(entry, "is_blame") ? " (blamed)" : "");
	else
		snprintf(text, sizeof text, "(%s, %s)", cJSON_GetStringValue(cJSON_GetArrayItem(name, 0)),
			 cJSON_GetStringValue(cJSON_GetArrayItem(name, 1)));
	return text;
}

/* What a factor takes itself: the body of each of its nodes, or all of one that is not broken down. */
static double own_share(const cJSON *results, const cJSON *factor)
{
	const cJSON *nodes = cJSON_GetObjectItem(results, "nodes"), *at, *node;
	double sum = 0;

	cJSON_ArrayForEach(at, cJSON_GetObjectItem(factor, "nodes"))
	{
		const cJSON *own = cJSON_GetArrayItem(nodes, at->valueint);

		cJSON_ArrayForEach(node, nodes)
		{
			if (number_of(node, "parent") == at->valuedouble && !strcmp(text_of(node, "kind"), "body"))
				own = node;
		}
		sum += number_of(own, "share");
	}
	return sum;
}

/* Of a node with children: an external call has them only where it waits for others. */
static int is_wait(const cJSON *node)
{
	const char *kind = text_of(node, "kind");

	return !strcmp(kind, "wait") || !strcmp(kind, "queued") || !strcmp(kind, "site");
}

/* Of work that others did: the factor's node right beneath the wait or delay that the account means, with no other wait
 * in between. A machine that takes the CPU from who holds a lock makes further waits, of which the account knows
 * nothing and whose holders' work is in the factor as well: all of these lie beneath two waits or more. NULL: there is
 * none, or there are several, or one lies right beneath another wait, where nobody planted it. */
static const cJSON *direct_node(const cJSON *results, const cJSON *entry, const cJSON *factor)
{
	const cJSON *nodes = cJSON_GetObjectItem(results, "nodes"), *at, *direct = NULL;

	cJSON_ArrayForEach(at, cJSON_GetObjectItem(factor, "nodes"))
	{
		const cJSON *node = cJSON_GetArrayItem(nodes, at->valueint), *above = node, *wait = NULL;
		int n_waits = 0;

		while (number_of(above, "depth") > 0) {
			above = cJSON_GetArrayItem(nodes, (int)number_of(above, "parent"));
			wait = is_wait(above) ? above : wait;
			n_waits += is_wait(above);
		}
		if (n_waits > 1)
			continue;
		if (direct || !wait || strcmp(text_of(wait, "name"), text_of(entry, "beneath")) != 0)
			return NULL;
		direct = node;
	}
	return direct;
}

/* Is it more than the account's bound, though no more right beneath the wait that the account means? */
static int is_beneath_others(const cJSON *results, const cJSON *entry, const cJSON *factor, const char *key, double low,
			     double high)
{
	const cJSON *direct = is_set(entry, "is_blame") ? direct_node(results, entry, factor) : NULL;

	return direct && number_of(factor, key) > high && number_of(direct, key) >= low &&
	       number_of(direct, key) <= high;
}

/* Is `x` a child of a function that is around `y`, but not of the one right above it? */
static int is_beside_outer(const cJSON *nodes, const cJSON *x, const cJSON *y)
{
	const cJSON *above = cJSON_GetArrayItem(nodes, (int)number_of(y, "parent"));

	while (number_of(above, "depth") > 0) {
		if (number_of(x, "parent") == number_of(above, "parent"))
			return x != above;
		above = cJSON_GetArrayItem(nodes, (int)number_of(above, "parent"));
	}
	return 0;
}

/* Does one of a pair stand beside a function that is around the other, as where the drill-down began further out? Then
 * the pair is of that function. Two that stand side by side, or of which one is not measured, have no such excuse. */
static int is_of_outer_function(const cJSON *results, const cJSON *pair)
{
	const char *a = cJSON_GetStringValue(cJSON_GetArrayItem(pair, 0));
	const char *b = cJSON_GetStringValue(cJSON_GetArrayItem(pair, 1));
	const cJSON *nodes = cJSON_GetObjectItem(results, "nodes"), *x, *y;
	int found = 0;

	cJSON_ArrayForEach(x, nodes)
	{
		if (strcmp(text_of(x, "name"), a) != 0)
			continue;
		cJSON_ArrayForEach(y, nodes)
		{
			if (y == x || strcmp(text_of(y, "name"), b) != 0)
				continue;
			if (number_of(x, "parent") == number_of(y, "parent"))
				return 0;
			found |= is_beside_outer(nodes, x, y) || is_beside_outer(nodes, y, x);
		}
	}
	return found;
}

/* A hot function of which every call was recorded after all: its account is exact. */
static int is_every_call(const cJSON *entry, const cJSON *factor)
{
	return is_set(entry, "is_sampled") && number_of(factor, "n_timed") == number_of(factor, "n_calls");
}

/* How far a figure of this factor may be off beyond what the account allows. */
static double resolution(const cJSON *factor)
{
	return number_of(factor, "n_timed") < number_of(factor, "n_calls") ? untimed_resolution : RESOLUTION;
}

static void check_share(const cJSON *results, const cJSON *entry)
{
	const cJSON *name = cJSON_GetObjectItem(entry, "factor");
	const cJSON *factor = factor_of(results, entry);
	double low = number_of(entry, "low"), high = number_of(entry, "high"), found, off;
	double least = fmin(fabs(low), fabs(high));

	if (!factor && is_set(entry, "is_interval")) /* which no function need be */
		return;
	if (!factor && cJSON_IsArray(name) && is_of_outer_function(results, name))
		return;
	if (!factor) {
		if ((is_set(entry, "is_planted") && least > WORTH_MENTIONING) || low > SURELY_MEASURED)
			complain("%s is not among the factors; its share is %.3f to %.3f", title(entry), low, high);
		return;
	}
	found = number_of(factor, "share");
	printf("%-34s true %7.4f (%7.4f .. %7.4f)   found %7.4f\n", title(entry), number_of(entry, "share"), low, high,
	       found);
	off = resolution(factor);
	if (!(found >= low - off && found <= high + off) &&
	    !is_beneath_others(results, entry, factor, "share", low - off, high + off))
		complain("the share of %s is %.4f, but it was between %.4f and %.4f", title(entry), found, low, high);
}

static void check_constant(const cJSON *entry, const char *what, double low, double high, double found, double off)
{
	printf("%-34s        (%7.4f .. %7.4f)   found %7.4f   (%s)\n", title(entry), low, high, found, what);
	if (!(found >= low - off && found <= high + off))
		complain("%s: %s is %.4f, but it was between %.4f and %.4f", title(entry), what, found, low, high);
}

static int has_others_beneath(const cJSON *results, const cJSON *entry)
{
	const cJSON *factor = factor_of(results, entry);

	return factor && is_beneath_others(results, entry, factor, "share", number_of(entry, "low") - RESOLUTION,
					   number_of(entry, "high") + RESOLUTION);
}

/* Likewise of what the same function did while requests waited, which together with this is one figure. */
static int counterpart_has_others_beneath(const cJSON *truth, const cJSON *results, const cJSON *entry)
{
	const cJSON *other;

	cJSON_ArrayForEach(other, cJSON_GetObjectItem(truth, "factors"))
	{
		if (other != entry &&
		    cJSON_Compare(cJSON_GetObjectItem(other, "factor"), cJSON_GetObjectItem(entry, "factor"), 1) &&
		    has_others_beneath(results, other))
			return 1;
	}
	return 0;
}

/* Where further waits of the machine's making are in the factor (is_beneath_others), the account cannot tell. */
static void check_if_constant(const cJSON *truth, const cJSON *results, const cJSON *entry)
{
	const cJSON *factor = factor_of(results, entry);
	double found;

	if (!factor || has_others_beneath(results, entry))
		return;
	found = number_of(factor, "if_constant");
	if (isnan(found) && is_pair(factor)) /* of those that are not reported it is not computed */
		return;
	check_constant(entry, "if constant", number_of(entry, "if_constant_low"), number_of(entry, "if_constant_high"),
		       found, resolution(factor));
	if (cJSON_HasObjectItem(entry, "together_low") && number_of(factor, "counterpart") > 0 &&
	    !counterpart_has_others_beneath(truth, results, entry))
		check_constant(entry, "if constant, together", number_of(entry, "together_low"),
			       number_of(entry, "together_high"), number_of(factor, "together_constant"),
			       resolution(factor));
}

/* Of a hot function: without its preempted time, which sampled calls show by chance. */
static void check_own_share(const cJSON *results, const cJSON *entry)
{
	const cJSON *factor = factor_of(results, entry);
	double low = number_of(entry, "own_low"), high = number_of(entry, "own_high"), found;

	if (!factor || !is_set(entry, "is_sampled") || is_every_call(entry, factor) || *text_of(results, "no_switches"))
		return;
	found = own_share(results, factor);
	printf("%-34s        (%7.4f .. %7.4f)   found %7.4f   (not preempted)\n", title(entry), low, high, found);
	if (!(found >= low - RESOLUTION && found <= high + RESOLUTION))
		complain("the share of %s itself is %.4f, but it was between %.4f and %.4f", title(entry), found, low,
			 high);
}

/* The program's account is of a run with probes; the report takes out what their records cost. The account of a
 * function has them, that of its calls from outside, too. */
static void check_mean(const cJSON *results, const cJSON *entry)
{
	const cJSON *factor = factor_of(results, entry);
	double found = number_of(factor, "mean_ns"),
	       off = MEAN_RESOLUTION / RESOLUTION * resolution(factor) * number_of(results, "mean_ns"),
	       taken = factor ? fmax(0, number_of(factor, "probe_ns")) : 0;
	double low = number_of(entry, "mean_low_ns") - taken, high = number_of(entry, "mean_high_ns");

	if (!factor || is_set(entry, "is_sampled"))
		return;
	if (!(found >= low - off && found <= high + off) &&
	    !is_beneath_others(results, entry, factor, "mean_ns", low - off, high + off))
		complain("%s takes %.0f ns in the mean, but it took %.0f to %.0f", title(entry), found, low, high);
}

/* Where preempted time makes half of a function's variance, the height of that function is one more, and so are those
 * around it. */
static int is_raised(const cJSON *results)
{
	const cJSON *nodes = cJSON_GetObjectItem(results, "nodes"), *node;

	cJSON_ArrayForEach(node, nodes)
	{
		const cJSON *parent = cJSON_GetArrayItem(nodes, (int)number_of(node, "parent"));

		if (!strcmp(text_of(node, "kind"), "preempted") &&
		    number_of(node, "var_ns2") >= 0.5 * number_of(parent, "var_ns2"))
			return 1;
	}
	return 0;
}

static void check_height(const cJSON *results, const cJSON *entry)
{
	const cJSON *factor = factor_of(results, entry);
	double height = number_of(entry, "height"), found = number_of(factor, "height");

	if (!factor || is_set(entry, "is_wait") || is_set(entry, "is_blame"))
		return;
	if (found != height && !(found > height && is_raised(results)))
		complain("the height of %s is %.0f, but it is %.0f levels above the lowest that it calls", title(entry),
			 found, height);
}

static int may_be_selected(const cJSON *results, const cJSON *factor)
{
	return number_of(factor, "share") > number_of(results, "threshold");
}

/* `before` is ranked before `after`: do the account's shares allow that? Those that may be selected come first. */
static void check_two(const cJSON *truth, const cJSON *results, const cJSON *before, const cJSON *after)
{
	const cJSON *x = entry_of(truth, before), *y = entry_of(truth, after);
	double most, least;
	char name[256];

	if (!x || !y || !may_be_selected(results, after))
		return;
	most = number_of(before, "specificity") * (number_of(x, "high") + RESOLUTION);
	least = number_of(after, "specificity") * (number_of(y, "low") - RESOLUTION);
	if (most >= least)
		return;
	snprintf(name, sizeof name, "%s", title(x));
	complain("%s is ranked before %s, but its score is at most %.3f, and the other's at least %.3f", name, title(y),
		 most, least);
}

static void check_order(const cJSON *truth, const cJSON *results)
{
	const cJSON *before, *after;

	cJSON_ArrayForEach(before, cJSON_GetObjectItem(results, "factors"))
	{
		for (after = before->next; after; after = after->next)
			check_two(truth, results, before, after);
	}
}

/* How far the bounds of what the program itself measured are apart at most, half of it. */
static double unsure(const cJSON *truth)
{
	const cJSON *entry;
	double most = 0;

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		if (!is_set(entry, "is_sampled") && !is_set(entry, "is_blame"))
			most = fmax(most, (number_of(entry, "high") - number_of(entry, "low")) / 2);
	}
	return most;
}

/* Functions, calls and delays that nobody planted take nothing themselves, but what the machine did to them: a system
 * call may take milliseconds of which the kernel knows nothing. The account knows what it has in no column. */
static void check_others(const cJSON *truth, const cJSON *results)
{
	const cJSON *factor;

	cJSON_ArrayForEach(factor, cJSON_GetObjectItem(results, "factors"))
	{
		const char *kind = text_of(factor, "node_kind");
		double machine = strcmp(kind, "undivided") ? number_of(truth, "elsewhere_high") :
							     undivided_by_machine(truth);

		if (is_pair(factor) || is_set(factor, "is_blame") || entry_of(truth, factor) || !strcmp(kind, "body") ||
		    !strcmp(kind, "preempted"))
			continue;
		if (!(own_share(results, factor) <= WORTH_MENTIONING + unsure(truth) + machine))
			complain("%s has a share of %.3f itself, but nobody planted it", text_of(factor, "name"),
				 own_share(results, factor));
	}
}

/* The part of the latency in which threads were preempted; where that is not known, nothing may be claimed of it. */
static void check_preempted(const cJSON *truth, const cJSON *results)
{
	const char *why = text_of(results, "no_switches");
	double planted = number_of(truth, "preempted_share"), found = number_of(results, "preempted_share");
	const cJSON *factor;

	if (!cJSON_IsNumber(cJSON_GetObjectItem(truth, "preempted_share")))
		return;
	if (!*why) {
		printf("%-34s true %7.4f   found %7.4f   (of the mean)\n", "preempted", planted, found);
		if (!(fabs(found - planted) <= PREEMPTED_TOLERANCE))
			complain("%.3f of the mean latency was preempted, but it was %.3f", found, planted);
		return;
	}
	printf("not known here whether threads were preempted: %s\n", why);
	if (!cJSON_IsNull(cJSON_GetObjectItem(results, "preempted_share")))
		complain("preempted_share is %.3f though it is not known", found);
	cJSON_ArrayForEach(factor, cJSON_GetObjectItem(results, "factors"))
	{
		if (!is_pair(factor) && !strcmp(text_of(factor, "node_kind"), "preempted"))
			complain("preempted is a factor though it is not known");
	}
}

static void show(const cJSON *factors)
{
	int n = cJSON_GetArraySize(factors);

	for (int i = 0; i < n && i < SHOWN; i++) {
		const cJSON *f = cJSON_GetArrayItem(factors, i);

		printf("%2d %6.3f  score %10.3f  %s%s\n", i + 1, number_of(f, "share"), number_of(f, "score"),
		       text_of(f, "name"), is_set(f, "is_blame") ? " (blamed)" : "");
	}
}

/* The item of this name in a list of the results, or the results themselves. */
static const cJSON *item_of(const cJSON *results, const char *list, const char *name)
{
	const cJSON *item;

	if (!*list)
		return results;
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(results, list))
	{
		if (!strcmp(text_of(item, "name"), name))
			return item;
	}
	return NULL;
}

static void check_figure(const cJSON *truth, const cJSON *results, const cJSON *figure)
{
	const char *list = text_of(figure, "list"), *name = text_of(figure, "item"), *key = text_of(figure, "key");
	const cJSON *item = item_of(results, list, name);
	double planted = number_of(figure, "share"), found = number_of(item, key) / number_of(figure, "of");
	double off = RESOLUTION + 2 * unsure(truth), preempted = number_of(figure, "preempted");
	double preempted_rest = number_of(figure, "preempted_rest");

	if (!item) {
		complain("%s is not among the %s", name, list);
		return;
	}
	printf("%-34s true %7.4f   found %7.4f   (%s)\n", *name ? name : key, planted, found,
	       *name ? key : "of the whole");
	if (!(found >= planted - preempted - off && found <= planted + preempted_rest + off))
		complain("%s%s%s is %.4f, but it was %.4f", name, *name ? ": " : "", key, found, planted);
}

static void check_sums(const cJSON *results)
{
	double mean = 0, gap = 0, mean_ns = number_of(results, "mean_ns");
	double gap_ns = number_of(results, "tail_ns") - number_of(results, "rest_ns");
	const cJSON *c;

	cJSON_ArrayForEach(c, cJSON_GetObjectItem(results, "contributions"))
	{
		mean += number_of(c, "mean_ns");
		gap += number_of(c, "gap_ns");
	}
	if (!(fabs(mean - mean_ns) <= 1e-9 * mean_ns))
		complain("the contributions add up to %.9g ns, but the mean is %.9g ns", mean, mean_ns);
	if (!(fabs(gap - gap_ns) <= 1e-9 * mean_ns))
		complain("the contributions' gaps add up to %.9g ns, but the gap is %.9g ns", gap, gap_ns);
}

/* The account of hot functions whose calls were all recorded is exact. */
static void take_exact(const cJSON *truth, const cJSON *results)
{
	static const char *const keys[][2] = { { "low", "exact_low" },
					       { "high", "exact_high" },
					       { "if_constant_low", "exact_if_constant_low" },
					       { "if_constant_high", "exact_if_constant_high" } };
	const cJSON *entry;

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		for (size_t i = 0; is_every_call(entry, factor_of(results, entry)) && i < sizeof keys / sizeof *keys;
		     i++)
			cJSON_SetNumberValue(cJSON_GetObjectItem(entry, keys[i][0]), number_of(entry, keys[i][1]));
	}
}

static void check_all(const cJSON *truth, const cJSON *results)
{
	const cJSON *entry;

	take_exact(truth, results);

	if (number_of(results, "n_complete") != number_of(truth, "n"))
		complain("%.0f intervals were analysed, but there were %.0f", number_of(results, "n_complete"),
			 number_of(truth, "n"));
	if (strcmp(text_of(results, "interval"), text_of(truth, "interval")))
		complain("the interval is %s", text_of(results, "interval"));
	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		if (is_unknown(results, entry))
			continue;
		check_share(results, entry);
		check_own_share(results, entry);
		check_if_constant(truth, results, entry);
		check_mean(results, entry);
		check_height(results, entry);
	}
	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "pairs"))
	{
		check_share(results, entry);
		check_if_constant(truth, results, entry);
	}
	check_order(truth, results);
	check_causes(truth, results);
	check_others(truth, results);
	check_preempted(truth, results);
	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "figures")) check_figure(truth, results, entry);
	check_sums(results);
}

/* By the program's account: is a tenth of the variance or more due to time without a CPU? */
static int is_disturbed(const cJSON *truth)
{
	double calm = number_of(truth, "calm_share");

	printf("without the time in which others had the CPU the variance would be %.3f of what it was\n", calm);
	return fabs(1 - calm) >= 0.1;
}

int main(int argc, char **argv)
{
	cJSON *truth, *results;

	if (argc < 2 || argc > 4) {
		fputs("usage: check_truth TRUTH.json [RESULTS.json [UNTIMED]]\n"
		      "without results: status 3 if the program's own account proves that others had the CPU\n",
		      stderr);
		return 2;
	}
	truth = read_json(argv[1]);
	if (argc == 2)
		return is_disturbed(truth) ? 3 : 0;
	results = read_json(argv[2]);
	untimed_resolution = argc > 3 ? strtod(argv[3], NULL) : RESOLUTION;
	if (!cJSON_IsArray(cJSON_GetObjectItem(truth, "factors")) ||
	    !cJSON_IsArray(cJSON_GetObjectItem(results, "factors"))) {
		fputs("no \"factors\" in the truth or in the results\n", stderr);
		return 2;
	}
	if (unsure(truth) > TELLING) {
		printf("AGAIN: the program was preempted between two readings of its clock, so that its account knows a "
		       "share only to %.2f\n",
		       unsure(truth));
		return 3;
	}
	show(cJSON_GetObjectItem(results, "factors"));
	check_all(truth, results);
	if (bad && is_disturbed(truth) && is_set(truth, "has_untimed")) {
		puts("AGAIN: others had the CPU for much of the variance, of which calls that are not timed tell nothing");
		return 3;
	}
	cJSON_Delete(truth);
	cJSON_Delete(results);
	puts(bad ? "FAIL" : "PASS");
	return bad;
}
