/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a discovery run wrote (trace/flows/flow_format.h), opened: sections of all processes in the order in which they
 * happened.
 *
 * The files are hostile input: every size is checked, an entry that does not fit ends its chunk. Invariant: all records
 * of a section lie in the mapped file, and of a COPY as many VALUES follow as its count needs.
 */
#ifndef VPROF_FLOW_TRACE_H
#define VPROF_FLOW_TRACE_H

#include "common/array.h"
#include "common/error.h"
#include "common/hash/hash_index.h"
#include "trace/flows/flow_format.h"

struct vprof_flow_section {
	uint64_t number;
	const struct vprof_flow_record *head; /* followed by head->count more */
	uint32_t process;		      /* index */
};

struct vprof_flow_use {
	uint64_t section, low;
	const struct vprof_flow_record *record;
};

/* Of a descriptor that was registered for events, or a pointer read of what was registered. */
struct vprof_flow_mark {
	const struct vprof_flow_record *record; /* TRANSFER, followed by its FRAMEs, or LINK */
	uint32_t process;
};

struct vprof_flow_module {
	uint32_t process;
	uint64_t low, high, bias;
	char *path;
};

/* Memory that forked processes share. */
struct vprof_flow_mapping {
	uint32_t process;
	uint64_t low, high, number; /* high == low: it was unmapped, and what lies there since is not known */
};

/* From this number on sections with these callers of the lock function are not recorded. */
struct vprof_flow_enough {
	uint32_t process, caller;
	uint64_t number;
};

struct vprof_flow_file {
	void *mapped;
	size_t n_bytes;
};

struct vprof_flow_trace {
	VPROF_ARRAY(struct vprof_flow_file) files; /* one for each process */
	VPROF_ARRAY(struct vprof_flow_section) sections;
	VPROF_ARRAY(struct vprof_flow_use) uses;
	VPROF_ARRAY(struct vprof_flow_mark) transfers; /* by number */
	VPROF_ARRAY(struct vprof_flow_mark) links;
	VPROF_ARRAY(struct vprof_flow_module) modules;
	VPROF_ARRAY(struct vprof_flow_mapping) mappings; /* by process */
	VPROF_ARRAY(struct vprof_flow_enough) enough;
	struct vprof_hash_index use_index;
	uint64_t n_sections, n_unwritten, n_cut, n_nested, n_deep, n_displaced,
		n_enough;   /* as the processes counted them */
	uint64_t n_damaged; /* chunks */
};

/* MISSING when the folder holds no file of a process; INPUT when a file is of another version or no such file.
 * Release it also after an error. O(bytes). */
int vprof_flow_trace_open(struct vprof_flow_trace *t, const char *folder, struct vprof_error *err);
void vprof_flow_trace_release(struct vprof_flow_trace *t);

/* Adds the entries of one file's content, which must outlive the trace. For tests and fuzzing, too. */
int vprof_flow_trace_add(struct vprof_flow_trace *t, const void *bytes, size_t n, uint32_t process, const char *name,
			 struct vprof_error *err);
/* After the last file. */
int vprof_flow_trace_sort(struct vprof_flow_trace *t, struct vprof_error *err);

/* How what the section took over from `low` on was used; NULL: not at all. */
const struct vprof_flow_record *vprof_flow_use_find(const struct vprof_flow_trace *t, uint64_t section, uint64_t low,
						    int is_range);
/* What else an address means the same place in: the process alone, or all that share the mapping that it lies in. O(the
 * process' mappings). */
uint64_t vprof_flow_space_of(const struct vprof_flow_trace *t, uint32_t process, uint64_t address);
/* The module that an address lies in; NULL: in none that was compiled for discovery. */
const struct vprof_flow_module *vprof_flow_module_find(const struct vprof_flow_trace *t, uint32_t process,
						       uint64_t address);

#endif
