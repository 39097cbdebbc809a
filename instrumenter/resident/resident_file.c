/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/resident/resident_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/search.h"

#define SITE_BYTES 32u
#define SITE_CODE 16u
#define SITE_TWIN 24u
#define VP_LIVE_COPY 1u /* runtime/probe.h */

static const unsigned char nops[VPROF_ENTRY_BYTES] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
static const unsigned char clang_nop[VPROF_ENTRY_BYTES] = { 0x0f, 0x1f, 0x44, 0x00, 0x08 };
static const unsigned char one_nop[VPROF_ENTRY_BYTES] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const unsigned char endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };

static int corrupt(const struct vprof_resident_file *f, const char *what, struct vprof_error *err)
{
	return vprof_error_set(err, VPROF_ERR_CORRUPT, "%s: %s; build the program again", f->path, what);
}

/* ---- sections ---- */

static int add_symbols(struct vprof_resident_file *f, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t one = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);

	for (size_t i = 0; data && one && i < data->d_size / one && i < INT32_MAX; i++) {
		struct vprof_resident_symbol *s;
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF || !(name = elf_strptr(f->elf, header->sh_link, symbol.st_name)))
			continue;
		s = VPROF_PUSH(&f->symbols);
		if (!s)
			return VPROF_ERR_NOMEM;
		*s = (struct vprof_resident_symbol){ symbol.st_value, name };
	}
	return VPROF_OK;
}

static int add_code(struct vprof_resident_file *f, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	struct vprof_resident_code *c = data && data->d_buf ? VPROF_PUSH(&f->code) : NULL;

	if (!data || !data->d_buf)
		return VPROF_OK;
	if (!c)
		return VPROF_ERR_NOMEM;
	*c = (struct vprof_resident_code){ header->sh_addr, header->sh_offset, data->d_buf, data->d_size };
	return VPROF_OK;
}

static int add_sites(struct vprof_resident_file *f, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(section, NULL);

	for (size_t at = 0; data && data->d_buf && at + SITE_BYTES <= data->d_size; at += SITE_BYTES) {
		struct vprof_resident_site *s = VPROF_PUSH(&f->sites);
		const char *bytes = (const char *)data->d_buf + at;

		if (!s)
			return VPROF_ERR_NOMEM;
		s->address = header->sh_addr + at;
		memcpy(&s->code, bytes + SITE_CODE, sizeof s->code);
		memcpy(&s->twin, bytes + SITE_TWIN, sizeof s->twin);
		s->is_copy = s->twin == VP_LIVE_COPY;
		if (s->is_copy)
			s->twin = 0;
		if (!s->code) /* between two objects */
			f->sites.n--;
	}
	return VPROF_OK;
}

/* What resident_merge.c wrote: pairs, -1 with where the debug information of a unit with pairs begins, and -2 with a
 * function that has lost its entry. */
static int add_pairs(struct vprof_resident_file *f, Elf_Scn *section)
{
	GElf_Shdr header;
	int is_packed = gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED;
	Elf_Data *data = is_packed && elf_compress(section, 0, 0) < 0 ? NULL : elf_rawdata(section, NULL);
	struct vprof_resident_pair pair;

	for (size_t at = 0; data && data->d_buf && at + sizeof pair <= data->d_size; at += sizeof pair) {
		struct vprof_resident_pair *p;
		uint64_t *unit;

		memcpy(&pair, (const char *)data->d_buf + at, sizeof pair);
		if (pair.plain == UINT64_MAX || (pair.plain == UINT64_MAX - 1 && pair.twin)) {
			unit = pair.plain == UINT64_MAX ? VPROF_PUSH(&f->merged) : VPROF_PUSH(&f->spared);
			if (!unit)
				return VPROF_ERR_NOMEM;
			*unit = pair.twin;
		} else if (pair.plain && pair.twin) {
			p = VPROF_PUSH(&f->pairs);
			if (!p)
				return VPROF_ERR_NOMEM;
			*p = pair;
		}
	}
	return VPROF_OK;
}

static struct vprof_resident_site *site_at(const struct vprof_resident_file *f, uint64_t address)
{
	size_t low = VPROF_BISECT(f->sites.n, i, f->sites.v[i].address < address);

	return low < f->sites.n && f->sites.v[low].address == address ? &f->sites.v[low] : NULL;
}

/* Of a position-independent file: the addresses of twins are in its relocations. */
static void relocate(struct vprof_resident_file *f, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		struct vprof_resident_site *s;
		GElf_Rela rela;

		if (!gelf_getrela(data, (int)i, &rela) || GELF_R_TYPE(rela.r_info) != R_X86_64_RELATIVE)
			continue;
		s = site_at(f, rela.r_offset - SITE_TWIN);
		if (s)
			s->twin = (uint64_t)rela.r_addend;
	}
}

