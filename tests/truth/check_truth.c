/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check_truth TRUTH.json RESULTS.json: did vprof find what was planted?
 *
 * - the first-ranked factor is the planted one, or one that the program accepts in its place, but for "preempted",
 * which is the work of whatever else runs on the machine where nobody planted it;
 * - where the truth knows of it: the preempted part of the mean latency is within 0.02 of it, or said to be unknown;
 * then the first-ranked factor is the first under "also";
 * - the planted factor's share, and that of every factor under "also", is within 0.05 of the program's own account; of
 * one whose calls are sampled ("is_sampled"), within vprof's own bounds, which must be narrower than 0.1 to either
 * side.
 *
 * - where the truth has "figures": each is within 0.05 of the program's own account, and the contributions add up to
 * the mean latency and to the gap between the slowest hundredth and the others.
 *
 * Exit status 0: yes; 1: no, with the reason; 2: a file cannot be read; 3: the program's own account says that
 * something else than the planted cause made its run vary, so that there is nothing to find, or the kernel says that
 * other programs had the processor, or the bounds are too wide; 4: the share of a sampled factor is outside of its
 * bounds, by less than their width.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 0.05
#define SAMPLED_BOUNDS 0.1
/* of the mean latency: an interrupt that wakes the next thread is partly charged to that */
#define PREEMPTED_TOLERANCE 0.02
#define SHOWN 8
#define LEAST_SHARE 0.35   /* every program plants more than 0.4 */
#define LARGEST_SHARE 0.15 /* of the variance by one request; no undisturbed run of the programs has 0.1 */

static int bad, is_vague, has_missed;

static void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *fmt, ...)
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

static const char *text_of(const cJSON *object, const char *key)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

	return s ? s : "";
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *n = cJSON_GetObjectItem(object, key);

	return cJSON_IsNumber(n) ? n->valuedouble : NAN;
}

/* true, or a number other than 0 */
static int is_set(const cJSON *object, const char *key)
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

/* The bounds hold the error of sampling, which grows with every interruption that hits a timed call. */
static double tolerance(const cJSON *factor, int is_sampled)
{
	double low = number_of(factor, "share_low"), high = number_of(factor, "share_high");

	if (!is_sampled || !((high - low) / 2 > TOLERANCE))
		return TOLERANCE;
	is_vague = (high - low) / 2 > SAMPLED_BOUNDS;
	return (high - low) / 2;
}

/* An interruption of a chosen call stands for itself alone, and the program's account has those of all calls: as much
 * is missing from the mean ("rare_ns"), and twice that part from the variance. */
static double interruptions(const cJSON *nodes, const cJSON *factor)
{
	double rare = 0;
	const cJSON *node;

	cJSON_ArrayForEach(node, cJSON_GetObjectItem(factor, "nodes"))
		rare += number_of(cJSON_GetArrayItem(nodes, (int)node->valuedouble), "rare_ns");
	return 2 * number_of(factor, "share") * rare / number_of(factor, "mean_ns");
}

static void compare_share(const cJSON *results, const cJSON *wanted, double share, int is_blame, int is_sampled)
{
	const cJSON *factor, *name = cJSON_IsArray(wanted) ? cJSON_GetArrayItem(wanted, 0) : wanted;
	double found, allowed;

	cJSON_ArrayForEach(factor, cJSON_GetObjectItem(results, "factors"))
	{
		if (!has_name(factor, wanted) || is_set(factor, "is_blame") != is_blame)
			continue;
		found = number_of(factor, "share");
		printf("%-28s planted %6.3f   found %6.3f   %s\n", text_of(factor, "name"), share, found,
		       is_blame ? "(while the interval waited)" : "");
		allowed = tolerance(factor, is_sampled);
		if (is_sampled && found < share)
			allowed += interruptions(cJSON_GetObjectItem(results, "nodes"), factor);
		if (is_sampled && fabs(found - share) > allowed && fabs(found - share) <= 2 * allowed) {
			puts("missed: outside of the bounds, as one run in twenty may be");
			has_missed = 1;
		} else if (!(fabs(found - share) <= allowed))
			complain("the share of %s is %.3f, but %.3f was planted", text_of(factor, "name"), found,
				 share);
		return;
	}
	complain("%s%s is not among the factors%s", name->valuestring, cJSON_IsArray(wanted) ? " with its partner" : "",
		 is_blame ? " of those who made the interval wait" : "");
}

