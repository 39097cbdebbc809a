/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the names in an assembly tell of what bears them. */
#ifndef VPROF_RESIDENT_NAMES_H
#define VPROF_RESIDENT_NAMES_H

#include <stddef.h>

/* From its dot on: a name that the compiler derived from a function's for what it made of it. */
int vprof_name_is_clone(const char *dot);
/* Another name that the compiler gives to a function, to call that one and none that the linker puts in its place. */
int vprof_name_is_alias(const char *name, size_t n);
/* A constant that the compiler made, or a name of C++, where those of static variables are not numbered. */
int vprof_name_is_made(const char *name);
int vprof_name_is_of_runtime(const char *name); /* vprof's */
int vprof_name_is_of_libc(const char *name);

#endif
