/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reports beside that on variance: vprof report NAME. argv[0] is NAME; each returns an exit status. */
#ifndef VPROF_REPORTS_H
#define VPROF_REPORTS_H

int vprof_cmd_report_latency(int argc, char **argv);
int vprof_cmd_report_paths(int argc, char **argv);
int vprof_cmd_report_transactions(int argc, char **argv);
int vprof_cmd_report_waits(int argc, char **argv);

#endif
