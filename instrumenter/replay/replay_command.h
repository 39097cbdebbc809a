/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands that compile a unit: from its shadow sources, or as recorded. */
#ifndef VPROF_REPLAY_COMMAND_H
#define VPROF_REPLAY_COMMAND_H

#include "instrumenter/replay/replayer.h"

/* The recorded command, from shadow sources, to `output`. NULL-terminated, for vprof_words_free; NULL without memory.
 */
char **vprof_replay_command(const struct vprof_replayer *r, const struct vprof_unit *unit, const char *output);
/* The recorded command as it is, to `output`, without by-products. */
char **vprof_original_command(const struct vprof_unit *unit, const char *output);

/* Can the unit have twins that are made of two assemblies (resident_merge.h)? And the command that assembles them. */
int vprof_can_merge(const struct vprof_replayer *r, const struct vprof_unit *unit);
/* Can the compiler's assembly of the C unit be changed before it becomes an object? */
int vprof_can_spare(const struct vprof_replayer *r, const struct vprof_unit *unit);
char **vprof_assemble_command(const struct vprof_unit *unit, const char *assembly, const char *output);

/* A resident build compiles the sources of a command that also links one by one, so that each can have twins: may this
 * unit's be? The command that compiles its source `source` alone (release it also after an error), and the one that
 * links `unit->made` from their objects, in the order of the sources. */
int vprof_has_parts(const struct vprof_replayer *r, const struct vprof_unit *unit);
int vprof_part_command(const struct vprof_unit *unit, size_t source, struct vprof_command *out,
		       struct vprof_error *err);
char **vprof_join_command(const struct vprof_replayer *r, const struct vprof_unit *unit, const char *const *objects);

/* Does it link a program statically? Then it needs what vprof_library_link adds: *words, two of them, on the heap, or
 * none. */
int vprof_links_statically(const struct vprof_command *c);
int vprof_library_link(const struct vprof_replayer *r, const struct vprof_command *c, char *words[2],
		       struct vprof_error *err);

#endif