static void read_build_id(struct vprof_resident_file *f, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name, desc, next;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz < sizeof f->build_id / 2 &&
		    !memcmp((char *)data->d_buf + name, "GNU", 4))
			for (size_t i = 0; i < note.n_descsz; i++)
				sprintf(f->build_id + 2 * i, "%02x", ((unsigned char *)data->d_buf)[desc + i]);
		at = next;
	}
}

static int by_twin(const void *a, const void *b)
{
	uint64_t x = ((const struct vprof_resident_site *)a)->twin, y = ((const struct vprof_resident_site *)b)->twin;

	return x < y ? -1 : x > y;
}

static int read_sections(struct vprof_resident_file *f)
{
	size_t names;
	int rc = VPROF_OK, has_table = 0;
	GElf_Shdr header;

	if (elf_getshdrstrndx(f->elf, &names))
		return VPROF_ERR_CORRUPT;
	for (Elf_Scn *s = elf_nextscn(f->elf, NULL); s && !rc; s = elf_nextscn(f->elf, s)) {
		const char *name = gelf_getshdr(s, &header) ? elf_strptr(f->elf, names, header.sh_name) : NULL;

		if (!name)
			return VPROF_ERR_CORRUPT;
		if (header.sh_type == SHT_SYMTAB && !has_table) {
			rc = add_symbols(f, s, &header);
			has_table = 1;
		} else if (header.sh_type == SHT_NOTE) {
			read_build_id(f, s);
		} else if (header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_EXECINSTR) {
			rc = add_code(f, s, &header);
		} else if (header.sh_type == SHT_PROGBITS && !strcmp(name, "vp_live")) {
			rc = add_sites(f, s, &header);
		} else if (header.sh_type == SHT_PROGBITS && !strcmp(name, ".debug_vp_pairs")) {
			rc = add_pairs(f, s);
		}
	}
	for (Elf_Scn *s = elf_nextscn(f->elf, NULL); s && !rc && f->sites.n; s = elf_nextscn(f->elf, s))
		if (gelf_getshdr(s, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
			relocate(f, s, &header);
	for (size_t i = 0; !rc && i < f->sites.n; i++) {
		struct vprof_resident_site *s = f->sites.v[i].twin ? VPROF_PUSH(&f->twins) : NULL;

		if (s)
			*s = f->sites.v[i];
		else if (f->sites.v[i].twin)
			rc = VPROF_ERR_NOMEM;
	}
	if (!rc && vprof_array_sort(f->twins.v, f->twins.n, sizeof *f->twins.v, by_twin))
		rc = VPROF_ERR_NOMEM;
	if (!rc && vprof_array_sort(f->symbols.v, f->symbols.n, sizeof *f->symbols.v, vprof_compare_u64))
		rc = VPROF_ERR_NOMEM;
	if (!rc && (vprof_array_sort(f->pairs.v, f->pairs.n, sizeof *f->pairs.v, vprof_compare_u64) ||
		    vprof_array_sort(f->merged.v, f->merged.n, sizeof *f->merged.v, vprof_compare_u64) ||
		    vprof_array_sort(f->spared.v, f->spared.n, sizeof *f->spared.v, vprof_compare_u64)))
		rc = VPROF_ERR_NOMEM;
	return rc;
}

int vprof_resident_file_read(struct vprof_resident_file *f, const char *path, struct vprof_error *err)
{
	GElf_Ehdr header;
	int rc;

	memset(f, 0, sizeof *f);
	f->path = path;
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		return vprof_error_set(err, VPROF_ERR_MISSING, "cannot read %s: %s", path, strerror(errno));
	f->elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf || !gelf_getehdr(f->elf, &header) || gelf_getclass(f->elf) != ELFCLASS64)
		return corrupt(f, "no program of 64 bits", err);
	rc = read_sections(f);
	if (rc == VPROF_ERR_NOMEM)
		return vprof_error_no_memory(err);
	return rc ? corrupt(f, "its sections are damaged", err) : VPROF_OK;
}

void vprof_resident_file_release(struct vprof_resident_file *f)
{
	VPROF_ARRAY_RELEASE(&f->sites);
	VPROF_ARRAY_RELEASE(&f->twins);
	VPROF_ARRAY_RELEASE(&f->symbols);
	VPROF_ARRAY_RELEASE(&f->pairs);
	VPROF_ARRAY_RELEASE(&f->merged);
	VPROF_ARRAY_RELEASE(&f->spared);
	VPROF_ARRAY_RELEASE(&f->code);
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	f->elf = NULL;
}

/* ---- code ---- */

static const struct vprof_resident_code *code_at(const struct vprof_resident_file *f, uint64_t address, size_t n)
{
	for (size_t i = 0; i < f->code.n; i++) {
		const struct vprof_resident_code *c = &f->code.v[i];

		if (address >= c->address && address - c->address < c->n && n <= c->n - (address - c->address))
			return c;
	}
	return NULL;
}

const unsigned char *vprof_resident_bytes(const struct vprof_resident_file *f, uint64_t address, size_t n)
{
	const struct vprof_resident_code *c = code_at(f, address, n);

	return c ? c->bytes + (address - c->address) : NULL;
}

const struct vprof_resident_site *vprof_resident_site_of(const struct vprof_resident_file *f, uint64_t twin)
{
	size_t i = VPROF_BISECT(f->twins.n, i, f->twins.v[i].twin < twin);

	return twin && i < f->twins.n && f->twins.v[i].twin == twin ? &f->twins.v[i] : NULL;
}

uint64_t vprof_resident_pair_of(const struct vprof_resident_file *f, uint64_t plain)
{
	size_t i = VPROF_BISECT(f->pairs.n, i, f->pairs.v[i].plain < plain);

	return i < f->pairs.n && f->pairs.v[i].plain == plain ? f->pairs.v[i].twin : 0;
}

int vprof_resident_is_spared(const struct vprof_resident_file *f, uint64_t plain)
{
	size_t i = VPROF_BISECT(f->spared.n, i, f->spared.v[i] < plain);

	return i < f->spared.n && f->spared.v[i] == plain;
}

static int leads_to(const unsigned char *bytes, uint64_t entry, uint64_t twin)
{
	int32_t distance;

	if (bytes[0] != VPROF_ENTRY_CLOSED && bytes[0] != VPROF_ENTRY_OPEN)
		return 0;
	memcpy(&distance, bytes + 1, sizeof distance);
	return entry + VPROF_ENTRY_BYTES + (uint64_t)(int64_t)distance == twin;
}

uint64_t vprof_resident_entry(const struct vprof_resident_file *f, uint64_t address, uint64_t twin)
{
	const unsigned char *bytes = vprof_resident_bytes(f, address, sizeof endbr64 + VPROF_ENTRY_BYTES);
	int64_t distance;

	if (!bytes)
		return 0;
	if (!memcmp(bytes, endbr64, sizeof endbr64)) {
		bytes += sizeof endbr64;
		address += sizeof endbr64;
	}
	distance = (int64_t)(twin - (address + VPROF_ENTRY_BYTES));
	if (distance != (int32_t)distance)
		return 0;
	return !memcmp(bytes, nops, sizeof nops) || !memcmp(bytes, clang_nop, sizeof clang_nop) ||
			       leads_to(bytes, address, twin) ?
		       address :
		       0;
}

int vprof_resident_file_patch(const struct vprof_resident_file *f, const struct vprof_resident_patch *list, size_t n,
			      struct vprof_error *err)
{
	int fd = open(f->path, O_WRONLY | O_CLOEXEC), rc = VPROF_OK;
	struct timespec times[2];
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", f->path, strerror(errno));
		goto out;
	}
	for (size_t i = 0; !rc && i < n; i++) {
		const struct vprof_resident_code *c = code_at(f, list[i].entry, VPROF_ENTRY_BYTES);
		int32_t distance = (int32_t)(list[i].twin - (list[i].entry + VPROF_ENTRY_BYTES));
		unsigned char bytes[VPROF_ENTRY_BYTES] = { VPROF_ENTRY_CLOSED };

		memcpy(bytes + 1, &distance, sizeof distance);
		if (list[i].is_open)
			bytes[0] = VPROF_ENTRY_OPEN;
		if (!list[i].twin)
			memcpy(bytes, one_nop, sizeof bytes);
		if (!c)
			rc = corrupt(f, "an entry lies outside its code", err);
		else if (pwrite(fd, bytes, sizeof bytes, (off_t)(c->offset + (list[i].entry - c->address))) !=
			 (ssize_t)sizeof bytes)
			rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot write %s: %s", f->path, strerror(errno));
	}
	times[0] = st.st_atim;
	times[1] = st.st_mtim; /* what the build makes from it need not be made again */
	futimens(fd, times);
out:
	if (fd >= 0)
		close(fd);
	return rc;
}
