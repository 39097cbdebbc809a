/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `vprof report transactions`, to which `vprof report` hands over. */
#ifndef VPROF_CMD_REPORT_TRANSACTIONS_H
#define VPROF_CMD_REPORT_TRANSACTIONS_H

/* argv[0] is "transactions". The exit status. */
int vprof_cmd_report_transactions(int argc, char **argv);

#endif
