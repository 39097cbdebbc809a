/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two assemblies of one source, by one compiler with the same options; they differ by the probes, and by what the
 * optimiser made of that.
 *
 * Invariant: there is one of each variable, and one address of each function, the plain one's. So a name that the
 * assembler sees in the second assembly means what the first defines, except where code is jumped to: functions that no
 * other unit can have under that name are called as twins. What has a name that the compiler made up, with a number
 * (read-only tables, clones of functions), is each assembly's own. Where that is not certain, the unit gets no twins.
 *
 * An entry costs an instruction each time when it is passed, so it stays only where opening it could make a difference:
 * where the twin holds a site, or goes on to another function.
 */
#define _GNU_SOURCE
#include "instrumenter/resident/resident_merge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/hash/string_set.h"
#include "instrumenter/resident/resident_file.h"

#define SUFFIX "__vp"	   /* VPROF_TWIN_SUFFIX */
#define VP_SITES "vp_live" /* VP_LIVE_SECTION */
#define OWN_PREFIX ".Lvp_"
/* Linkers put `.text.unlikely.*` of all units together: twins would else stand between the functions of a program,
 * which would have its code on three times the pages. */
#define TWIN_SECTION "\t.section\t.text.unlikely.vp,\"ax\",@progbits\n"
/* Exceptions' tables measure from where the cold part of a function begins: it stays contiguous in a section of its
 * own. */
#define COLD_SECTION "\t.section\t.text.unlikely.vp_cold,\"ax\",@progbits\n"

enum place { CODE, EXCEPTIONS, READ_ONLY, WRITABLE, LEFT_OUT };
enum kind { ABSENT, FUNCTION, VARIABLE };

struct symbol {
	unsigned char kind[2]; /* in the plain and the probed assembly: enum kind */
	unsigned char is_global, is_writable, is_own;
	unsigned char has_labels; /* a variable that leads to places in the code */
	unsigned char is_entered; /* a function whose entry may have to be opened */
	long size[2];		  /* 0: not known */
	uint32_t of_plain;	  /* a static variable of a function of C: its number in the plain one, + 1; 0: none */
};

struct line {
	const char *s, *end; /* without its newline */
	const char *word;    /* the first that is not space */
	size_t n_word;
};

struct merge {
	struct vprof_strings names;
	VPROF_ARRAY(struct symbol) symbols; /* by number of its name */
	struct vprof_text *out, *why;
	struct vprof_text section, align; /* of the probed assembly, not yet written */
	enum place place;
	int has_probed; /* there are two assemblies */
	int is_kept;	/* what stands under the last label of a variable */
	int failed;
};

/* ---- lines ---- */

static int is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static int next_line(const char **at, const char *end, struct line *l)
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

static int is_word(const struct line *l, const char *list)
{
	const char *at = list;

	while (l->n_word && (at = memmem(at, strlen(at), l->word, l->n_word))) {
		if ((at == list || at[-1] == ' ') && (!at[l->n_word] || at[l->n_word] == ' '))
			return 1;
		at++;
	}
	return 0;
}

static int begins(const struct line *l, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(l->end - l->word) >= n && !memcmp(l->word, with, n);
}

static int is_label(const struct line *l)
{
	return l->n_word && l->s == l->word && l->word + l->n_word < l->end && l->word[l->n_word] == ':' &&
	       !isdigit((unsigned char)*l->word);
}

static int is_local_label(const char *name)
{
	return name[0] == '.' && name[1] == 'L';
}

/* The first operand of a directive. */
static const char *operand(const struct line *l, size_t *n)
{
	const char *s = l->word + l->n_word;

	while (s < l->end && (*s == ' ' || *s == '\t'))
		s++;
	for (*n = 0; s + *n < l->end && is_name(s[*n]);)
		++*n;
	return s;
}

/* What follows the first comma. */
static const char *second(const struct line *l, size_t *n)
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

static int is_section(const struct line *l)
{
	return is_word(l, ".text .data .bss .section");
}

static enum place place_of(const struct line *l)
{
	static const char *const run_by_themselves[] = { ".init_array", ".fini_array", ".preinit_array", ".ctors",
							 ".dtors",	"__patchable", ".tm_clone" };
	const char *flags = memchr(l->word, '"', (size_t)(l->end - l->word)), *name;
	size_t n;

