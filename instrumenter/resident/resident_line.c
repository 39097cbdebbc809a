/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/resident/resident_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"

static int is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

int vprof_line_next(const char **at, const char *end, struct vprof_asm_line *l)
{
	if (*at >= end)
		return 0;
	l->s = *at;
	l->end = memchr(*at, '\n', (size_t)(end - *at));
	if (!l->end)
		l->end = end;
	*at = l->end + 1;
	l->word = l->s;
	while (l->word < l->end && (*l->word == ' ' || *l->word == '\t'))
		l->word++;
	l->n_word = 0;
	while (l->word + l->n_word < l->end && is_name(l->word[l->n_word]))
		l->n_word++;
	return 1;
}

int vprof_line_is(const struct vprof_asm_line *l, const char *list)
{
	const char *at = list;

	while (l->n_word && (at = memmem(at, strlen(at), l->word, l->n_word))) {
		if ((at == list || at[-1] == ' ') && (!at[l->n_word] || at[l->n_word] == ' '))
			return 1;
		at++;
	}
	return 0;
}

int vprof_line_begins(const struct vprof_asm_line *l, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(l->end - l->word) >= n && !memcmp(l->word, with, n);
}

int vprof_line_is_label(const struct vprof_asm_line *l)
{
	return l->n_word && l->s == l->word && l->word + l->n_word < l->end && l->word[l->n_word] == ':' &&
	       !isdigit((unsigned char)*l->word);
}

int vprof_label_is_local(const char *name)
{
	return name[0] == '.' && name[1] == 'L';
}

/* The first operand of a directive. */
const char *vprof_line_operand(const struct vprof_asm_line *l, size_t *n)
{
	const char *s = l->word + l->n_word;

	while (s < l->end && (*s == ' ' || *s == '\t'))
		s++;
	for (*n = 0; s + *n < l->end && is_name(s[*n]);)
		++*n;
	return s;
}

/* What follows the first comma. */
const char *vprof_line_second(const struct vprof_asm_line *l, size_t *n)
{
	const char *s = memchr(l->word, ',', (size_t)(l->end - l->word));

	*n = 0;
	if (!s)
		return l->end;
	for (s++; s < l->end && (*s == ' ' || *s == '\t');)
		s++;
	while (s + *n < l->end && is_name(s[*n]))
		++*n;
	return s;
}

int vprof_line_is_section(const struct vprof_asm_line *l)
{
	return vprof_line_is(l, ".text .data .bss .section");
}

enum vprof_place vprof_line_place(const struct vprof_asm_line *l)
{
	static const char *const run_by_themselves[] = { ".init_array", ".fini_array", ".preinit_array", ".ctors",
							 ".dtors",	"__patchable", ".tm_clone" };
	const char *flags = memchr(l->word, '"', (size_t)(l->end - l->word)), *name;
	size_t n;

	if (vprof_line_is(l, ".text"))
		return VPROF_PLACE_CODE;
	if (vprof_line_is(l, ".data .bss"))
		return VPROF_PLACE_WRITABLE;
	name = vprof_line_operand(l, &n);
	for (size_t i = 0; i < sizeof run_by_themselves / sizeof *run_by_themselves; i++)
		if (!strncmp(name, run_by_themselves[i], strlen(run_by_themselves[i])))
			return VPROF_PLACE_LEFT_OUT;
	if (!strncmp(name, ".gcc_except_table", 17))
		return VPROF_PLACE_EXCEPTIONS;
	if (!strncmp(name, ".data.rel.ro", 12))
		return VPROF_PLACE_READ_ONLY; /* from the time on when the program is loaded */
	if (!flags)
		return !strncmp(name, ".text", 5)			       ? VPROF_PLACE_CODE :
		       !strncmp(name, ".rodata", 7)			       ? VPROF_PLACE_READ_ONLY :
		       !strncmp(name, ".data", 5) || !strncmp(name, ".bss", 4) ? VPROF_PLACE_WRITABLE :
										 VPROF_PLACE_LEFT_OUT;
	n = strcspn(flags + 1, "\"");
	return memchr(flags + 1, 'x', n) ? VPROF_PLACE_CODE :
	       memchr(flags + 1, 'w', n) ? VPROF_PLACE_WRITABLE :
	       memchr(flags + 1, 'a', n) ? VPROF_PLACE_READ_ONLY :
					   VPROF_PLACE_LEFT_OUT;
}

int vprof_line_is_branch(const struct vprof_asm_line *l)
{
	return *l->word == 'j' || vprof_line_is(l, "call callq");
}

