/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drafts of hand-made facts, in a folder of their own. */
#ifndef DRAFTED_H
#define DRAFTED_H

#include "annotate/discover/discover.h"
#include "made_facts.h"

#define ONE(name, type) "[{\"name\":\"" name "\",\"type\":\"" type "\"}]" /* a parameter */

extern char drafted_dir[];
extern const struct vprof_watched *drafted_watched;    /* what a load showed; NULL: there was none */
extern const struct vprof_found_queues *drafted_found; /* what a discovery run found; NULL: there was none */

/* A function of the file made last; its number. */
int add(struct made *m, const char *name, const char *returns, const char *params, const char *signature);

/* The draft of what `make` makes; fails the test if there is none. finish frees it, and what its strings refer to. */
struct vprof_draft *discover(void (*make)(struct made *));
void finish(struct vprof_draft *draft);

/* The draft of what `make` makes is a vprof.json that the reader accepts, with so many hooks. run: NULL for none. */
void expect_readable(void (*make)(struct made *), const char *run, size_t n_hooks);

/* The fixture of a group of tests. */
int drafted_set_up(void **state);
int drafted_tear_down(void **state);

#endif
