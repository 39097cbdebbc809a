/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inline assembly in a unit that is compiled for a discovery run. The compiler tells nothing of it, so atomic
 * instructions in it are found in the unit's assembly: a locked one, or an exchange with memory, is put between two
 * calls that tell it to the discovery runtime as if the compiler had done so (runtime/flows/flow_stub.c). x86-64 only.
 */
#ifndef VPROF_FLOW_ASSEMBLY_H
#define VPROF_FLOW_ASSEMBLY_H

#include "common/text.h"

/* Appends `assembly`, with these calls, to `out`; returns how many instructions were found. What cannot be read (Intel
 * syntax, memory of a thread's own, an instruction on 16 bytes) stays as it is. The text is whole lines. Zero bytes in
 * it, which clang writes into comments, become blanks. */
size_t vprof_flow_assembly_edit(struct vprof_text *assembly, struct vprof_text *out);

/* Could the text of a source have such instructions? */
int vprof_flow_assembly_is_likely(const char *source);

/* What a call says of the instruction: bytes, kind, and the register whose value is written or received. */
#define VPROF_FLOW_ASM_NO_REGISTER 31u
enum vprof_flow_asm { VPROF_FLOW_ASM_OTHER, VPROF_FLOW_ASM_XCHG, VPROF_FLOW_ASM_CMPXCHG, VPROF_FLOW_ASM_XADD };

#endif
