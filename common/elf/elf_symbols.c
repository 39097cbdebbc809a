/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The symbol table is a sorted copy of libdwfl's: which of two symbols at one address is taken, and that a symbol of no
 * size covers one byte, must not depend on where the table was found. */
#define _GNU_SOURCE
#include "common/elf/elf_symbols.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf/elf_private.h"
#include "common/elf/symbol_name.h"
#include "common/search.h"

static int open_headers(struct vprof_elf *elf, struct vprof_error *err)
{
	GElf_Ehdr header;
	struct stat st;

	elf->fd = open(elf->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (elf->fd < 0)
		return vprof_error_set(err, VPROF_ERR_MISSING, "cannot open %s: %s", elf->path, strerror(errno));
	if (fstat(elf->fd, &st) || !S_ISREG(st.st_mode))
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s is not a regular file", elf->path);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return vprof_error_set(err, VPROF_ERR_FAILED, "libelf does not work: %s", elf_errmsg(-1));
	elf->headers = elf_begin(elf->fd, ELF_C_READ, NULL);
	if (!elf->headers || elf_kind(elf->headers) != ELF_K_ELF)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s is not a program or shared library", elf->path);
	if (!gelf_getehdr(elf->headers, &header))
		return vprof_error_set(err, VPROF_ERR_INPUT, "the header of %s is damaged: %s", elf->path,
				       elf_errmsg(-1));
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s is not a program or shared library", elf->path);
	return VPROF_OK;
}

int vprof_elf_open(struct vprof_elf **out, const char *path, const char *debug_dir, struct vprof_error *err)
{
	struct vprof_elf *elf = calloc(1, sizeof *elf);
	int rc;

	*out = NULL;
	if (!debug_dir || !*debug_dir)
		debug_dir = getenv("VPROF_DEBUG_DIR");
	if (!debug_dir || !*debug_dir)
		debug_dir = VPROF_SYSTEM_DEBUG_DIR;
	if (elf) {
		elf->fd = -1;
		elf->path = strdup(path);
		elf->debug_dir = strdup(debug_dir);
	}
	rc = elf && elf->path && elf->debug_dir ? open_headers(elf, err) :
						  vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory");
	if (rc)
		vprof_elf_free(elf);
	else
		*out = elf;
	return rc;
}

void vprof_elf_free(struct vprof_elf *elf)
{
	if (!elf)
		return;
	vprof_dwarf_free(elf->dwarf);
	for (size_t i = 0; i < elf->entries.n; i++)
		free((void *)elf->entries.v[i].symbol.name);
	VPROF_ARRAY_RELEASE(&elf->entries);
	if (elf->dwfl)
		dwfl_end(elf->dwfl);
	elf_end(elf->headers);
	if (elf->fd >= 0)
		close(elf->fd);
	vprof_strings_release(&elf->strings);
	free(elf->damage);
	free(elf->path);
	free(elf->debug_dir);
	free(elf);
}

int vprof_elf_same_build(const struct vprof_elf *elf, const void *id, size_t n)
{
	const void *own;
	ssize_t n_own = dwelf_elf_gnu_build_id(elf->headers, &own);

	if (!n || n_own <= 0)
		return -1;
	return (size_t)n_own == n && !memcmp(own, id, n);
}

int64_t vprof_elf_changed_ns(const struct vprof_elf *elf)
{
	struct stat st;

	return fstat(elf->fd, &st) ? 0 : (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
}

const char *vprof_elf_damage(const struct vprof_elf *elf)
{
	return elf->damage;
}

void vprof_elf_set_damage(struct vprof_elf *elf, const char *what, const char *reason)
{
	if (!elf->damage && asprintf(&elf->damage, "the %s of %s cannot be read: %s", what, elf->path, reason) < 0)
		elf->damage = NULL;
}

static int entry_order(const void *a, const void *b)
{
	const struct vprof_elf_entry *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high > y->high ? -1 : x->high < y->high;
}

static int has_section(Elf *elf, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			return 1;
	return 0;
}

static int is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static int add_entry(struct vprof_elf *elf, const char *name, uint64_t low, uint64_t size)
{
	struct vprof_elf_entry *e = VPROF_PUSH(&elf->entries);

	if (!e)
		return -1;
	e->low = low;
	e->high = low + (size ? size : 1);
	e->elf_name = name;
	return 0;
}

/* Of several symbols of one function the last one counts: the name that the library exports is the one known to its
 * users, whatever other names its debug file has for it. */
static void add_exported(struct vprof_elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->headers, section))) {
		Elf_Data *data;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf->headers, header.sh_link, symbol.st_name);

			if (name && *name && is_function(&symbol) && symbol.st_shndx != SHN_UNDEF &&
			    add_entry(elf, name, symbol.st_value, symbol.st_size))
				return;
		}
	}
}

static void read_symbols(struct vprof_elf *elf)
{
	int n = dwfl_module_getsymtab(elf->module);
	const char *reason = n < 0 ? dwfl_errmsg(-1) : NULL;
	GElf_Addr bias;
	Elf *own = dwfl_module_getelf(elf->module, &bias);

	if (n < 0 && (has_section(elf->headers, SHT_SYMTAB) || has_section(elf->headers, SHT_DYNSYM)))
		vprof_elf_set_damage(elf, "symbol table", reason);
	for (int i = 0; i < n; i++) {
		GElf_Addr address;
		GElf_Word section;
		GElf_Sym symbol;
		Elf *from = own;
		const char *name = dwfl_module_getsym_info(elf->module, i, &symbol, &address, &section, &from, NULL);

		if (!name || !*name || !is_function(&symbol) || section == SHN_UNDEF)
			continue;
		elf->is_separate |= from != own;
		if (add_entry(elf, name, address, symbol.st_size))
			return;
	}
	if (elf->is_separate)
		add_exported(elf);
	if (elf->entries.n && vprof_array_sort(elf->entries.v, elf->entries.n, sizeof *elf->entries.v, entry_order))
		elf->entries.n = 0;
}

