/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Are the causes those that the program's account knows, in its order, and is the first one planted? */
#include "check_truth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 20

static int is_named(const cJSON *list, const char *name)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (!strcmp(text_of(item, "name"), name))
			return 1;
	}
	return 0;
}

/* Is it the cause's end, on the way to it, or what it consists of? */
static int names(const cJSON *cause, const char *name)
{
	return !strcmp(text_of(cause, "name"), name) || is_named(cJSON_GetObjectItem(cause, "steps"), name) ||
	       is_named(cJSON_GetObjectItem(cause, "splits"), name);
}

/* The entry that tells what would go if this cause were constant: it ends in the function, wherever that ran, and
 * consists of nothing but the function's own code, which is all of it. */
static const cJSON *entry_of_cause(const cJSON *truth, const cJSON *cause)
{
	const cJSON *splits = cJSON_GetObjectItem(cause, "splits"), *entry, *found = NULL;

	if (strcmp(text_of(cause, "kind"), "work") != 0 || cJSON_GetArraySize(splits) != 1 ||
	    strcmp(text_of(cJSON_GetArrayItem(splits, 0), "kind"), "body") != 0)
		return NULL;
	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(entry, "factor"));

		if (name && !strcmp(name, text_of(cause, "name")) && !is_set(entry, "has_parts"))
			found = entry;
	}
	return found;
}

/* Preempted time is no part of such a cause, so the account's bounds are of the time for which the thread surely had
 * the CPU, and of all. */
static void check_cause_order(const cJSON *truth, const cJSON *results)
{
	const cJSON *before, *after;
	char name[256];

	cJSON_ArrayForEach(before, cJSON_GetObjectItem(results, "causes"))
	{
		const cJSON *x = entry_of_cause(truth, before);
		double most = number_of(x, "cause_high");

		for (after = before->next; x && after; after = after->next) {
			const cJSON *y = entry_of_cause(truth, after);

			if (!y || most + RESOLUTION >= number_of(y, "cause_low") - RESOLUTION)
				continue;
			snprintf(name, sizeof name, "%s", title(x));
			complain("cause %s comes before %s, but at most %.3f would go, of the other at least %.3f",
				 name, title(y), most, number_of(y, "cause_low"));
		}
	}
}

/* Where a cause may end above a planted one that others did: at a wait of which more is neither the planted one's nor
 * that of the work around it, as when those whom the wait is for wait for a CPU themselves. NULL: nowhere. */
static const char *ends_above(const cJSON *truth, const cJSON *planted)
{
	const cJSON *inner = planted, *entry, *outer;

	for (int depth = 0; inner && is_set(inner, "is_blame") && depth < MAX_DEPTH; depth++, inner = outer) {
		outer = NULL;
		cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
		{
			if (!strcmp(text_of(entry, "factor"), text_of(inner, "beneath")))
				outer = entry;
		}
		if (outer && is_set(outer, "is_wait") && number_of(outer, "low") > 2 * number_of(inner, "high"))
			return text_of(outer, "factor");
	}
	return NULL;
}

/* What the machine did to calls that nobody timed is undivided between a hot function and its caller: the account has
 * it where its kernel does not, as when a hypervisor takes the processor away. */
double undivided_by_machine(const cJSON *truth)
{
	const cJSON *entry;
	double sum = 0;

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		if (is_set(entry, "is_sampled"))
			sum += number_of(entry, "undivided_high");
	}
	return sum;
}

/* The largest of what the account says of a function, wherever it ran; -1: it is not in the account, or only with what
 * it calls. */
static double largest_of(const cJSON *truth, const char *name, const char *key)
{
	const cJSON *entry;
	double largest = -1;

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		if (!strcmp(text_of(entry, "factor"), name) && !is_set(entry, "is_wait") &&
		    (is_set(entry, "is_planted") || !is_set(entry, "has_parts")))
			largest = fmax(largest, number_of(entry, key));
	}
	return largest;
}

