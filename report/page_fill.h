/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A page from its template and its data. Internal to report/.
 *
 * Invariant: whatever bytes names and sources hold, the page is valid UTF-8 and none of them reaches the HTML parser as
 * markup: data are JSON in which "<", ">" and "&" are written as escapes.
 */
#ifndef VPROF_PAGE_FILL_H
#define VPROF_PAGE_FILL_H

#include <cjson/cJSON.h>

#include "common/error.h"
#include "common/text.h"

/* Appends the template with the data in the place of its mark (page_template.h). `data` NULL: there was no memory for
 * them. NOMEM. */
int vprof_page_fill(const char *template, const cJSON *data, struct vprof_text *out, struct vprof_error *err);

#endif