	if (is_word(l, ".text"))
		return CODE;
	if (is_word(l, ".data .bss"))
		return WRITABLE;
	name = operand(l, &n);
	for (size_t i = 0; i < sizeof run_by_themselves / sizeof *run_by_themselves; i++)
		if (!strncmp(name, run_by_themselves[i], strlen(run_by_themselves[i])))
			return LEFT_OUT;
	if (!strncmp(name, ".gcc_except_table", 17))
		return EXCEPTIONS;
	if (!strncmp(name, ".data.rel.ro", 12))
		return READ_ONLY; /* from the time on when the program is loaded */
	if (!flags)
		return !strncmp(name, ".text", 5)			       ? CODE :
		       !strncmp(name, ".rodata", 7)			       ? READ_ONLY :
		       !strncmp(name, ".data", 5) || !strncmp(name, ".bss", 4) ? WRITABLE :
										 LEFT_OUT;
	n = strcspn(flags + 1, "\"");
	return memchr(flags + 1, 'x', n) ? CODE :
	       memchr(flags + 1, 'w', n) ? WRITABLE :
	       memchr(flags + 1, 'a', n) ? READ_ONLY :
					   LEFT_OUT;
}

/* ---- symbols ---- */

static struct symbol *symbol(struct merge *m, const char *name, size_t n)
{
	char *copy = strndup(name, n);
	uint32_t i = copy ? vprof_strings_number(&m->names, copy) : VPROF_NONE;

	free(copy);
	while (i != VPROF_NONE && m->symbols.n <= i)
		if (!VPROF_PUSH(&m->symbols))
			i = VPROF_NONE;
	if (i != VPROF_NONE)
		return &m->symbols.v[i];
	m->failed = 1;
	return NULL;
}

static void define(struct merge *m, const char *name, size_t n, int which, enum kind kind, int is_writable)
{
	struct symbol *s = symbol(m, name, n);

	if (!s)
		return;
	s->kind[which] = (unsigned char)kind;
	if (which)
		s->is_writable = (unsigned char)is_writable;
}

static int is_branch(const struct line *l)
{
	return *l->word == 'j' || is_word(l, "call callq");
}

/* Where it leads to, NULL when that is told by a register or memory. */
static const char *target(const struct line *l)
{
	const char *s = l->word + l->n_word;

	while (s < l->end && (*s == ' ' || *s == '\t'))
		s++;
	return s < l->end && *s != '*' ? s : NULL;
}

/* A line of the probed code that makes it matter whether its function is entered. */
static int is_to_be_seen(const struct line *l)
{
	const char *to = is_branch(l) ? target(l) : NULL;

	if (begins(l, ".pushsection " VP_SITES))
		return 1;
	return is_branch(l) && !(to && is_local_label(to) && isdigit((unsigned char)to[2]));
}

/* The function whose code follows the label; what was moved out of it belongs to it. */
static uint32_t function_of(struct merge *m, const struct line *l)
{
	const char *cold = memmem(l->word, l->n_word, ".cold", 5);
	const struct symbol *s = symbol(m, l->word, cold ? (size_t)(cold - l->word) : l->n_word);

	return s ? (uint32_t)(s - m->symbols.v) : VPROF_NONE;
}

static void look_at(struct merge *m, const struct line *l, int which)
{
	const char *name, *value;
	struct symbol *s;
	size_t n, k;

	name = operand(l, &n);
	value = second(l, &k);
	if (!n || is_local_label(name))
		return;
	if (is_word(l, ".globl .global .weak .comm") && which && (s = symbol(m, name, n)) && !is_word(l, ".comm"))
		s->is_global = 1;
	if (is_word(l, ".comm .lcomm"))
		define(m, name, n, which, VARIABLE, 1);
	if (is_word(l, ".size .comm") && k && isdigit((unsigned char)*value) && (s = symbol(m, name, n)))
		s->size[which] = strtol(value, NULL, 10);
	if (is_word(l, ".set")) {
		const struct symbol *other = is_local_label(value) ? NULL : symbol(m, value, k);

		define(m, name, n, which, other && other->kind[which] == VARIABLE ? VARIABLE : FUNCTION,
		       other && other->is_writable);
		if (which && (s = symbol(m, name, n)))
			s->is_entered = 1; /* as the other may be */
	}
}

