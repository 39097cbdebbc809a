/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `vprof report paths`, to which `vprof report` hands over. */
#ifndef VPROF_CMD_REPORT_PATHS_H
#define VPROF_CMD_REPORT_PATHS_H

/* argv[0] is "paths". The exit status. */
int vprof_cmd_report_paths(int argc, char **argv);

#endif
