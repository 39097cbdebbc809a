/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of names says which kinds of subjects have each of them: in these results (labels need brackets then), and in
 * these results, the plan or the C library's calls that wait (keys need tags then). */
#include "analysis/variance/factor_identity.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/files.h"
#include "common/text.h"
#include "trace/format.h"

struct vprof_subject_name {
	const char *name;     /* NULL: free */
	uint8_t shown, known; /* bits 1 << enum vprof_subject */
};

#define BIT(subject) (1u << (subject))
/* Whose names are plain, in this order: a tag is needed where one before has the same name. */
#define BEFORE(subject) (BIT(subject) - 1u)

static const char *const own_words[] = {
	[VPROF_SUBJECT_QUEUED] = "queued",
	[VPROF_SUBJECT_PREEMPTED] = "preempted",
	[VPROF_SUBJECT_UNEXPLAINED] = "unexplained",
};

static const char *const tags[] = {
	[VPROF_SUBJECT_CALL] = "call:",
	[VPROF_SUBJECT_FUNCTION] = "function:",
	[VPROF_SUBJECT_POINTER] = "pointer:",
};
static const char *const part_words[VPROF_PART_COUNT] = { "", "body of ", "undivided in " };
static const char blame_tag[] = "beneath:", name_tag[] = "named:";

static int begins_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static size_t slot_of(const struct vprof_identities *ids, const char *name)
{
	size_t i = vprof_mix(vprof_hash(VPROF_HASH_SEED, name, strlen(name))) & (ids->n_slots - 1);

	while (ids->names[i].name && strcmp(ids->names[i].name, name))
		i = (i + 1) & (ids->n_slots - 1);
	return i;
}

static int grow(struct vprof_identities *ids)
{
	struct vprof_identities wider = { .n_slots = ids->n_slots ? 2 * ids->n_slots : 512 };

	wider.names = calloc(wider.n_slots, sizeof *wider.names);
	if (!wider.names)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < ids->n_slots; i++)
		if (ids->names[i].name)
			wider.names[slot_of(&wider, ids->names[i].name)] = ids->names[i];
	free(ids->names);
	ids->names = wider.names;
	ids->n_slots = wider.n_slots;
	return 0;
}

static int claim(struct vprof_identities *ids, const char *name, enum vprof_subject subject, int is_shown)
{
	struct vprof_subject_name *n;

	if (2 * ids->n_names >= ids->n_slots && grow(ids))
		return VPROF_ERR_NOMEM;
	n = &ids->names[slot_of(ids, name)];
	ids->n_names += !n->name;
	n->name = name;
	n->known |= BIT(subject);
	if (is_shown)
		n->shown |= BIT(subject);
	return 0;
}

static struct vprof_subject_name look(const struct vprof_identities *ids, const char *name)
{
	return ids->names[slot_of(ids, name)];
}

static int claim_known(struct vprof_identities *ids, const struct vprof_plan *plan)
{
	static const char *const waits[] = {
#define WAIT_NAME(id, name) name,
		VP_CALLS(WAIT_NAME)
#undef WAIT_NAME
			"wait", /* of a kind that this version does not know */
	};
	static const enum vprof_subject subject_of[] = { [VPROF_PROBE_FUNCTION] = VPROF_SUBJECT_FUNCTION,
							 [VPROF_PROBE_SITE] = VPROF_SUBJECT_CALL,
							 [VPROF_PROBE_POINTER] = VPROF_SUBJECT_POINTER };
	int ret = 0;

	for (int i = VPROF_SUBJECT_QUEUED; i <= VPROF_SUBJECT_UNEXPLAINED && !ret; i++)
		ret = claim(ids, own_words[i], (enum vprof_subject)i, 0);
	for (size_t i = 0; i < sizeof waits / sizeof *waits && !ret; i++)
		ret = claim(ids, waits[i], VPROF_SUBJECT_CALL, 0);
	for (size_t i = 0; i < plan->n_probes && !ret; i++)
		ret = claim(ids, plan->probes[i].name, subject_of[plan->probes[i].kind], 0);
	return ret;
}

/* Waits are named after the call that waits: one of the C library's, or the function that an annotation names as
 * acquiring a lock. */
