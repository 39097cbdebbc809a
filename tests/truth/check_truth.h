/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What check_truth consists of: the account's and the report's figures, and complaints about them. */
#ifndef CHECK_TRUTH_H
#define CHECK_TRUTH_H

#include <cjson/cJSON.h>

/* of the variance: both accounts read the same counter, each some nanoseconds apart from the other */
#define RESOLUTION 0.005
#define WORTH_MENTIONING 0.02

/* check_truth.c */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* the report is wrong */
const char *text_of(const cJSON *object, const char *key);		   /* "": there is none */
double number_of(const cJSON *object, const char *key);			   /* NaN: there is none */
int is_set(const cJSON *object, const char *key);			   /* true, or a number other than 0 */
int is_unknown(const cJSON *results, const cJSON *entry); /* what the kernel would have to tell, and does not */
const char *title(const cJSON *entry); /* for messages: a name, or a pair's two; until the next call */

/* check_causes.c */
void check_causes(const cJSON *truth, const cJSON *results);
double undivided_by_machine(const cJSON *truth); /* what the machine did to calls that nobody timed */

#endif
