/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "analysis/flows/flow_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"

#define SHARED_SPACE (UINT64_C(1) << 63) /* with the mapping's number; else the process' index */

static uint64_t use_hash(uint64_t section, uint64_t low, int is_range)
{
	return vprof_mix(section * 2 + (uint64_t)(is_range != 0)) ^ vprof_mix(low);
}

const struct vprof_flow_record *vprof_flow_use_find(const struct vprof_flow_trace *t, uint64_t section, uint64_t low,
						    int is_range)
{
	size_t at;

	VPROF_HASH_EACH(&t->use_index, use_hash(section, low, is_range), at, i)
	{
		const struct vprof_flow_use *use = &t->uses.v[i];

		if (use->section == section && use->low == low && !(use->record->flags & VPROF_FLOW_RANGE) == !is_range)
			return use->record;
	}
	return NULL;
}

const struct vprof_flow_module *vprof_flow_module_find(const struct vprof_flow_trace *t, uint32_t process,
						       uint64_t address)
{
	for (size_t i = 0; i < t->modules.n; i++)
		if (t->modules.v[i].process == process && address >= t->modules.v[i].low &&
		    address < t->modules.v[i].high)
			return &t->modules.v[i];
	return NULL;
}

uint64_t vprof_flow_space_of(const struct vprof_flow_trace *t, uint32_t process, uint64_t address)
{
	size_t low = 0, high = t->mappings.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->mappings.v[middle].process < process)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < t->mappings.n && t->mappings.v[low].process == process; low++)
		if (address >= t->mappings.v[low].low && address < t->mappings.v[low].high)
			return SHARED_SPACE | t->mappings.v[low].number;
	return process;
}

static int add_mapping(struct vprof_flow_trace *t, const struct vprof_flow_record *r, uint32_t process)
{
	struct vprof_flow_mapping *mapping;

	for (size_t i = 0; r->flags & VPROF_FLOW_GONE && i < t->mappings.n; i++)
		if (t->mappings.v[i].process == process && t->mappings.v[i].low == r->a)
			t->mappings.v[i].high = r->a;
	if (r->flags & VPROF_FLOW_GONE)
		return 1;
	mapping = VPROF_PUSH(&t->mappings);
	if (mapping)
		*mapping = (struct vprof_flow_mapping){ process, r->a, r->b, r->c };
	return mapping ? 1 : -1;
}

static int add_enough(struct vprof_flow_trace *t, const struct vprof_flow_record *r, uint32_t process)
{
	struct vprof_flow_enough *enough = VPROF_PUSH(&t->enough);

	if (enough)
		*enough = (struct vprof_flow_enough){ process, (uint32_t)r->a, r->b };
	return enough ? 1 : -1;
}

static int add_use(struct vprof_flow_trace *t, const struct vprof_flow_record *record)
{
	uint64_t hash = use_hash(record->a, record->b, record->flags & VPROF_FLOW_RANGE);
	struct vprof_flow_use *use;
	size_t at;

	if (vprof_hash_index_room(&t->use_index, 1) || t->uses.n >= UINT32_MAX - 1)
		return -1;
	VPROF_HASH_EACH(&t->use_index, hash, at, i)
	{
		const struct vprof_flow_use *known = &t->uses.v[i];

		if (known->section == record->a && known->low == record->b &&
		    !((known->record->flags ^ record->flags) & VPROF_FLOW_RANGE))
			return 0; /* the first decides */
	}
	use = VPROF_PUSH(&t->uses);
	if (!use)
		return -1;
	*use = (struct vprof_flow_use){ record->a, record->b, record };
	vprof_hash_index_put(&t->use_index, at, hash, (uint32_t)t->uses.n - 1);
	return 0;
}

static int add_module(struct vprof_flow_trace *t, const struct vprof_flow_record *head, uint32_t process)
{
	struct vprof_flow_module *module = VPROF_PUSH(&t->modules);
	size_t n = 24u * (size_t)head->count;

	if (!module)
		return -1;
	*module = (struct vprof_flow_module){ process, head->a, head->b, head->c, calloc(n + 1, 1) };
	if (!module->path)
		return -1;
	for (uint32_t i = 0; i < head->count; i++)
		memcpy(module->path + 24u * i, &head[1 + i].a, 24);
	return 0;
}