static enum vprof_subject wait_subject(const struct vprof_identities *ids, const char *name)
{
	unsigned known = look(ids, name).known;

	return !(known & BIT(VPROF_SUBJECT_CALL)) && known & BIT(VPROF_SUBJECT_FUNCTION) ? VPROF_SUBJECT_FUNCTION :
											   VPROF_SUBJECT_CALL;
}

static enum vprof_subject node_subject(const struct vprof_identities *ids, const struct vprof_node *n)
{
	switch (n->kind) {
	case VPROF_NODE_SITE:
		return VPROF_SUBJECT_CALL;
	case VPROF_NODE_POINTER:
		return VPROF_SUBJECT_POINTER;
	case VPROF_NODE_WAIT:
		return wait_subject(ids, n->name);
	case VPROF_NODE_QUEUED:
		return VPROF_SUBJECT_QUEUED;
	case VPROF_NODE_PREEMPTED:
		return VPROF_SUBJECT_PREEMPTED;
	case VPROF_NODE_INTERVAL:
		return VPROF_SUBJECT_INTERVAL;
	default:
		return VPROF_SUBJECT_FUNCTION;
	}
}

static void identify(struct vprof_identities *ids, const struct vprof_results *r, size_t i)
{
	const struct vprof_node *n = &r->nodes[i];
	struct vprof_identity *id = &ids->of[i];
	enum vprof_identity_part part = n->kind == VPROF_NODE_BODY	? VPROF_PART_BODY :
					n->kind == VPROF_NODE_UNDIVIDED ? VPROF_PART_UNDIVIDED :
									  VPROF_PART_ALL;

	if (n->is_unexplained) {
		*id = (struct vprof_identity){ .subject = VPROF_SUBJECT_UNEXPLAINED,
					       .name = own_words[VPROF_SUBJECT_UNEXPLAINED] };
	} else if (part) { /* its parent comes before it */
		*id = (struct vprof_identity){ .subject = ids->of[n->parent].subject,
					       .part = part,
					       .name = ids->of[n->parent].name };
	} else {
		*id = (struct vprof_identity){ .subject = node_subject(ids, n), .name = n->name };
	}
	id->is_blame = n->is_blame;
	id->hash = vprof_mix(vprof_hash(VPROF_HASH_SEED, id->name, strlen(id->name)) ^
			     ((uint64_t)id->subject << 2 | (unsigned)id->part));
}

/* Names of functions and sites are looked up elsewhere and stay. */
static int set_brackets(const struct vprof_identities *ids, struct vprof_results *r, size_t i)
{
	struct vprof_node *n = &r->nodes[i];
	const char *label;

	if (vprof_node_kind_is_code(n->kind))
		return 0;
	label = vprof_identity_label(ids, r, &ids->of[i]);
	if (!label)
		return VPROF_ERR_NOMEM;
	if (strcmp(label, n->name))
		n->name = n->display = label;
	return 0;
}

int vprof_identities_take(struct vprof_identities *ids, struct vprof_results *r, const struct vprof_plan *plan)
{
	int ret;

	*ids = (struct vprof_identities){ .of = calloc(r->n_nodes ? r->n_nodes : 1, sizeof *ids->of) };
	ret = ids->of ? claim_known(ids, plan) : VPROF_ERR_NOMEM;
	for (size_t i = 0; i < r->n_nodes && !ret; i++) {
		identify(ids, r, i);
		ret = claim(ids, ids->of[i].name, ids->of[i].subject, 1);
	}
	for (size_t i = 1; i < r->n_nodes && !ret; i++)
		ret = set_brackets(ids, r, i);
	return ret;
}

void vprof_identities_release(struct vprof_identities *ids)
{
	free(ids->of);
	free(ids->names);
	*ids = (struct vprof_identities){ 0 };
}

int vprof_identity_equal(const struct vprof_identity *a, const struct vprof_identity *b)
{
	return a->hash == b->hash && a->subject == b->subject && a->part == b->part && !a->is_blame == !b->is_blame &&
	       !strcmp(a->name, b->name);
}