/* Other programs on the machine take the processor: vprof tells that apart, and no program but one plants it. */
static int is_preempted(const cJSON *factor)
{
	return !strcmp(text_of(factor, "name_a"), "preempted") || !strcmp(text_of(factor, "name_b"), "preempted");
}

static void check_first(const cJSON *factors, const cJSON *planted, const cJSON *accept)
{
	const cJSON *first = cJSON_GetArrayItem(factors, 0), *other;

	while (first && is_preempted(first) && !has_name(first, planted))
		first = first->next;
	if (!first) {
		complain("no factor was found");
		return;
	}
	if (has_name(first, planted))
		return;
	cJSON_ArrayForEach(other, accept) if (has_name(first, other)) return;
	complain("the first factor is %s", text_of(first, "name"));
}

/* Is `name` the factor of a truth's entry: a name, a pair of names, or an object with one of these as "factor"? */
static int names(const cJSON *entry, const char *name)
{
	const cJSON *one;

	if (cJSON_IsObject(entry))
		entry = cJSON_GetObjectItem(entry, "factor");
	if (cJSON_IsString(entry))
		return !strcmp(entry->valuestring, name);
	cJSON_ArrayForEach(one, entry) if (names(one, name)) return 1;
	return 0;
}

/* The part of the latency in which threads were preempted. 1 when the results say that it is not known, which holds for
 * the planted factor, too: then they must not claim anything. */
static int check_preempted(const cJSON *truth, const cJSON *results)
{
	const char *why = text_of(results, "no_switches");
	double planted = number_of(truth, "preempted_share"), found = number_of(results, "preempted_share");
	const cJSON *factor;

	if (!cJSON_IsNumber(cJSON_GetObjectItem(truth, "preempted_share")))
		return 0;
	if (!*why) {
		printf("%-28s planted %6.3f   found %6.3f   (of the mean)\n", "preempted", planted, found);
		if (!(fabs(found - planted) <= PREEMPTED_TOLERANCE))
			complain("%.3f of the mean latency was preempted, but it was %.3f", found, planted);
		return 0;
	}
	printf("not known here whether threads were preempted: %s\n", why);
	if (!cJSON_IsNull(cJSON_GetObjectItem(results, "preempted_share")))
		complain("preempted_share is %.3f though it is not known", found);
	cJSON_ArrayForEach(factor, cJSON_GetObjectItem(results, "factors")) if (!strcmp(text_of(factor, "node_kind"),
											"preempted") &&
										!is_pair(factor))
		complain("preempted is a factor though it is not known");
	return 1;
}

/* By the truth alone, before anything that vprof found is looked at. Every program plants its cause well above
 * everything else in it. */
static int is_disturbed(const cJSON *truth, double planted)
{
	const cJSON *other;

	if (!(number_of(truth, "largest_share") <= LARGEST_SHARE))
		return 1;
	cJSON_ArrayForEach(other, cJSON_GetObjectItem(truth, "others"))
	{
		const char *name = text_of(other, "factor");
		int expected = names(cJSON_GetObjectItem(truth, "planted"), name) ||
			       names(cJSON_GetObjectItem(truth, "accept"), name) ||
			       names(cJSON_GetObjectItem(truth, "also"), name);

		if (number_of(other, "share") > (expected ? planted + TOLERANCE : 0.75 * planted))
			return 1;
	}
	return !(planted >= LEAST_SHARE);
}

