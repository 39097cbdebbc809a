/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof --version: the version, and what a report of an error should say about the build. */
#ifndef VPROF_VERSION_PRINT_H
#define VPROF_VERSION_PRINT_H

/* The first line is "vprof VERSION" and nothing else. */
void vprof_version_print(void);

#endif