/* A label that is none of a string. */
static int names_label(const struct line *l)
{
	const char *at = l->word;

	while ((at = memmem(at, (size_t)(l->end - at), ".L", 2))) {
		at += 2;
		if (at < l->end && *at != 'C')
			return 1;
	}
	return 0;
}

/* What an assembly defines. */
static void read_symbols(struct merge *m, const struct vprof_text *text, int which)
{
	const char *at = text->s, *end = text->s + text->len;
	uint32_t function = VPROF_NONE, variable = VPROF_NONE;
	enum place place = CODE;
	int in_statement = 0; /* assembly of the program's own */
	struct line l;

	while (!m->failed && next_line(&at, end, &l)) {
		if (begins(&l, "#APP") || begins(&l, "#NO_APP"))
			in_statement = begins(&l, "#APP");
		else if (is_label(&l) && !is_local_label(l.word)) {
			define(m, l.word, l.n_word, which, place == CODE || place == EXCEPTIONS ? FUNCTION : VARIABLE,
			       place == WRITABLE);
			function = function_of(m, &l);
			variable = place == CODE || place == EXCEPTIONS ? VPROF_NONE : function;
		} else if (is_label(&l))
			variable = VPROF_NONE;
		else if (which && function != VPROF_NONE && is_to_be_seen(&l))
			m->symbols.v[function].is_entered = 1;
		else if (!in_statement && is_section(&l))
			place = place_of(&l);
		else if (which && variable != VPROF_NONE && is_word(&l, ".quad .long .value .byte"))
			m->symbols.v[variable].has_labels |= (unsigned char)names_label(&l);
		else if (!in_statement && begins(&l, "."))
			look_at(m, &l, which);
	}
}

/* A name that the compiler derived from a function's for what it made of it. */
static int is_clone(const char *dot)
{
	static const char *const parts[] = { ".isra.", ".constprop.", ".part.", ".cold" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strncmp(dot, parts[i], strlen(parts[i])))
			return 1;
	return 0;
}

/* The compiler numbers the static variables of C's functions in an order of its own. One whose name no other function
 * uses is the same in both assemblies: its number in the plain one, VPROF_NONE when it is not certain. */
static uint32_t same_static(const struct merge *m, size_t i)
{
	const char *name = m->names.kept.v[i], *dot = strrchr(name, '.');
	uint32_t found = VPROF_NONE;
	size_t n[2] = { 0, 0 };

	for (uint32_t j = 0; j < m->symbols.n; j++) {
		const struct symbol *s = &m->symbols.v[j];
		const char *other = m->names.kept.v[j];

		if (strncmp(other, name, (size_t)(dot + 1 - name)) || strchr(other + (dot + 1 - name), '.'))
			continue;
		for (int half = 0; half < 2; half++)
			n[half] += s->kind[half] == VARIABLE;
		if (s->kind[0] == VARIABLE && s->size[0] && s->size[0] == m->symbols.v[i].size[1])
			found = j;
	}
	return n[0] == 1 && n[1] == 1 ? found : VPROF_NONE;
}

/* A constant that the compiler made, or a name of C++, where those of static variables are not numbered. */
static int is_made(const char *name)
{
	static const char *const made[] = {
		"_Z", "CSWTCH.", "C.", "__func__.", "__FUNCTION__.", "__PRETTY_FUNCTION__."
	};

	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		if (!strncmp(name, made[i], strlen(made[i])))
			return 1;
	return 0;
}

/* May the two be one program? Decides which variables are the probed assembly's own. */
static int check(struct merge *m)
{
	for (size_t i = 0; i < m->symbols.n; i++) {
		struct symbol *s = &m->symbols.v[i];
		const char *name = m->names.kept.v[i], *dot = strchr(name, '.'), *wrong = NULL;

		if (s->kind[0] == FUNCTION || s->kind[1] == FUNCTION) {
			if (dot && !is_clone(dot))
				wrong = "a part of a function that another part calls by its address (a coroutine)";
		} else if (s->kind[1] == VARIABLE && !s->is_global) {
			int is_table = s->has_labels && !s->is_writable;
			uint32_t same = dot && !is_table && !is_made(name) ? same_static(m, i) : VPROF_NONE;

			s->of_plain = same == VPROF_NONE ? 0 : same + 1;
			if (s->of_plain && !s->has_labels)
				continue;
			if ((s->is_writable && !s->kind[0]) ||
			    (dot && (s->is_writable || (!is_table && !is_made(name)))))
				wrong = "a variable that only one of the two copies has";
			else if (!dot && s->size[0] && s->size[1] && s->size[0] != s->size[1])
				wrong = "a variable that has two sizes";
			s->is_own = dot != NULL;
		}
		if (wrong) {
			vprof_text_addf(m->why, "%s: %s", name, wrong);
			return 1;
		}
	}
	return 0;
}