int vprof_identity_is_own(const struct vprof_identity *i)
{
	return i->subject == VPROF_SUBJECT_QUEUED || i->subject == VPROF_SUBJECT_PREEMPTED ||
	       i->subject == VPROF_SUBJECT_UNEXPLAINED;
}

int vprof_identity_order(const struct vprof_identity *a, const struct vprof_identity *b)
{
	int order;

	if (!a->is_blame != !b->is_blame)
		return a->is_blame ? 1 : -1;
	if (a->part != b->part) { /* as if "body of " were part of the name */
		order = strcmp(a->part ? part_words[a->part] : a->name, b->part ? part_words[b->part] : b->name);
		if (order)
			return order;
	}
	order = strcmp(a->name, b->name);
	return order ? order : (int)a->subject - (int)b->subject;
}

/* Of those that have the name: the interval's only concerns bodies, and vprof's own nodes have no other body than
 * "unexplained". */
static unsigned rivals(const struct vprof_identity *i, unsigned of)
{
	return i->part ? of & ~(BIT(VPROF_SUBJECT_QUEUED) | BIT(VPROF_SUBJECT_PREEMPTED) |
				BIT(VPROF_SUBJECT_UNEXPLAINED)) :
			 of & ~BIT(VPROF_SUBJECT_INTERVAL);
}

static int begins_as_tag(const char *name)
{
	for (int i = VPROF_SUBJECT_CALL; i <= VPROF_SUBJECT_POINTER; i++)
		if (begins_with(name, tags[i]))
			return 1;
	for (int i = VPROF_PART_ALL + 1; i < VPROF_PART_COUNT; i++)
		if (begins_with(name, part_words[i]))
			return 1;
	return begins_with(name, blame_tag) || begins_with(name, name_tag);
}

static void add_escaped(struct vprof_text *key, const char *name)
{
	for (const char *c = name; *c; c++) {
		if (*c == '|' || *c == '\\')
			vprof_text_add(key, "\\");
		vprof_text_append(key, c, 1);
	}
}

static void add_part(const struct vprof_identities *ids, const struct vprof_identity *i, int is_pair,
		     struct vprof_text *key)
{
	if (i->subject >= VPROF_SUBJECT_CALL) {
		if (rivals(i, look(ids, i->name).known) & BEFORE(i->subject) || begins_as_tag(i->name))
			vprof_text_add(key, tags[i->subject]);
		if (!i->part && begins_as_tag(i->name))
			vprof_text_add(key, name_tag);
	}
	vprof_text_add(key, part_words[i->part]);
	if (is_pair)
		add_escaped(key, i->name);
	else
		vprof_text_add(key, i->name);
}

const char *vprof_identity_key(const struct vprof_identities *ids, struct vprof_results *r,
			       const struct vprof_identity *a, const struct vprof_identity *b)
{
	struct vprof_text key = VPROF_TEXT_INIT;

	vprof_text_add(&key, b ? "c:" : "v:");
	if (a->is_blame)
		vprof_text_add(&key, blame_tag); /* of a pair: both, as what is no blame comes first */
	add_part(ids, a, b != NULL, &key);
	if (b) {
		vprof_text_add(&key, "|");
		if (b->is_blame && !a->is_blame)
			vprof_text_add(&key, blame_tag);
		add_part(ids, b, 1, &key);
	}
	return vprof_results_text(r, &key);
}

const char *vprof_identity_label(const struct vprof_identities *ids, struct vprof_results *r,
				 const struct vprof_identity *i)
{
	unsigned shown = rivals(i, look(ids, i->name).shown);
	int is_alone = i->subject == VPROF_SUBJECT_FUNCTION || !(shown & ~BIT(i->subject));
	struct vprof_text label = VPROF_TEXT_INIT;

	if (is_alone && !i->part)
		return vprof_results_string(r, i->name);
	vprof_text_addf(&label, "%s%s%s%s", part_words[i->part],
			is_alone			    ? "" :
			i->subject == VPROF_SUBJECT_POINTER ? "(*" :
							      "[",
			i->name,
			is_alone			    ? "" :
			i->subject == VPROF_SUBJECT_POINTER ? ")" :
							      "]");
	return vprof_results_text(r, &label);
}