/* Where it leads to, NULL when that is told by a register or memory. */
const char *vprof_line_target(const struct vprof_asm_line *l)
{
	const char *s = l->word + l->n_word;

	while (s < l->end && (*s == ' ' || *s == '\t'))
		s++;
	return s < l->end && *s != '*' ? s : NULL;
}

/* A label that is none of a string. */
int vprof_line_names_code(const struct vprof_asm_line *l)
{
	const char *at = l->word;

	while ((at = memmem(at, (size_t)(l->end - at), ".L", 2))) {
		at += 2;
		if (at < l->end && *at != 'C')
			return 1;
	}
	return 0;
}

int vprof_line_is_own_section(const struct vprof_asm_line *l)
{
	static const char *const usual[] = { ".rodata",	 ".data",  ".bss",  ".tdata", ".tbss",
					     ".lrodata", ".ldata", ".lbss", "vp_live" };
	size_t n;
	const char *name = vprof_line_is(l, ".section") ? vprof_line_operand(l, &n) : ".data";

	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!strncmp(name, usual[i], strlen(usual[i])))
			return 0;
	return 1;
}

size_t vprof_line_token(const char *s, const char *end, int *is_symbol)
{
	size_t n = 1;

	*is_symbol = 0;
	if (*s == '"') {
		n = 0;
		do
			n += s[n] == '\\' ? 2 : 1;
		while (s + n < end && s[n] != '"');
		return s + n < end ? n + 1 : (size_t)(end - s);
	}
	/* a register, a number, how a symbol is reached (memset@PLT); `$` is what an immediate operand begins with */
	if (*s == '%' || *s == '@' || isdigit((unsigned char)*s)) {
		while (s + n < end && is_name(s[n]))
			n++;
	} else if (is_name(*s) && *s != '$') {
		while (s + n < end && is_name(s[n]))
			n++;
		*is_symbol = 1;
	}
	return n;
}

/* The number of a string's label; SIZE_MAX: it is none. */
static size_t string_number(const char *label, const char *end)
{
	size_t n = 0;

	if (end - label < 4 || memcmp(label, ".LC", 3) != 0 || !isdigit((unsigned char)label[3]))
		return SIZE_MAX;
	for (label += 3; label < end && isdigit((unsigned char)*label) && n < UINT32_MAX; label++)
		n = n * 10 + (size_t)(*label - '0');
	return n;
}

int vprof_asm_strings_read(struct vprof_asm_strings *strings, const char *at, const char *end)
{
	size_t last = SIZE_MAX;
	struct vprof_asm_line l;

	while (vprof_line_next(&at, end, &l)) {
		if (vprof_line_is_label(&l))
			last = string_number(l.word, l.end);
		else if (vprof_line_is_section(&l) || *l.word != '.')
			last = SIZE_MAX;
		if (last == SIZE_MAX || !vprof_line_is(&l, ".string .ascii"))
			continue;
		while (strings->hashes.n <= last)
			if (!VPROF_PUSH(&strings->hashes))
				return -1;
		strings->hashes.v[last] = vprof_hash(strings->hashes.v[last], l.word, (size_t)(l.end - l.word));
	}
	return 0;
}

/* What a symbol's name tells of it in any assembly of the source. */
static uint64_t hash_name(uint64_t seed, const char *name, size_t n, const struct vprof_asm_strings *strings)
{
	size_t kept = n, number = string_number(name, name + n);

	if (number < strings->hashes.n)
		return vprof_hash(seed, &strings->hashes.v[number], sizeof *strings->hashes.v);
	while (kept && isdigit((unsigned char)name[kept - 1]))
		kept--;
	return vprof_hash(seed, name, vprof_label_is_local(name) ? 2 : kept && name[kept - 1] == '.' ? kept : n);
}

uint64_t vprof_line_hash(uint64_t seed, const struct vprof_asm_line *l, const struct vprof_asm_strings *strings)
{
	for (const char *s = l->word; s < l->end;) {
		int is_symbol;
		size_t n = vprof_line_token(s, l->end, &is_symbol);

		seed = is_symbol ? hash_name(seed, s, n, strings) : vprof_hash(seed, s, n);
		s += n;
	}
	return seed;
}

unsigned long vprof_line_alignment(const struct vprof_asm_line *l)
{
	size_t n;
	const char *s = vprof_line_operand(l, &n);

	if (!n || !isdigit((unsigned char)*s))
		return 0;
	if (vprof_line_is(l, ".align .balign"))
		return strtoul(s, NULL, 10);
	return vprof_line_is(l, ".p2align") ? 1ul << (strtoul(s, NULL, 10) & 31) : 0;
}
