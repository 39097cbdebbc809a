/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the names of functions, parameters and types suggest.
 *
 * A name is compared by its last component, in lower case, letters and digits only: "cq_push", "CqPush" and
 * "ns::Cq::push" are "cqpush" and "push".
 */
#ifndef VPROF_IDENTIFIERS_H
#define VPROF_IDENTIFIERS_H

#include <stddef.h>

#define VPROF_LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* Is it one of the list, exactly? */
int vprof_name_in(const char *name, const char *const *list, size_t n);
/* The part after the last "::". */
const char *vprof_name_last(const char *name);
void vprof_name_normalise(char *out, size_t size, const char *name);
/* Is one of `words` part of the normalised `name`? */
int vprof_name_has_part(const char *name, const char *const *words, size_t n);
/* Is `word` one of the words of a name: "trans_begin", "beginTrans", but not "translate"? */
int vprof_name_has_word(const char *name, const char *word);
/* Does a name or type sound like a request, connection or job? */
int vprof_name_sounds_like_request(const char *name);
/* How many words a name has that handlers of requests have, at most 2: "handle_request" says more than "handle". */
int vprof_name_count_work_words(const char *name);
/* Does the identifier `word` occur in the expression `text`? */
int vprof_expression_mentions(const char *text, const char *word);

#endif
