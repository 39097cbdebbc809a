/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiling units for a discovery run: the compiler's thread sanitizer tells each memory access, vprof-flows.o takes
 * the place of its runtime (runtime/flows/flow_stub.c). */
#ifndef VPROF_REPLAY_FLOWS_H
#define VPROF_REPLAY_FLOWS_H

#include "instrumenter/replay/replayer.h"

int vprof_flow_unit_is_wanted(const struct vprof_replayer *r, const struct vprof_unit *unit);
/* INPUT when one of the wanted units cannot take part: it has a sanitizer of its own, or is compiled and linked by one
 * command. */
int vprof_flow_units_check(const struct vprof_replayer *r, struct vprof_error *err);
/* Does it hold functions of the program's own locks, which have probes? `fingerprint` as vprof_edited_unit. */
int vprof_flow_unit_is_edited(const struct vprof_replayer *r, const struct vprof_unit *unit, char fingerprint[17]);
/* As vprof_original_command, or of an edited unit as vprof_replay_command. */
char **vprof_flow_command(const struct vprof_replayer *r, const struct vprof_unit *unit, const char *output);
/* Joins what was compiled with vprof-flows.o, in place. BUILD. */
int vprof_flow_join(struct vprof_replayer *r, struct vprof_unit *unit, const char *made, struct vprof_error *err);

#endif
