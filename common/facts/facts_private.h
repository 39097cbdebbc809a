/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the facts loader share: facts.c reads the tables, facts_find.c links and searches them. */
#ifndef VPROF_FACTS_PRIVATE_H
#define VPROF_FACTS_PRIVATE_H

#include "common/facts/facts.h"
#include "common/hash/string_set.h"

struct vprof_override {
	const char *base, *method; /* USRs, interned: compare by pointer */
};

struct vprof_facts_private {
	struct vprof_strings strings;
	int version, failed, damaged;
	size_t cap_files, cap_tus, cap_functions, cap_calls, cap_addresses;
	struct vprof_facts_exit *exits;
	size_t cap_exits;
	struct vprof_facts_guarded *guarded;
	size_t cap_guarded;
	uint32_t *tu_files;
	size_t n_tu_files, cap_tu_files, at_tu;
	struct vprof_override *overrides; /* sorted by base after vprof_facts_link */
	size_t n_overrides, cap_overrides;
	uint32_t *by_usr;	/* [n_functions] indices sorted by the USR's address */
	uint32_t *by_name;	/* [n_functions] indices sorted by name */
	uint32_t *by_signature; /* [n_addresses] indices of addresses sorted by the signature's address */
	uint32_t *by_caller;	/* [n_calls] */
};

/* Sorts the indices and resolves callees and addresses to functions. */
int vprof_facts_link(struct vprof_facts *f, struct vprof_error *err);

#endif
