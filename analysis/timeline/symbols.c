/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table of function symbols for each file, shared by all processes that map it. */
#include "analysis/timeline/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* libstdc++'s C entry point to its demangler. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

struct entry {
	uint64_t low, high;
	const char *elf_name;	    /* own copy */
	struct vprof_symbol symbol; /* name filled at first use */
};

struct file {
	const struct vprof_module *module; /* the first of this path and build id */
	const char *path;
	int is_open, is_unreadable, is_changed;
	VPROF_ARRAY(struct entry) entries; /* by low */
};

struct vprof_symbols {
	const struct vprof_timeline *timeline;
	VPROF_ARRAY(struct file) files;
};

struct vprof_symbols *vprof_symbols_new(const struct vprof_timeline *timeline)
{
	struct vprof_symbols *s = calloc(1, sizeof *s);

	if (s)
		s->timeline = timeline;
	return s;
}

void vprof_symbols_free(struct vprof_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files.n; i++) {
		for (size_t k = 0; k < s->files.v[i].entries.n; k++) {
			free((void *)s->files.v[i].entries.v[k].elf_name);
			free((void *)s->files.v[i].entries.v[k].symbol.name);
		}
		VPROF_ARRAY_RELEASE(&s->files.v[i].entries);
	}
	VPROF_ARRAY_RELEASE(&s->files);
	free(s);
}

size_t vprof_symbols_unreadable(const struct vprof_symbols *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->files.n; i++)
		n += (size_t)s->files.v[i].is_unreadable;
	return n;
}

int vprof_symbols_is_runtime(const char *module)
{
	const char *slash = strrchr(module, '/');

	return !strncmp(slash ? slash + 1 : module, "libvprof.so", strlen("libvprof.so"));
}

size_t vprof_symbols_changed(const struct vprof_symbols *s, const char **first)
{
	size_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < s->files.n; i++) {
		const struct file *f = &s->files.v[i];

		if (f->is_changed && !vprof_symbols_is_runtime(f->path))
			*first = n++ ? *first : f->path;
	}
	return n;
}

static int entry_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high > y->high ? -1 : x->high < y->high;
}

static void read_table(struct file *f, Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Sym sym;
		const char *name;
		struct entry *e;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if ((GELF_ST_TYPE(sym.st_info) != STT_FUNC && GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, shdr->sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		e = VPROF_PUSH(&f->entries);
		if (!e)
			return;
		e->low = sym.st_value;
		e->high = sym.st_value + (sym.st_size ? sym.st_size : 1);
		e->elf_name = strdup(name);
		if (!e->elf_name) {
			f->entries.n--;
			return;
		}
	}
}

/* When the trace ended, in CLOCK_REALTIME; 0: not known. */
static int64_t run_end_ns(const struct vprof_timeline *timeline)
{
	const struct vp_file_header *h = &timeline->trace->header;
	uint64_t last = h->end_ticks > timeline->t_last ? h->end_ticks : timeline->t_last;
	double ns = last > h->start_ticks ? (double)(last - h->start_ticks) * timeline->ns_per_tick : 0;

	return h->start_realtime_ns && ns < 1e18 ? (int64_t)h->start_realtime_ns + (int64_t)ns : 0;
}

/* The file's build id against that of the run: 1 the same, 0 another, -1 one of them has none. */
static int same_build(Elf *elf, const struct vprof_module *m)
{
	size_t n;

	if (!m->n_id || elf_getphdrnum(elf, &n))
		return -1;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		size_t at = 0, name, desc;
		GElf_Phdr phdr;
		GElf_Nhdr note;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)phdr.p_offset, phdr.p_filesz,
					    phdr.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0)
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    !memcmp((char *)data->d_buf + name, "GNU", 4))
				return note.n_descsz == m->n_id && !memcmp((char *)data->d_buf + desc, m->id, m->n_id);
	}
	return -1;
}