/* The next section and its name; NULL: there is none. `section`: NULL at first. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char **name)
{
	size_t names;

	section = elf_getshdrstrndx(elf, &names) ? NULL : elf_nextscn(elf, section);
	*name = section && gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
	return section;
}

static int has_debug_info(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	while ((section = next_section(elf, section, &header, &name)))
		if (name && !strcmp(name, ".debug_info") && header.sh_type == SHT_PROGBITS)
			return 1;
	return 0;
}

int vprof_elf_is_plt(struct vprof_elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	vprof_elf_read(elf);
	while (elf->headers && (section = next_section(elf->headers, section, &header, &name)))
		if (name && address >= header.sh_addr && address - header.sh_addr < header.sh_size &&
		    (!strncmp(name, ".plt", 4) || !strncmp(name, ".iplt", 5)))
			return 1;
	return 0;
}

void vprof_elf_read(struct vprof_elf *elf)
{
	void **user;
	int fd;

	if (elf->is_read)
		return;
	elf->is_read = 1;
	elf->callbacks = (Dwfl_Callbacks){ .find_debuginfo = vprof_debug_file_find };
	elf->dwfl = dwfl_begin(&elf->callbacks);
	fd = elf->dwfl ? fcntl(elf->fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd < 0)
		return;
	dwfl_report_begin(elf->dwfl);
	elf->module = dwfl_report_elf(elf->dwfl, elf->path, elf->path, fd, 0, true);
	if (!elf->module) {
		vprof_elf_set_damage(elf, "program headers", dwfl_errmsg(-1));
		close(fd);
		return;
	}
	dwfl_report_end(elf->dwfl, NULL, NULL);
	dwfl_module_info(elf->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = elf;
	read_symbols(elf);
	/* nobody puts probes into packaged libraries, and libc's DWARF takes longer to unpack than a small trace to
	 * analyse */
	if (elf->is_packaged && !elf->wants_lines)
		return;
	elf->dwarf = vprof_dwarf_new(elf);
	if (!elf->dwarf && has_debug_info(elf->headers))
		vprof_elf_set_damage(elf, "debug information", dwfl_errmsg(-1));
}

void vprof_elf_want_lines(struct vprof_elf *elf)
{
	elf->wants_lines = 1;
}

int vprof_elf_has_symbols(struct vprof_elf *elf)
{
	vprof_elf_read(elf);
	return elf->is_separate || has_section(elf->headers, SHT_SYMTAB);
}

int vprof_elf_is_static(const struct vprof_elf *elf)
{
	GElf_Ehdr header;
	size_t n;

	if (!gelf_getehdr(elf->headers, &header) || elf_getphdrnum(elf->headers, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf->headers, (int)i, &segment) || segment.p_type == PT_INTERP)
			return 0;
	}
	return header.e_type == ET_EXEC || header.e_entry;
}

const struct vprof_symbol *vprof_elf_linked(struct vprof_elf *elf, uint64_t address)
{
	size_t i =
		vprof_time_search(elf->entries.v, sizeof *elf->entries.v, elf->entries.n, address, elf->entries.n / 2);

	for (int n = 0; i-- > 0 && n < 8; n++) {
		struct vprof_elf_entry *e = &elf->entries.v[i];

		if (address >= e->high)
			continue;
		if (!e->symbol.name) {
			e->symbol.name = vprof_symbol_name(e->elf_name);
			e->symbol.module = elf->path;
			e->symbol.low = e->low;
		}
		return e->symbol.name ? &e->symbol : NULL;
	}
	return NULL;
}

const struct vprof_symbol *vprof_elf_named(struct vprof_elf *elf, const char *elf_name)
{
	for (size_t i = 0; i < elf->entries.n; i++)
		if (!strcmp(elf->entries.v[i].elf_name, elf_name))
			return vprof_elf_linked(elf, elf->entries.v[i].low);
	return NULL;
}

size_t vprof_elf_frames(struct vprof_elf *elf, uint64_t address, struct vprof_frame *frames, size_t max)
{
	const struct vprof_symbol *linked;
	size_t n = 0;

	vprof_elf_read(elf);
	linked = vprof_elf_linked(elf, address);
	if (elf->dwarf)
		n = vprof_dwarf_frames(elf->dwarf, address, frames, max, !linked);
	if (linked && n < max)
		frames[n++] = (struct vprof_frame){ linked, NULL };
	return n;
}

const struct vprof_symbol *vprof_elf_function(struct vprof_elf *elf, uint64_t address)
{
	vprof_elf_read(elf);
	return vprof_elf_linked(elf, address);
}

size_t vprof_elf_places(struct vprof_elf *elf, uint64_t address, struct vprof_place *places, size_t max)
{
	vprof_elf_read(elf);
	return elf->dwarf ? vprof_dwarf_places(elf->dwarf, address, places, max) : 0;
}
