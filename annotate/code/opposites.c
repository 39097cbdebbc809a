/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/code/opposites.h"

#include <string.h>

#define NAME_BYTES 128

/* `out` = `name` with the n-th place of `word` replaced; 0 when there is no such place. */
static int replace_word(char *out, size_t size, const char *name, const char *word, const char *other, int nth)
{
	const char *hit = name;
	size_t before, length = strlen(word);

	while ((hit = strstr(hit, word)) && nth--)
		hit++;
	if (!hit)
		return 0;
	before = (size_t)(hit - name);
	if (before + strlen(other) + strlen(hit + length) + 1 > size)
		return 0;
	memcpy(out, name, before);
	strcpy(out + before, other);
	strcat(out, hit + length);
	return 1;
}

int vprof_same_object(struct vprof_discovery *d, const struct vprof_facts_function *a,
		      const struct vprof_facts_function *b)
{
	size_t na, nb, n;
	const struct vprof_parameter *pa = vprof_discovery_parameters(d, a, &na),
				     *pb = vprof_discovery_parameters(d, b, &nb);
	const char *colon = strrchr(a->display, ':');

	if (colon) {
		n = (size_t)(colon - a->display);
		return !strncmp(a->display, b->display, n + 1) && !strchr(b->display + n + 1, ':');
	}
	if (!na || !nb)
		return !na && !nb && a->file == b->file;
	return !strcmp(pa[0].type, pb[0].type);
}

/* The first place in d->by_normal that is not before `normal`. */
static size_t normal_lower_bound(const struct vprof_discovery *d, const char *normal)
{
	size_t low = 0, high = d->facts->n_functions, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(d->normal[d->by_normal[middle]], normal) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct vprof_facts_function *vprof_opposite_find(struct vprof_discovery *d, const struct vprof_facts_function *f,
						       const struct vprof_opposite *words, size_t n_words,
						       int same_first)
{
	const char *name = d->normal[f - d->facts->functions];
	const struct vprof_facts_function *best = NULL;
	char wanted[NAME_BYTES];
	size_t w, i;
	int nth;

	for (w = 0; w < n_words; w++) {
		for (nth = 0; nth < 3; nth++) {
			if (!replace_word(wanted, sizeof wanted, name, words[w].word, words[w].other, nth))
				break;
			for (i = normal_lower_bound(d, wanted);
			     i < d->facts->n_functions && !strcmp(d->normal[d->by_normal[i]], wanted); i++) {
				const struct vprof_facts_function *g = &d->facts->functions[d->by_normal[i]];

				if (g == f || (same_first && !vprof_same_object(d, f, g)))
					continue;
				if (!best || (g->file == f->file && best->file != f->file))
					best = g;
			}
			if (best)
				return best;
		}
	}
	return NULL;
}