static int is_changed(const struct file *f, int fd, Elf *elf, const struct vprof_timeline *timeline)
{
	int same = same_build(elf, f->module);
	int64_t end = run_end_ns(timeline);
	struct stat st;

	if (same >= 0)
		return !same;
	/* ctime: installed files have the time of their build */
	return end && !fstat(fd, &st) && (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec > end;
}

static void open_file(struct file *f, const struct vprof_timeline *timeline)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	static const GElf_Word types[] = { SHT_SYMTAB, SHT_DYNSYM };
	Elf *elf = NULL;

	f->is_open = 1;
	f->is_unreadable = 1;
	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		goto out;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		goto out;
	f->is_unreadable = 0;
	f->is_changed = is_changed(f, fd, elf, timeline);
	if (f->is_changed)
		goto out;
	for (size_t t = 0; t < 2 && !f->entries.n; t++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr shdr;

		while ((scn = elf_nextscn(elf, scn)))
			if (gelf_getshdr(scn, &shdr) && shdr.sh_type == types[t])
				read_table(f, elf, scn, &shdr);
	}
	if (f->entries.n)
		qsort(f->entries.v, f->entries.n, sizeof *f->entries.v, entry_order);
out:
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static struct file *file_of(struct vprof_symbols *s, const struct vprof_module *m)
{
	struct file *f;

	for (size_t i = 0; i < s->files.n; i++)
		if (!strcmp(s->files.v[i].path, m->path) && s->files.v[i].module->n_id == m->n_id &&
		    !memcmp(s->files.v[i].module->id, m->id, m->n_id))
			return &s->files.v[i];
	f = VPROF_PUSH(&s->files);
	if (!f)
		return NULL;
	f->module = m;
	f->path = m->path;
	return f;
}

/* Cuts ".constprop.0", ".isra.3", ".part.1", ".cold", ".lto_priv.0": what the compiler made of a function is the
 * function. */
static void cut_suffix(char *name)
{
	static const char *const suffixes[] = {
		".constprop", ".isra", ".part", ".cold", ".lto_priv", ".clone", ".llvm"
	};

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		char *at = strstr(name + (*name != 0), suffixes[i]);

		if (at)
			*at = 0;
	}
}

/* "void ns::f<int>(int, char) const" to "ns::f<int>". */
static void cut_signature(char *name)
{
	char *end = strrchr(name, ')'), *start = name;
	int depth = 0;

	for (char *at = end; at && at >= name; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (depth == 0) {
			if (at > name)
				*at = 0;
			break;
		}
	}
	if (strstr(name, "operator"))
		return;
	depth = 0;
	for (char *at = name; *at; at++) {
		depth += *at == '<' || *at == '(';
		depth -= *at == '>' || *at == ')';
		if (*at == ' ' && depth == 0)
			start = at + 1;
	}
	memmove(name, start, strlen(start) + 1);
}

char *vprof_symbol_name(const char *elf_name)
{
	char *name = strdup(elf_name), *plain;
	int status = 0;

	if (!name)
		return NULL;
	cut_suffix(name);
	if (name[0] != '_' || name[1] != 'Z')
		return name;
	plain = __cxa_demangle(name, NULL, NULL, &status);
	if (!plain)
		return name;
	cut_signature(plain);
	free(name);
	return plain;
}

const struct vprof_symbol *vprof_symbols_find(struct vprof_symbols *s, uint32_t process_seq, uint64_t address)
{
	const struct vprof_module *m = NULL;
	struct file *f;
	uint64_t offset;
	size_t i;

	for (i = s->timeline->modules.n; i-- > 0 && !m;) {
		const struct vprof_module *c = &s->timeline->modules.v[i];

		if (c->process_seq == process_seq && address >= c->low && address < c->high)
			m = c;
	}
	f = m ? file_of(s, m) : NULL;
	if (!f)
		return NULL;
	if (!f->is_open)
		open_file(f, s->timeline);
	offset = address - m->bias - 1; /* inside the call instruction that it returns behind */
	i = vprof_time_search(f->entries.v, sizeof *f->entries.v, f->entries.n, offset, f->entries.n / 2);
	for (int n = 0; i-- > 0 && n < 8; n++) {
		struct entry *e = &f->entries.v[i];

		if (offset >= e->high)
			continue;
		if (!e->symbol.name) {
			e->symbol.name = vprof_symbol_name(e->elf_name);
			e->symbol.module = f->path;
			e->symbol.low = e->low;
		}
		return e->symbol.name ? &e->symbol : NULL;
	}
	return NULL;
}
