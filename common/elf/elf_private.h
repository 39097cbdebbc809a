/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the symbol reader share. */
#ifndef VPROF_ELF_PRIVATE_H
#define VPROF_ELF_PRIVATE_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "common/array.h"
#include "common/elf/elf_symbols.h"
#include "common/hash/string_set.h"

struct vprof_dwarf;

/* one of the symbol table */
struct vprof_elf_entry {
	uint64_t low, high;
	const char *elf_name;	    /* in the mapped file */
	struct vprof_symbol symbol; /* name filled at first use */
};

struct vprof_elf {
	char *path, *debug_dir;
	int fd;
	Elf *headers; /* read, not mapped: for what is asked before symbols are */
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	int is_read, is_separate;		     /* symbols come from another file, or from .gnu_debugdata */
	int is_packaged;			     /* a library, and its debug file is the system's */
	int wants_lines;			     /* ... of which lines are wanted all the same */
	VPROF_ARRAY(struct vprof_elf_entry) entries; /* by low; never grows once read */
	struct vprof_dwarf *dwarf;
	struct vprof_strings strings;
	char *damage;
};

#define VPROF_SYSTEM_DEBUG_DIR "/usr/lib/debug"

/* libdwfl's callback; its user data is the struct vprof_elf. */
int vprof_debug_file_find(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *path,
			  const char *link, GElf_Word link_crc, char **found);

/* The module's symbols and DWARF, if there are any, once. */
void vprof_elf_read(struct vprof_elf *elf);
void vprof_elf_set_damage(struct vprof_elf *elf, const char *what, const char *reason);

/* The symbol of the linker's table around an address, or NULL. */
const struct vprof_symbol *vprof_elf_linked(struct vprof_elf *elf, uint64_t address);
/* The symbol of this linker's name, or NULL. */
const struct vprof_symbol *vprof_elf_named(struct vprof_elf *elf, const char *elf_name);

/* NULL without memory or debug information. */
struct vprof_dwarf *vprof_dwarf_new(struct vprof_elf *elf);
void vprof_dwarf_free(struct vprof_dwarf *dwarf);
Dwarf *vprof_dwarf_of(const struct vprof_dwarf *dwarf);

/* The functions inlined at an address, innermost first; with `outer`, the function around them, too. */
size_t vprof_dwarf_frames(struct vprof_dwarf *dwarf, uint64_t address, struct vprof_frame *frames, size_t max,
			  int outer);
size_t vprof_dwarf_places(struct vprof_dwarf *dwarf, uint64_t address, struct vprof_place *places, size_t max);

#endif
