/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions without a body in the project are worth a probe at their call sites. */
#ifndef VPROF_PLAN_EXTERNAL_H
#define VPROF_PLAN_EXTERNAL_H

/* Is a call of the external function `name` measured when its caller is broken down? 0 for allocators, for libc's
 * short functions (cheaper than their probe), compiler builtins and vprof's own interval API. */
int vprof_plan_external_measured(const char *name);

#endif
