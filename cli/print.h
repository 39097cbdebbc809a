/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command answers, on standard output. */
#ifndef VPROF_PRINT_H
#define VPROF_PRINT_H

#include <cjson/cJSON.h>

#include "common/error.h"
#include "common/text.h"
#include "report/report.h"

/* Of a report on standard output; top: as there. */
struct vprof_report_options vprof_print_options(long top);

/* Both take what they print: it is released. OK or NOMEM, also when it could not be made (root NULL, text failed). */
int vprof_print_json(cJSON *root, struct vprof_error *err);
int vprof_print_text(struct vprof_text *text, struct vprof_error *err);

/* A string that may be no UTF-8, as a path or a message may. */
void vprof_print_add_string(cJSON *object, const char *key, const char *s);

#endif
