/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VPROF_CMD_REPORT_LATENCY_H
#define VPROF_CMD_REPORT_LATENCY_H

/* vprof report latency: argv[0] is "latency". Returns the exit status. */
int vprof_cmd_report_latency(int argc, char **argv);

#endif
