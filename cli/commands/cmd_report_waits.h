/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `vprof report waits`, to which `vprof report` hands over. */
#ifndef VPROF_CMD_REPORT_WAITS_H
#define VPROF_CMD_REPORT_WAITS_H

/* argv[0] is "waits". The exit status. */
int vprof_cmd_report_waits(int argc, char **argv);

#endif
