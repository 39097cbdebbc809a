/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a recorded gcc or clang command that decides what the code means, for a parse by libclang. */
#ifndef VPROF_COMPILE_ARGUMENTS_H
#define VPROF_COMPILE_ARGUMENTS_H

#include "common/arena.h"
#include "common/facts/facts.h"

/* Sets *argv (in the arena, NULL-terminated) and *argc, without compiler and source file. */
int vprof_compile_arguments(const struct vprof_facts_tu *tu, struct vprof_arena *arena, const char ***argv, int *argc,
			    struct vprof_error *err);

#endif
