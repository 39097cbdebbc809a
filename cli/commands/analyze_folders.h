/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof analyze DIR...: traces of several runs or hosts as one, without a project, by this process or by the ranks that
 * mpirun started (--mpi). */
#ifndef VPROF_ANALYZE_FOLDERS_H
#define VPROF_ANALYZE_FOLDERS_H

#include <stddef.h>

#include "report/report.h"

struct vprof_folders {
	char **words; /* [n] runs' folders, or their trace folders */
	size_t n;
	const char *interval, *output;	  /* output: file for results.json, or NULL */
	const char *type;		  /* of the intervals; NULL: all */
	int by_context;			  /* types are contexts */
	long k, n_threads;		  /* 0: the default */
	double threshold, slower_than_ns; /* below 0, 0: the default */
	enum vprof_view view;
	int json, use_mpi;
};

/* Returns the exit status; only rank 0 prints and writes. */
int vprof_analyze_folders(const struct vprof_folders *f);

/* For what one process does alone: of the ranks that mpirun started, the first one does it, and the others wait for its
 * end. Returns the exit status. */
int vprof_tell_by_first_rank(int (*tell)(void *arg), void *arg);

#endif
