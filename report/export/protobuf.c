/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/protobuf.h"

#include "common/utf8.h"

static void put_varint(struct vprof_text *m, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	vprof_text_append(m, bytes, n);
}

static void put_tag(struct vprof_text *m, uint32_t field, unsigned wire_type)
{
	put_varint(m, (uint64_t)field << 3 | wire_type);
}

void vprof_protobuf_uint(struct vprof_text *m, uint32_t field, uint64_t value)
{
	put_tag(m, field, 0);
	put_varint(m, value);
}

void vprof_protobuf_fixed64(struct vprof_text *m, uint32_t field, uint64_t value)
{
	unsigned char bytes[8];

	put_tag(m, field, 1);
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	vprof_text_append(m, bytes, sizeof bytes);
}

static void add_bytes(struct vprof_text *m, uint32_t field, const void *bytes, size_t n)
{
	put_tag(m, field, 2);
	put_varint(m, n);
	vprof_text_append(m, bytes, n);
}

void vprof_protobuf_string(struct vprof_text *m, uint32_t field, const char *s)
{
	struct vprof_text clean = VPROF_TEXT_INIT;

	vprof_text_add_utf8(&clean, s);
	vprof_protobuf_message(m, field, &clean);
	vprof_text_release(&clean);
}

void vprof_protobuf_message(struct vprof_text *m, uint32_t field, const struct vprof_text *inner)
{
	add_bytes(m, field, inner->s, inner->len);
	m->failed |= inner->failed;
}
