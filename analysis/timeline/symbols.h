/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of sampled stacks to function names, from the symbol tables of the modules that the trace names. A module
 * that was built again since the run names nothing: its addresses mean other functions. */
#ifndef VPROF_SYMBOLS_H
#define VPROF_SYMBOLS_H

#include "analysis/timeline/timeline.h"

struct vprof_symbols;

struct vprof_symbol {
	const char *name;   /* qualified, without parameters and without compiler suffixes (".cold", ".isra.0") */
	const char *module; /* path */
	uint64_t low;	    /* address in the module: identity of the function together with the module */
};

/* Modules are opened when the first address in them is asked for. `timeline` must outlive the symbols. NULL: no memory.
 */
struct vprof_symbols *vprof_symbols_new(const struct vprof_timeline *timeline);
void vprof_symbols_free(struct vprof_symbols *symbols);

/* The function around a return address, or NULL: unknown module, or one without symbols. Belongs to `symbols`. */
const struct vprof_symbol *vprof_symbols_find(struct vprof_symbols *symbols, uint32_t process_seq, uint64_t address);

/* Number of modules that could not be read (moved, deleted, or not ELF). */
size_t vprof_symbols_unreadable(const struct vprof_symbols *symbols);

/* Number of modules whose file is another now than in the run (build id; without one: changed since the run's end).
 * None of their addresses is named. *first: the first's path, which belongs to the timeline. */
size_t vprof_symbols_changed(const struct vprof_symbols *symbols, const char **first);

/* Is the module at this path the runtime, whose functions nobody asks for? */
int vprof_symbols_is_runtime(const char *module);

/* Heap copy of an ELF symbol's name as `name` above says; NULL without memory. */
char *vprof_symbol_name(const char *elf_name);

#endif
