/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions at an address of a program or shared library.
 *
 * Names come from the file's symbol table; without one from its separate debug file (by build id beneath the folder of
 * debug files, or by the name that .gnu_debuglink gives, with the checksum right), else from its dynamic symbols
 * together with .gnu_debugdata ("minidebuginfo"). The functions that the compiler inlined there come from DWARF, in the
 * file or its debug file, but for libraries whose debug file is the system's (of /usr/lib/debug), unless they
 * are wanted (vprof_elf_want_lines). Nothing is ever fetched from a debuginfod server.
 *
 * Opening a file reads its headers only; symbols are read when the first address is asked for, and DWARF unit by unit.
 * Files are hostile input: what is damaged has no names.
 */
#ifndef VPROF_ELF_SYMBOLS_H
#define VPROF_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define VPROF_ELF_FRAMES_MAX 32u /* at one address */

struct vprof_elf;

struct vprof_symbol {
	const char *name;   /* qualified, without parameters and without compiler suffixes (".cold", ".isra.0") */
	const char *module; /* path */
	uint64_t low; /* address in the module: identity of the function together with the name; 0: only inlined */
};

struct vprof_frame {
	const struct vprof_symbol *symbol;
	const char *declared_in; /* the file, of an inlined function; NULL: not known, or not inlined */
};

struct vprof_place {
	const char *file; /* as the compiler was given it, or NULL: not known */
	int line;
};

/* `debug_dir`: the folder of separate debug files; NULL: $VPROF_DEBUG_DIR, or /usr/lib/debug. MISSING: cannot be
 * opened; INPUT: no program or shared library, or a damaged one. */
int vprof_elf_open(struct vprof_elf **out, const char *path, const char *debug_dir, struct vprof_error *err);
void vprof_elf_free(struct vprof_elf *elf);

/* Inlined functions and lines of a library whose debug file is the system's, too: for who looks at few addresses.
 * Libc's take 40 ms to unpack. Before anything else is asked. */
void vprof_elf_want_lines(struct vprof_elf *elf);

/* The file's build id against this one: 1 the same, 0 another, -1 one of them has none. */
int vprof_elf_same_build(const struct vprof_elf *elf, const void *id, size_t n);

/* When the file's content or owner was last changed (ctime: installed files have the mtime of their build). */
int64_t vprof_elf_changed_ns(const struct vprof_elf *elf);

/* Does it have names for more than what it exports? */
int vprof_elf_has_symbols(struct vprof_elf *elf);

/* Is it an executable without a loader? */
int vprof_elf_is_static(const struct vprof_elf *elf);

/* The functions at an address, as the linker counts addresses: innermost first, each inlined into the next, the last
 * one the function that the linker knows. At most `max`: outer ones are left out. Returns their number, 0 when nothing
 * is known. They belong to `elf`; the same function has the same pointer. */
size_t vprof_elf_frames(struct vprof_elf *elf, uint64_t address, struct vprof_frame *frames, size_t max);

/* The function at an address as the linker knows it, whatever was inlined into it; NULL: none is known. */
const struct vprof_symbol *vprof_elf_function(struct vprof_elf *elf, uint64_t address);

/* Does the address lie in a procedure linkage table (.plt and its kin), through which calls to other files go?
 * O(sections). */
int vprof_elf_is_plt(struct vprof_elf *elf, uint64_t address);

/* The file's bytes at an address, as far as a segment of it holds all of them: 1, else 0. */
int vprof_elf_read_at(const struct vprof_elf *elf, uint64_t address, void *to, size_t n);

/* Where the function around an address begins, by the file's table of unwind information (.eh_frame_hdr), which
 * stripped files have, too. 0: it has none, or a damaged one, or none before the address. O(log n) reads. */
uint64_t vprof_elf_frame_start(const struct vprof_elf *elf, uint64_t address);

/* May the function around an address go on where an exception is caught, or cleaned up after? 1 where that is not
 * known.
 */
int vprof_elf_frame_catches(const struct vprof_elf *elf, uint64_t address);

/* Does a handler of signals return to the function around an address, so that what its frame lies on was interrupted
 * at any instruction and did not call it? 0 where that is not known. */
int vprof_elf_frame_is_signal(const struct vprof_elf *elf, uint64_t address);

/* Their source lines, likewise: the address's own, then where each function was inlined. Texts belong to `elf`. */
size_t vprof_elf_places(struct vprof_elf *elf, uint64_t address, struct vprof_place *places, size_t max);

/* Why symbols or debug information could not be read although they are there; NULL: nothing was wrong so far. */
const char *vprof_elf_damage(const struct vprof_elf *elf);

#endif
