/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/flows/flow_dictionary.h"

static uint64_t location_hash(uint64_t space, uint64_t address)
{
	return vprof_mix(address ^ vprof_mix(space + 1));
}

static struct vprof_flow_location *find(const struct vprof_flow_dictionary *d, uint64_t space, uint64_t address,
					size_t *at)
{
	VPROF_HASH_EACH(&d->index, location_hash(space, address), *at, i)
	{
		if (d->locations.v[i].address == address && d->locations.v[i].space == space)
			return &d->locations.v[i];
	}
	return NULL;
}

static int is_common(const struct vprof_flow_held *a, const struct vprof_flow_held *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (a->locks[i] == b->locks[k])
				return 1;
	return 0;
}

struct vprof_flow_origin vprof_flow_look(struct vprof_flow_dictionary *d, uint64_t space, uint64_t address,
					 uint64_t value, const struct vprof_flow_held *held)
{
	struct vprof_flow_location *l;
	size_t at;

	l = find(d, space, address, &at);
	if (!l)
		return (struct vprof_flow_origin){ VPROF_FLOW_UNKNOWN };
	if (l->value != value || !is_common(&l->held, held))
		l->origin.state = VPROF_FLOW_UNKNOWN;
	return l->origin;
}

struct vprof_flow_origin vprof_flow_look_half(const struct vprof_flow_dictionary *d, uint64_t space, uint64_t address,
					      uint64_t value, const struct vprof_flow_held *held)
{
	for (int i = 0; i < 2; i++) {
		size_t at;
		const struct vprof_flow_location *l = find(d, space, i ? address + 4 : address - 4, &at);

		if (l && l->origin.state == VPROF_FLOW_VALID && is_common(&l->held, held) &&
		    (i ? (uint32_t)l->value == value >> 32 : l->value >> 32 == (uint32_t)value))
			return l->origin;
	}
	return (struct vprof_flow_origin){ VPROF_FLOW_UNKNOWN };
}

int vprof_flow_store(struct vprof_flow_dictionary *d, uint64_t space, uint64_t address, uint64_t value,
		     const struct vprof_flow_held *held, const struct vprof_flow_origin *origin)
{
	struct vprof_flow_location *l;
	size_t at;

	if (vprof_hash_index_room(&d->index, 1) || d->locations.n >= UINT32_MAX - 1)
		return -1;
	l = find(d, space, address, &at);
	if (!l) {
		l = VPROF_PUSH(&d->locations);
		if (!l)
			return -1;
		vprof_hash_index_put(&d->index, at, location_hash(space, address), (uint32_t)d->locations.n - 1);
	}
	*l = (struct vprof_flow_location){ space, address, value, *held, *origin };
	return 0;
}

void vprof_flow_dictionary_release(struct vprof_flow_dictionary *d)
{
	VPROF_ARRAY_RELEASE(&d->locations);
	vprof_hash_index_release(&d->index);
}
