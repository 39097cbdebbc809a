/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof record --hosts: a recording on each of several hosts, by ssh, brought back as one run.
 *
 * On each host `vprof record` runs until its connection's standard input ends, so that nothing stays behind when the
 * connection breaks; then its trace comes back through the same connection. VPROF_SSH is the command that makes the
 * connection (default: ssh, which asks for no password), VPROF_REMOTE what vprof is called there (default "vprof").
 */
#ifndef VPROF_RECORD_HOSTS_H
#define VPROF_RECORD_HOSTS_H

#include "common/error.h"

#define VPROF_HOSTS_MOST 64
#define VPROF_HOSTS_OPTIONS_MOST 24

struct vprof_hosts_request {
	const char *file; /* a line for each host: its name, then words for vprof record; "#" at its begin: a remark */
	char **options;	  /* ... for all of them, up to VPROF_HOSTS_OPTIONS_MOST words, NULL-terminated */
	const char *folder; /* of the run: FOLDER/HOST is a run itself, FOLDER/hosts their names */
	char **command;	    /* to be run here meanwhile, NULL-terminated; NULL: none */
	double most_ns;	    /* 0: until the command ends, or Ctrl-C */
};

/* *status: the command's, as of waitpid; -1 without one. INPUT, MISSING or FAILED: the message names the host; what the
 * others recorded is there. */
int vprof_record_hosts(const struct vprof_hosts_request *request, int *status, struct vprof_error *err);

#endif
