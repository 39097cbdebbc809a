/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of an assembly as gcc writes it: one statement in each, AT&T or Intel. */
#ifndef VPROF_RESIDENT_LINE_H
#define VPROF_RESIDENT_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/array.h"

struct vprof_asm_line {
	const char *s, *end; /* without its newline */
	const char *word;    /* the first that is not space */
	size_t n_word;
};

/* What a section is for. */
enum vprof_place {
	VPROF_PLACE_CODE,
	VPROF_PLACE_EXCEPTIONS,
	VPROF_PLACE_READ_ONLY,
	VPROF_PLACE_WRITABLE,
	VPROF_PLACE_LEFT_OUT,
};

int vprof_line_next(const char **at, const char *end, struct vprof_asm_line *l); /* 0: there is none */
/* Is its first word one of `list`, which spaces separate? */
int vprof_line_is(const struct vprof_asm_line *l, const char *list);
int vprof_line_begins(const struct vprof_asm_line *l, const char *with);
int vprof_line_is_label(const struct vprof_asm_line *l);
int vprof_label_is_local(const char *name);
/* The first operand of a directive, and what follows the first comma. */
const char *vprof_line_operand(const struct vprof_asm_line *l, size_t *n);
const char *vprof_line_second(const struct vprof_asm_line *l, size_t *n);
int vprof_line_is_section(const struct vprof_asm_line *l);
enum vprof_place vprof_line_place(const struct vprof_asm_line *l);
/* Is the section, which a directive names, one of a program's own, as those whose ends the linker tells? */
int vprof_line_is_own_section(const struct vprof_asm_line *l);
int vprof_line_is_branch(const struct vprof_asm_line *l);
/* Where a branch leads to, NULL when that is told by a register or memory. */
const char *vprof_line_target(const struct vprof_asm_line *l);
/* Does it name a label that is none of a string? */
int vprof_line_names_code(const struct vprof_asm_line *l);
/* The next part of a line: its length. *is_name: it is a symbol or a local label; all else means the same in any file.
 */
size_t vprof_line_token(const char *s, const char *end, int *is_name);
/* A hash of each string of an assembly, by the number of its label (.LC7); 0: there is none. */
struct vprof_asm_strings {
	VPROF_ARRAY(uint64_t) hashes;
};
int vprof_asm_strings_read(struct vprof_asm_strings *strings, const char *at, const char *end); /* -1: no memory */
/* A hash of what a directive puts into the file, the same in two assemblies of one source: what strings hold counts,
 * and not the numbers that the compiler gives to names and labels. */
uint64_t vprof_line_hash(uint64_t seed, const struct vprof_asm_line *l, const struct vprof_asm_strings *strings);
/* Of .align and its like, in bytes; 0: it is none of these. */
unsigned long vprof_line_alignment(const struct vprof_asm_line *l);

#endif
