/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Protocol buffers' wire format, as much of it as is written here: varints, fixed64, and what has a length. A message
 * within another is built in a text of its own first. */
#ifndef VPROF_PROTOBUF_H
#define VPROF_PROTOBUF_H

#include <stdint.h>

#include "common/text.h"

void vprof_protobuf_uint(struct vprof_text *m, uint32_t field, uint64_t value);
void vprof_protobuf_fixed64(struct vprof_text *m, uint32_t field, uint64_t value);
/* A string: what is no UTF-8 in it is replaced. NULL is "". */
void vprof_protobuf_string(struct vprof_text *m, uint32_t field, const char *s);
void vprof_protobuf_message(struct vprof_text *m, uint32_t field, const struct vprof_text *inner);

#endif