/* ---- the second assembly ---- */

static int is_of_runtime(const char *name)
{
	return !strncmp(name, "vp_", 3);
}

/* Is this name another one here? */
static int is_renamed(struct merge *m, const char *name, size_t n, int is_target)
{
	const struct symbol *s = symbol(m, name, n);

	if (!s || !s->kind[1])
		return 0;
	if (s->kind[1] == VARIABLE)
		return s->is_own;
	if (!s->kind[0])
		return !is_of_runtime(name);
	return memchr(name, '.', n) || (is_target && !s->is_global);
}

static void write_name(struct merge *m, const char *name, size_t n, int is_target, int is_defined)
{
	const struct symbol *s;

	if (n > 2 && is_local_label(name)) {
		vprof_text_add(m->out, OWN_PREFIX);
		vprof_text_append(m->out, name + 2, n - 2);
		return;
	}
	s = is_defined ? NULL : symbol(m, name, n);
	if (s && s->of_plain) {
		vprof_text_add(m->out, m->names.kept.v[s->of_plain - 1]);
		return;
	}
	vprof_text_append(m->out, name, n);
	if (is_defined || is_renamed(m, name, n, is_target))
		vprof_text_add(m->out, SUFFIX);
}

/* From `s` on, with other names; `defined`: the name that is defined here, or NULL. */
static void write_rest(struct merge *m, const char *s, const char *end, int is_target, const char *defined,
		       size_t n_defined)
{
	while (s < end) {
		size_t n = 0;

		if (*s == '"') {
			do
				n += s[n] == '\\' ? 2 : 1;
			while (s + n < end && s[n] != '"');
			n = s + n < end ? n + 1 : (size_t)(end - s);
			vprof_text_append(m->out, s, n);
		} else if (*s == '%' || isdigit((unsigned char)*s)) {
			n = 1;
			while (s + n < end && is_name(s[n]))
				n++;
			vprof_text_append(m->out, s, n);
		} else if (is_name(*s)) {
			while (s + n < end && is_name(s[n]))
				n++;
			write_name(m, s, n, is_target, defined && n == n_defined && !memcmp(s, defined, n));
		} else {
			n = 1;
			vprof_text_append(m->out, s, 1);
		}
		s += n;
	}
	vprof_text_add(m->out, "\n");
}

static void write_line(struct merge *m, const struct line *l)
{
	vprof_text_append(m->out, l->s, (size_t)(l->word + l->n_word - l->s));
	write_rest(m, l->word + l->n_word, l->end, is_branch(l) && target(l), NULL, 0);
}

/* The section that a variable is to stand in: its own, or, when that belongs to a function, a common one. */
static void write_section(struct merge *m, int is_unnamed)
{
	if (m->section.len && is_unnamed && strstr(m->section.s, ",comdat"))
		vprof_text_add(m->out, m->place == WRITABLE || strstr(m->section.s, ".data.rel.ro") ?
					       "\t.section\t.data.rel.ro.local,\"aw\"\n" :
					       "\t.section\t.rodata\n");
	else
		vprof_text_append(m->out, m->section.s ? m->section.s : "", m->section.len);
	vprof_text_append(m->out, m->align.s ? m->align.s : "", m->align.len);
	vprof_text_clear(&m->align);
}

static void write_label(struct merge *m, const struct line *l)
{
	const struct symbol *s = is_local_label(l->word) ? NULL : symbol(m, l->word, l->n_word);
	int in_code = m->place == CODE || m->place == EXCEPTIONS;

	if (!in_code) {
		m->is_kept = m->place != LEFT_OUT && (!s || (!s->of_plain && (!s->kind[0] || s->is_own)));
		if (!m->is_kept)
			return;
		write_section(m, !s);
	}
	if (in_code && s && !(is_of_runtime(l->word) && !s->kind[0])) {
		vprof_text_append(m->out, l->word, l->n_word);
		vprof_text_add(m->out, SUFFIX ":\n");
		return;
	}
	write_rest(m, l->s, l->end, 0, NULL, 0);
}