static const cJSON *largest_split(const cJSON *cause)
{
	const cJSON *split, *largest = NULL;

	cJSON_ArrayForEach(split, cJSON_GetObjectItem(cause, "splits"))
	{
		if (!largest || number_of(split, "part") > number_of(largest, "part"))
			largest = split;
	}
	return largest;
}

/* Does a cause end at this entry's function, or at what is most of its end? Two that vary together are one cause. */
static int ends_at(const cJSON *truth, const cJSON *cause, const cJSON *entry)
{
	const char *name = text_of(entry, "factor"), *above = ends_above(truth, entry);

	if (!strcmp(text_of(cause, "kind"), "together"))
		return names(cause, name);
	return !strcmp(text_of(cause, "name"), name) || !strcmp(text_of(largest_split(cause), "name"), name) ||
	       (above && !strcmp(text_of(cause, "name"), above));
}

/* What would go at most with a wait on the way to a cause, of which the account has nothing that others did meanwhile;
 * -1: there is none. */
static double most_of_wait(const cJSON *truth, const cJSON *cause)
{
	const cJSON *entry, *other;
	double most = -1;

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		int has_work = 0;

		if (!is_set(entry, "is_wait") || !names(cause, text_of(entry, "factor")))
			continue;
		cJSON_ArrayForEach(other, cJSON_GetObjectItem(truth, "factors"))
			has_work |= !strcmp(text_of(other, "beneath"), text_of(entry, "factor"));
		if (!has_work)
			most = fmax(most, number_of(entry, "cause_high"));
	}
	return most;
}

/* The first cause, but for the scheduler's, ends at a planted function, or at one that, by the account, may be as large
 * as the largest planted one. Of a hot function most of whose calls nobody timed the account does not tell how large it
 * is. */
static void check_first_cause(const cJSON *truth, const cJSON *results)
{
	const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(results, "causes"), 0), *entry;
	double planted = 0, most;

	while (first && !strcmp(text_of(first, "kind"), "preempted"))
		first = first->next;
	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		if (is_set(entry, "is_planted") && !is_set(entry, "is_sampled") && !is_set(entry, "is_wait") &&
		    !is_unknown(results, entry) && !is_set(entry, "is_preempted"))
			planted = fmax(planted, number_of(entry, "cause_low"));
	}
	if (!first || planted < number_of(results, "threshold") + WORTH_MENTIONING)
		return;
	most = largest_of(truth, text_of(first, "name"), "cause_high");
	most = fmax(most, most_of_wait(truth, first));
	if (most < 0)
		most = number_of(truth, "elsewhere_high") + undivided_by_machine(truth);
	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		if (is_set(entry, "is_planted") && !is_set(entry, "is_wait") && !is_set(entry, "is_preempted") &&
		    ends_at(truth, first, entry))
			most = fmax(most, largest_of(truth, text_of(entry, "factor"), "cause_high"));
	}
	printf("first cause: %s; at most %.3f would go with it, with a planted one at least %.3f\n",
	       text_of(first, "name"), most, planted);
	if (most + RESOLUTION < planted - RESOLUTION)
		complain("the first cause is %s, but at most %.3f would go with it, and %.3f with a planted one",
			 text_of(first, "name"), most, planted);
}

/* Every planted factor is named by a cause, and their order is the account's. */
void check_causes(const cJSON *truth, const cJSON *results)
{
	const cJSON *causes = cJSON_GetObjectItem(results, "causes"), *entry, *cause;
	double threshold = number_of(results, "threshold");

	cJSON_ArrayForEach(entry, cJSON_GetObjectItem(truth, "factors"))
	{
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(entry, "factor"));
		const char *above = ends_above(truth, entry);
		int is_there = 0;

		if (!is_set(entry, "is_planted") || is_set(entry, "is_sampled") || is_unknown(results, entry) ||
		    number_of(entry, "on_cpu_low") < threshold + WORTH_MENTIONING + RESOLUTION)
			continue;
		cJSON_ArrayForEach(cause, causes) is_there |= names(cause, name) || (above && names(cause, above));
		if (!is_there)
			complain("no cause names %s", name);
	}
	check_cause_order(truth, results);
	check_first_cause(truth, results);
}
