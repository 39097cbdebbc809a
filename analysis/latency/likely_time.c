/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/likely_time.h"

int vprof_likely_time_begin(struct vprof_likely_time *l)
{
	l->pools = calloc(l->tree->nodes.n * l->n_blocks, sizeof *l->pools);
	l->pool = VPROF_NONE;
	return l->pools ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Was the thread found in code of the program's or a library's own? */
static int is_in_code(const struct vprof_latency_history *h, uint32_t stack)
{
	return stack != VPROF_NONE && h->stacks.v[stack].n == h->stacks.v[stack].n_user;
}

void vprof_likely_time_end(struct vprof_likely_time *l)
{
	for (size_t i = 0; i + 1 < l->stretch.n; i += 2) {
		uint64_t end = l->stretch.v[i] + l->stretch.v[i + 1];

		for (uint64_t at = l->stretch.v[i]; at < end;) {
			uint64_t block = at / l->block_length, next = (block + 1) * l->block_length;

			next = next < end ? next : end;
			l->pools[(size_t)l->pool * l->n_blocks + block] += next - at;
			at = next;
		}
	}
	for (size_t i = l->first_sample; i < l->samples.n; i++)
		l->samples.v[i].pool = l->pool;
	l->stretch.n = 0;
	l->first_sample = l->samples.n;
	l->pool = VPROF_NONE;
}

int vprof_likely_time_gap(struct vprof_likely_time *l, const struct vprof_latency_gap *gap, uint64_t from, uint64_t ns)
{
	const struct vprof_latency_history *h = l->history;
	uint32_t node;

	if (!gap->common.depth) { /* nothing is known of it */
		vprof_likely_time_end(l);
		return 0;
	}
	if (gap->flags & (VPROF_LATENCY_HELD | VPROF_LATENCY_OFF_CPU | VPROF_LATENCY_UNPAIRED)) {
		if (gap->flags & VPROF_LATENCY_OFF_CPU && is_in_code(h, gap->stack) && l->samples.n > l->first_sample)
			l->samples.n--; /* preempted */
		vprof_likely_time_end(l);
		return 0;
	}
	if (!is_in_code(h, gap->stack))
		vprof_likely_time_end(l);
	node = l->nodes[h->stacks.v[gap->stack].first + gap->common.depth - 1];
	if (l->pool == VPROF_NONE || l->tree->nodes.v[node].depth < l->tree->nodes.v[l->pool].depth)
		l->pool = node; /* the outermost: all of these are on the stacks in between */
	if (VPROF_ROOM(&l->stretch, l->stretch.n + 2))
		return VPROF_ERR_NOMEM;
	l->stretch.v[l->stretch.n++] = from;
	l->stretch.v[l->stretch.n++] = ns;
	if (is_in_code(h, gap->next)) {
		const struct vprof_latency_stack *s = &h->stacks.v[gap->next];
		struct vprof_likely_sample *sample = VPROF_PUSH(&l->samples);

		if (!sample)
			return VPROF_ERR_NOMEM;
		*sample = (struct vprof_likely_sample){ .node = l->nodes[s->first + s->n - 1],
							.block = (uint32_t)((from + ns) / l->block_length) };
		if (sample->block >= l->n_blocks)
			sample->block = l->n_blocks - 1;
	}
	return 1;
}

int vprof_likely_time_share(const struct vprof_likely_time *const *parts, int n_parts, double *own_ns, double *blocks,
			    uint32_t stride)
{
	size_t n = parts[0]->tree->nodes.n;
	double *pools = calloc(n, sizeof *pools);
	uint32_t *n_samples = calloc(n, sizeof *n_samples);

	for (int p = 0; p < n_parts && pools && n_samples; p++) {
		for (size_t i = 0; i < n * parts[p]->n_blocks; i++)
			pools[i / parts[p]->n_blocks] += (double)parts[p]->pools[i];
		for (size_t i = 0; i < parts[p]->samples.n; i++)
			n_samples[parts[p]->samples.v[i].pool]++;
	}
	for (int p = 0; p < n_parts && pools && n_samples; p++) {
		const struct vprof_likely_time *l = parts[p];

		for (size_t i = 0; i < n * l->n_blocks; i++) {
			size_t node = i / l->n_blocks;

			if (n_samples[node])
				continue;
			own_ns[node] += (double)l->pools[i];
			blocks[node * stride + i % l->n_blocks] += (double)l->pools[i];
		}
		for (size_t i = 0; i < l->samples.n; i++) {
			const struct vprof_likely_sample *s = &l->samples.v[i];
			double share = pools[s->pool] / n_samples[s->pool];

			own_ns[s->node] += share;
			blocks[(size_t)s->node * stride + s->block] += share;
		}
	}
	free(pools);
	free(n_samples);
	return pools && n_samples ? VPROF_OK : VPROF_ERR_NOMEM;
}

void vprof_likely_time_release(struct vprof_likely_time *l)
{
	free(l->pools);
	VPROF_ARRAY_RELEASE(&l->samples);
	VPROF_ARRAY_RELEASE(&l->stretch);
}