/* Do as many VALUES follow each COPY as its count needs? */
static int is_whole(const struct vprof_flow_record *head)
{
	for (uint32_t i = 1; i <= head->count; i++) {
		uint32_t n_values = (head[i].count / 8 + 2) / 3;

		if (head[i].kind != VPROF_FLOW_COPY)
			continue;
		if (head[i].count > 8 * VPROF_FLOW_GRANULES || n_values > head->count - i)
			return 0;
		for (; n_values; n_values--)
			if (head[++i].kind != VPROF_FLOW_VALUES)
				return 0;
	}
	return 1;
}

static int add_transfer(struct vprof_flow_trace *t, const struct vprof_flow_record *r, uint32_t process)
{
	struct vprof_flow_mark *mark = VPROF_PUSH(&t->transfers);

	if (mark)
		*mark = (struct vprof_flow_mark){ r, process };
	return mark ? (int)r->count + 1 : -1;
}

static int add_link(struct vprof_flow_trace *t, const struct vprof_flow_record *r, uint32_t process)
{
	struct vprof_flow_mark *mark = VPROF_PUSH(&t->links);

	if (mark)
		*mark = (struct vprof_flow_mark){ r, process };
	return mark ? 1 : -1;
}

/* The entry at `r`, of which `room` records are there: how many it takes; 0: it is damaged; -1: no memory. */
static int add_entry(struct vprof_flow_trace *t, const struct vprof_flow_record *r, size_t room, uint32_t process)
{
	struct vprof_flow_section *section;

	if (r->kind == VPROF_FLOW_USE)
		return add_use(t, r) ? -1 : 1;
	if (r->kind == VPROF_FLOW_LINK)
		return add_link(t, r, process);
	if (r->kind == VPROF_FLOW_ENOUGH)
		return add_enough(t, r, process);
	if (r->kind == VPROF_FLOW_MAPPING)
		return add_mapping(t, r, process);
	if ((r->kind != VPROF_FLOW_SECTION && r->kind != VPROF_FLOW_MODULE && r->kind != VPROF_FLOW_TRANSFER) ||
	    r->count >= room || r->count >= VPROF_FLOW_ENTRY_RECORDS)
		return 0;
	if (r->kind == VPROF_FLOW_TRANSFER)
		return add_transfer(t, r, process);
	if (r->kind == VPROF_FLOW_MODULE)
		return add_module(t, r, process) ? -1 : (int)r->count + 1;
	if (!is_whole(r))
		return 0;
	section = VPROF_PUSH(&t->sections);
	if (!section)
		return -1;
	*section = (struct vprof_flow_section){ r->b, r, process };
	return (int)r->count + 1;
}

static int add_chunk(struct vprof_flow_trace *t, const struct vprof_flow_chunk *chunk, uint32_t process)
{
	const struct vprof_flow_record *r = (const void *)(chunk + 1);
	size_t n = chunk->n_bytes / sizeof *r;
	int taken;

	if (chunk->magic != VPROF_FLOW_CHUNK_MAGIC)
		return 0; /* never used */
	if (chunk->n_bytes > VPROF_FLOW_CHUNK_BYTES - sizeof *chunk) {
		t->n_damaged++;
		return 0;
	}
	for (size_t i = 0; i < n; i += (size_t)taken) {
		taken = add_entry(t, r + i, n - i, process);
		if (taken < 0)
			return -1;
		if (!taken) {
			t->n_damaged++;
			return 0;
		}
	}
	return 0;
}

int vprof_flow_trace_add(struct vprof_flow_trace *t, const void *bytes, size_t n, uint32_t process, const char *name,
			 struct vprof_error *err)
{
	const struct vprof_flow_header *header = bytes;

	if (n >= VPROF_FLOW_HEADER_BYTES && !header->magic)
		return VPROF_OK; /* of a process that ended while it began its file */
	if (n < VPROF_FLOW_HEADER_BYTES || header->magic != VPROF_FLOW_MAGIC)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s was not written by a discovery run (vprof flows)",
				       name);
	if (header->version != VPROF_FLOW_VERSION)
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"%s was written by another version of vprof (%u, this one reads %u). Run vprof flows again",
			name, header->version, VPROF_FLOW_VERSION);
	t->n_sections += header->n_sections;
	t->n_unwritten += header->n_unwritten;
	t->n_cut += header->n_cut;
	t->n_nested += header->n_nested;
	t->n_deep += header->n_deep;
	t->n_displaced += header->n_displaced;
	t->n_enough += header->n_enough;
	for (size_t at = VPROF_FLOW_HEADER_BYTES; at + VPROF_FLOW_CHUNK_BYTES <= n; at += VPROF_FLOW_CHUNK_BYTES)
		if (add_chunk(t, (const void *)((const char *)bytes + at), process))
			return vprof_error_no_memory(err);
	return VPROF_OK;
}

