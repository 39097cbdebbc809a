/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of sampled stacks to function names, from the modules that the trace names (common/elf/elf_symbols.h). A
 * module that was built again since the run names nothing: its addresses mean other functions. */
#ifndef VPROF_SYMBOLS_H
#define VPROF_SYMBOLS_H

#include "analysis/timeline/timeline.h"
#include "common/elf/elf_symbols.h"

struct vprof_symbols;

/* Modules are opened when the first address in them is asked for. `timeline` must outlive the symbols. NULL: no memory.
 */
struct vprof_symbols *vprof_symbols_new(const struct vprof_timeline *timeline);
void vprof_symbols_free(struct vprof_symbols *symbols);

/* The functions around a return address, innermost first: those inlined there, but for the probes' own, and the one
 * that they were inlined into. Their number, 0: unknown module, or one without symbols. *found is valid until the next
 * call; the symbols belong to `symbols`, and the same function of a module has the same pointer. */
size_t vprof_symbols_find(struct vprof_symbols *symbols, uint32_t process_seq, uint64_t address,
			  const struct vprof_symbol *const **found);

/* Number of modules whose file is another now than in the run (build id; without one: changed since the run's end).
 * None of their addresses is named. *first: the first's path, which belongs to the timeline. */
size_t vprof_symbols_changed(const struct vprof_symbols *symbols, const char **first);

/* Why the first of the modules that are there but damaged has no names, or not all; NULL: none is. */
const char *vprof_symbols_damage(const struct vprof_symbols *symbols);

/* Is the module at this path the runtime, whose functions nobody asks for? */
int vprof_symbols_is_runtime(const char *module);

#endif
