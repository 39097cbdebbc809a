/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Includes by absolute path, as unity builds and precompiled headers use them, bypass the shadow tree, and those that
 * leave the project ("../../common/x.h") lead to another place from there. */
#ifndef VPROF_SPLICE_INCLUDE_H
#define VPROF_SPLICE_INCLUDE_H

#include "common/facts/facts.h"
#include "instrumenter/splice/splice_edit.h"

/* For every unit that reads an edited file (`edits`, in any order): in all project files that it reads, includes of
 * project files by absolute path are redirected to `shadow_dir`, which lies below facts->root, and those in quotes that
 * lead out of the project become absolute. Adds edits, unsorted. Reads the files of the affected units. */
int vprof_splice_includes(struct vprof_edits *edits, const struct vprof_facts *facts, const char *shadow_dir,
			  struct vprof_error *err);

#endif