static void enter_section(struct merge *m, const struct line *l)
{
	m->place = place_of(l);
	m->is_kept = 0;
	vprof_text_clear(&m->section);
	vprof_text_clear(&m->align);
	if (m->place == CODE)
		vprof_text_add(m->out, strstr(l->word, "unlikely") && strstr(l->word, "unlikely") < l->end ?
					       COLD_SECTION :
					       TWIN_SECTION);
	else if (m->place == EXCEPTIONS)
		vprof_text_add(m->out, "\t.section\t.gcc_except_table,\"a\",@progbits\n");
	else
		vprof_text_addf(&m->section, "%.*s\n", (int)(l->end - l->s), l->s);
}

/* A directive about a symbol. */
static void write_about(struct merge *m, const struct line *l)
{
	const char *name;
	const struct symbol *s;
	size_t n;
	int is_function, is_here;

	name = operand(l, &n);
	if (is_word(l, ".set")) {
		size_t k;
		const char *value = second(l, &k);
		const struct symbol *other = is_local_label(value) ? NULL : symbol(m, value, k);

		s = is_local_label(name) ? NULL : symbol(m, name, n);
		if (s && s->kind[1] == VARIABLE && s->kind[0])
			return;
		vprof_text_add(m->out, "\t.set\t");
		write_name(m, name, n, 0, s && s->kind[1] == FUNCTION);
		vprof_text_add(m->out, ",");
		write_rest(m, value, l->end, 1, other && other->kind[1] == FUNCTION ? value : NULL, k);
		return;
	}
	s = symbol(m, name, n);
	is_function = s && s->kind[1] == FUNCTION;
	is_here = is_function && is_of_runtime(name) && !s->kind[0];
	if (s && s->kind[1] == VARIABLE && (s->of_plain || (s->kind[0] && !s->is_own)))
		return;
	if (is_function && !is_here && !is_word(l, ".type .size"))
		return;
	vprof_text_append(m->out, l->s, (size_t)(l->word + l->n_word - l->s));
	write_rest(m, l->word + l->n_word, l->end, 0, is_function && !is_here ? name : NULL, n);
}

static void write_directive(struct merge *m, const struct line *l)
{
	int in_code = m->place == CODE || m->place == EXCEPTIONS;

	if (is_section(l)) {
		enter_section(m, l);
	} else if (is_word(l, ".file .ident .loc .addrsig .addrsig_sym .symver .cfi_sections")) {
		return;
	} else if (is_word(l,
			   ".globl .global .weak .hidden .protected .internal .local .type .size .set .comm .lcomm")) {
		write_about(m, l);
	} else if (in_code || m->is_kept) {
		write_line(m, l);
	} else if (is_word(l, ".align .balign .p2align")) {
		vprof_text_clear(&m->align);
		vprof_text_addf(&m->align, "%.*s\n", (int)(l->end - l->s), l->s);
	}
}

static void write_probed(struct merge *m, const struct vprof_text *text)
{
	const char *at = text->s, *end = text->s + text->len;
	int in_statement = 0;
	struct line l;

	m->place = CODE;
	vprof_text_add(m->out, TWIN_SECTION);
	while (!m->failed && next_line(&at, end, &l)) {
		if (begins(&l, "#APP") || begins(&l, "#NO_APP"))
			in_statement = begins(&l, "#APP");
		else if (l.word == l.end || *l.word == '#')
			continue;
		else if (is_label(&l))
			write_label(m, &l);
		else if (!in_statement && *l.word == '.')
			write_directive(m, &l);
		else
			write_line(m, &l);
	}
}

/* Could the entry have to be opened? A function that only the first assembly has may be paired with the twin of another
 * unit, which has the same function. */
static int is_entered(struct merge *m, const char *name, size_t n)
{
	const struct symbol *s = symbol(m, name, n);

	return s && (s->is_entered || (m->has_probed && s->kind[1] != FUNCTION)) && !memchr(name, '.', n);
}

/* The first assembly, without the list of its entries (gcc 12 ties that to functions which the linker may drop), and
 * without the entries that need not be. */