static int by_number(const void *a, const void *b)
{
	const struct vprof_flow_section *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_transfer(const void *a, const void *b)
{
	const struct vprof_flow_mark *x = a, *y = b;

	return x->record->a < y->record->a ? -1 : x->record->a > y->record->a;
}

static int by_process(const void *a, const void *b)
{
	const struct vprof_flow_mapping *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->low < y->low ? -1 : x->low > y->low;
}

int vprof_flow_trace_sort(struct vprof_flow_trace *t, struct vprof_error *err)
{
	return vprof_array_sort(t->sections.v, t->sections.n, sizeof *t->sections.v, by_number) ||
			       vprof_array_sort(t->transfers.v, t->transfers.n, sizeof *t->transfers.v, by_transfer) ||
			       vprof_array_sort(t->mappings.v, t->mappings.n, sizeof *t->mappings.v, by_process) ?
		       vprof_error_no_memory(err) :
		       VPROF_OK;
}

static int open_file(struct vprof_flow_trace *t, const char *path, struct vprof_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = VPROF_OK;
	struct vprof_flow_file *file = VPROF_PUSH(&t->files);
	struct stat st;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return vprof_error_no_memory(err);
	}
	if (fd < 0 || fstat(fd, &st)) {
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "cannot read %s: %s", path, strerror(errno));
	} else if (st.st_size < (off_t)VPROF_FLOW_HEADER_BYTES) {
		/* a process that ended while it began its file */
	} else {
		file->n_bytes = (size_t)st.st_size;
		file->mapped = mmap(NULL, file->n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file->mapped == MAP_FAILED) {
			file->mapped = NULL;
			rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot map %s: %s", path, strerror(errno));
		} else {
			rc = vprof_flow_trace_add(t, file->mapped, file->n_bytes, (uint32_t)t->files.n - 1, path, err);
		}
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static int is_ours(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name), k = strlen(VPROF_FLOW_SUFFIX);

	return n > k && !strcmp(entry->d_name + n - k, VPROF_FLOW_SUFFIX);
}

int vprof_flow_trace_open(struct vprof_flow_trace *t, const char *folder, struct vprof_error *err)
{
	struct dirent **entries = NULL;
	int n, rc = VPROF_OK;

	memset(t, 0, sizeof *t);
	n = scandir(folder, &entries, is_ours, alphasort);
	for (int i = 0; i < n; i++) {
		char *path = rc ? NULL : vprof_path_join(folder, entries[i]->d_name);

		if (!rc)
			rc = path ? open_file(t, path, err) : vprof_error_no_memory(err);
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (!rc && n <= 0)
		rc = vprof_error_set(
			err, VPROF_ERR_MISSING,
			"no process of the run executed code that was compiled for discovery. Does the run command start the program that the build links, and is that linked dynamically?");
	return rc ? rc : vprof_flow_trace_sort(t, err);
}

void vprof_flow_trace_release(struct vprof_flow_trace *t)
{
	for (size_t i = 0; i < t->files.n; i++)
		if (t->files.v[i].mapped)
			munmap(t->files.v[i].mapped, t->files.v[i].n_bytes);
	for (size_t i = 0; i < t->modules.n; i++)
		free(t->modules.v[i].path);
	VPROF_ARRAY_RELEASE(&t->files);
	VPROF_ARRAY_RELEASE(&t->sections);
	VPROF_ARRAY_RELEASE(&t->uses);
	VPROF_ARRAY_RELEASE(&t->transfers);
	VPROF_ARRAY_RELEASE(&t->links);
	VPROF_ARRAY_RELEASE(&t->modules);
	VPROF_ARRAY_RELEASE(&t->mappings);
	VPROF_ARRAY_RELEASE(&t->enough);
	vprof_hash_index_release(&t->use_index);
}
