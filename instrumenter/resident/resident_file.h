/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A linked program or library of a resident build: its probes' sites, symbols and code. All addresses are the file's
 * own (virtual addresses). The file was made by the user's build and is not trusted: every size is checked. */
#ifndef VPROF_RESIDENT_FILE_H
#define VPROF_RESIDENT_FILE_H

#include <gelf.h>
#include <stdint.h>

#include "common/array.h"
#include "common/error.h"

/* An entry is the first instruction of a function, or the one behind its endbr64: `A9 rel32`, a comparison without
 * effect, which the one byte E9 turns into a jump to the function's twin. */
#define VPROF_ENTRY_CLOSED 0xa9
#define VPROF_ENTRY_OPEN 0xe9
#define VPROF_ENTRY_BYTES 5u

struct vprof_resident_site {	/* struct vp_live_site of runtime/probe.h */
	uint64_t address, twin; /* twin 0: the probe stands in the function itself, or is a call's */
	uint32_t code;
	int is_copy; /* in the instrumented half of a C++ unit, by whatever function that was entered */
};

struct vprof_resident_pair { /* C++: a function and its twin */
	uint64_t plain, twin;
};

struct vprof_resident_symbol { /* a function */
	uint64_t address;
	const char *name;
};

struct vprof_resident_code {
	uint64_t address, offset; /* in the file */
	const unsigned char *bytes;
	size_t n;
};

struct vprof_resident_file {
	int fd;
	Elf *elf;
	const char *path;
	char build_id[64];				   /* hex, or empty */
	VPROF_ARRAY(struct vprof_resident_site) sites;	   /* by address */
	VPROF_ARRAY(struct vprof_resident_site) twins;	   /* those that have one, by it */
	VPROF_ARRAY(struct vprof_resident_symbol) symbols; /* by address */
	VPROF_ARRAY(struct vprof_resident_pair) pairs;	   /* by plain address */
	VPROF_ARRAY(uint64_t) merged; /* where the debug information of C++ units with twins begins; sorted */
	VPROF_ARRAY(uint64_t)
	spared; /* C++ functions without an entry, since their twins have nothing to record; sorted */
	VPROF_ARRAY(struct vprof_resident_code) code; /* executable sections */
};

/* OK, also when it holds no sites; MISSING, CORRUPT, NOMEM. Release it also after an error. */
int vprof_resident_file_read(struct vprof_resident_file *f, const char *path, struct vprof_error *err);
void vprof_resident_file_release(struct vprof_resident_file *f);

/* n bytes of code at an address, or NULL. */
const unsigned char *vprof_resident_bytes(const struct vprof_resident_file *f, uint64_t address, size_t n);
/* The site whose twin begins at the address, or NULL. */
const struct vprof_resident_site *vprof_resident_site_of(const struct vprof_resident_file *f, uint64_t twin);
/* The twin of the C++ function that begins at the address, or 0. */
uint64_t vprof_resident_pair_of(const struct vprof_resident_file *f, uint64_t plain);
int vprof_resident_is_spared(const struct vprof_resident_file *f, uint64_t plain);
/* Where the function at `address` can be opened so that it leads to `twin`: the address of its A9 byte, once it is
 * rewritten. 0: it has no patchable entry. */
uint64_t vprof_resident_entry(const struct vprof_resident_file *f, uint64_t address, uint64_t twin);

struct vprof_resident_patch {
	uint64_t entry, twin; /* twin 0: an entry that stays plain */
	int is_open;	      /* for good */
};

/* Writes the entries into the file, whose times stay. */
int vprof_resident_file_patch(const struct vprof_resident_file *f, const struct vprof_resident_patch *list, size_t n,
			      struct vprof_error *err);

#endif