/* The programs' own account takes time without the processor for the function's; vprof does not. */
static int lost_processor(const cJSON *truth, const cJSON *factors)
{
	const cJSON *f;

	if (names(cJSON_GetObjectItem(truth, "planted"), "preempted") ||
	    names(cJSON_GetObjectItem(truth, "also"), "preempted"))
		return 0;
	cJSON_ArrayForEach(f, factors) if (!strcmp(text_of(f, "name"), "preempted") &&
					   number_of(f, "share") > TOLERANCE) return 1;
	return 0;
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
	cJSON_ArrayForEach(item,
			   cJSON_GetObjectItem(results, list)) if (!strcmp(text_of(item, "name"), name)) return item;
	return NULL;
}

static void check_figure(const cJSON *results, const cJSON *figure)
{
	const char *list = text_of(figure, "list"), *name = text_of(figure, "item"), *key = text_of(figure, "key");
	const cJSON *item = item_of(results, list, name);
	double planted = number_of(figure, "share"), found = number_of(item, key) / number_of(figure, "of");

	if (!item) {
		complain("%s is not among the %s", name, list);
		return;
	}
	printf("%-28s planted %6.3f   found %6.3f   (%s)\n", *name ? name : key, planted, found,
	       *name ? key : "of the variance");
	if (!(fabs(found - planted) <= TOLERANCE))
		complain("%s%s%s is %.3f, but %.3f was planted", name, *name ? ": " : "", key, found, planted);
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

int main(int argc, char **argv)
{
	const cJSON *planted, *factors, *also, *figure;
	cJSON *truth, *results;

	if (argc != 3) {
		fputs("usage: check_truth TRUTH.json RESULTS.json\n", stderr);
		return 2;
	}
	truth = read_json(argv[1]);
	results = read_json(argv[2]);
	planted = cJSON_GetObjectItem(truth, "planted");
	factors = cJSON_GetObjectItem(results, "factors");
	if (!planted || !cJSON_IsArray(factors)) {
		fputs("no \"planted\" in the truth, or no \"factors\" in the results\n", stderr);
		return 2;
	}
	show(factors);
	if (is_disturbed(truth, number_of(planted, "share"))) {
		printf("disturbed: by the program's own account the planted cause (share %.3f) did not dominate\n",
		       number_of(planted, "share"));
		return 3;
	}
	if (check_preempted(truth, results)) {
		also = cJSON_GetArrayItem(cJSON_GetObjectItem(truth, "also"), 0);
		check_first(factors, cJSON_GetObjectItem(also, "factor"), NULL);
	} else {
		if ((is_set(planted, "is_sampled") || cJSON_GetArraySize(cJSON_GetObjectItem(truth, "figures"))) &&
		    lost_processor(truth, factors)) {
			puts("disturbed: by the kernel's account other programs took the processor away");
			return 3;
		}
		check_first(factors, cJSON_GetObjectItem(planted, "factor"), cJSON_GetObjectItem(truth, "accept"));
		compare_share(results, cJSON_GetObjectItem(planted, "factor"), number_of(planted, "share"), 0,
			      is_set(planted, "is_sampled"));
	}
	cJSON_ArrayForEach(also, cJSON_GetObjectItem(truth, "also")) compare_share(
		results, cJSON_GetObjectItem(also, "factor"), number_of(also, "share"), is_set(also, "is_blame"), 0);
	cJSON_ArrayForEach(figure, cJSON_GetObjectItem(truth, "figures")) check_figure(results, figure);
	check_sums(results);
	if (is_vague) {
		puts("disturbed: the bounds of the sampled factor are too wide");
		bad = 3;
	}
	cJSON_Delete(truth);
	cJSON_Delete(results);
	if (!bad && has_missed)
		bad = 4;
	puts(bad >= 3 ? "AGAIN" : bad ? "FAIL" : "PASS");
	return bad;
}