static void write_plain(struct merge *m, const struct vprof_text *text)
{
	const char *at = text->s, *end = text->s + text->len;
	int is_left_out = 0, in_statement = 0, is_spared = 0, n_spared = 0;
	struct line l;
	size_t n;

	while (next_line(&at, end, &l)) {
		if (begins(&l, "#APP") || begins(&l, "#NO_APP"))
			in_statement = begins(&l, "#APP");
		else if (!in_statement && is_label(&l) && !is_local_label(l.word))
			is_spared = !is_entered(m, l.word, l.n_word);
		else if (is_section(&l))
			is_left_out = !strncmp(operand(&l, &n), "__patchable", 11);
		if (n_spared && !in_statement && l.n_word == 3 && is_word(&l, "nop")) {
			n_spared--;
			continue;
		}
		n_spared = is_spared && begins(&l, ".LPFE") && is_label(&l) ? VPROF_ENTRY_BYTES : 0;
		if (is_left_out)
			continue;
		vprof_text_append(m->out, l.s, (size_t)(l.end - l.s));
		vprof_text_add(m->out, "\n");
	}
}

/* Which twin belongs to which function, which of them have lost their entry, and that this unit has them; and a site
 * that keeps the section of the twins.
 * (The linker keeps unused sections that look like debug information.) */
static void write_pairs(struct merge *m)
{
	vprof_text_add(m->out, "\t.section\t.debug_vp_pairs,\"\",@progbits\n\t.quad\t-1, .Ldebug_info0\n");
	for (size_t i = 0; i < m->symbols.n; i++) {
		const struct symbol *s = &m->symbols.v[i];
		const char *name = m->names.kept.v[i];

		if (s->kind[0] == FUNCTION && s->kind[1] == FUNCTION && !strchr(name, '.') && !is_of_runtime(name))
			vprof_text_addf(m->out, "\t.quad\t%s, %s" SUFFIX "\n%s%s%s", name, name,
					s->is_entered ? "" : "\t.quad\t-2, ", s->is_entered ? "" : name,
					s->is_entered ? "" : "\n");
	}
	vprof_text_add(m->out, TWIN_SECTION OWN_PREFIX "twins:\n\t.section\tvp_live,\"aw\"\n\t.balign\t32\n"
						       "\t.8byte\t0, 0, 0, " OWN_PREFIX "twins\n");
}

int vprof_assembly_merge(const struct vprof_text *plain, const struct vprof_text *probed, struct vprof_text *out,
			 struct vprof_text *why)
{
	struct merge m = {
		.out = out, .why = why, .has_probed = 1, .section = VPROF_TEXT_INIT, .align = VPROF_TEXT_INIT
	};
	int rc = VPROF_OK;

	if (!plain->len || !probed->len || !strstr(plain->s, "\n.Ldebug_info0:")) {
		vprof_text_add(why, "the compiler wrote no assembly with debug information");
		return 1;
	}
	read_symbols(&m, plain, 0);
	read_symbols(&m, probed, 1);
	if (!m.failed)
		rc = check(&m);
	if (!rc && !m.failed) {
		write_plain(&m, plain);
		write_probed(&m, probed);
		write_pairs(&m);
	}
	if (m.failed || out->failed || why->failed || m.section.failed || m.align.failed)
		rc = VPROF_ERR_NOMEM;
	vprof_text_release(&m.section);
	vprof_text_release(&m.align);
	VPROF_ARRAY_RELEASE(&m.symbols);
	vprof_strings_release(&m.names);
	return rc;
}

/* A function of C has a twin under its name and the suffix. */
static void pair_by_name(struct merge *m)
{
	for (size_t i = 0; !m->failed && i < m->symbols.n; i++) {
		const char *name = m->names.kept.v[i];
		size_t n = strlen(name), k = strlen(SUFFIX);
		struct symbol *s = n > k && m->symbols.v[i].kind[0] == FUNCTION && !strcmp(name + n - k, SUFFIX) ?
					   symbol(m, name, n - k) :
					   NULL;

		if (s)
			s->is_entered = 1;
	}
}

int vprof_assembly_spare(const struct vprof_text *text, struct vprof_text *out)
{
	struct merge m = { .out = out };
	int rc = VPROF_OK;

	read_symbols(&m, text, 0);
	pair_by_name(&m);
	write_plain(&m, text);
	if (m.failed || out->failed)
		rc = VPROF_ERR_NOMEM;
	VPROF_ARRAY_RELEASE(&m.symbols);
	vprof_strings_release(&m.names);
	return rc;
}
