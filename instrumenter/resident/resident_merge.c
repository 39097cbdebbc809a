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
#include "instrumenter/resident/resident_line.h"
#include "instrumenter/resident/resident_names.h"

#define SUFFIX "__vp"	   /* VPROF_TWIN_SUFFIX */
#define VP_SITES "vp_live" /* VP_LIVE_SECTION */
#define OWN_PREFIX ".Lvp_"
#define WEAK_PREFIX ".Lvp_weak_"
/* Linkers put `.text.unlikely.*` of all units together: twins would else stand between the functions of a program,
 * which would have its code on three times the pages. */
#define TWIN_SECTION "\t.section\t.text.unlikely.vp,\"ax\",@progbits\n"
/* Exceptions' tables measure from where the cold part of a function begins: it stays contiguous in a section of its
 * own. */
#define COLD_SECTION "\t.section\t.text.unlikely.vp_cold,\"ax\",@progbits\n"

enum kind { ABSENT, FUNCTION, VARIABLE };

/* What has two members is of the plain and of the probed assembly. */
struct symbol {
	unsigned char kind[2]; /* enum kind */
	unsigned char is_used[2];
	unsigned char is_global, is_weak, is_writable, is_own;
	unsigned char has_body;	   /* a function that the plain one defines, and not by another name for one */
	unsigned char is_indirect; /* a function that is chosen when the program is loaded */
	unsigned char is_apart;	   /* a variable in a section of the program's own */
	unsigned char has_labels;  /* a variable that leads to places in the code */
	unsigned char is_entered;  /* a function whose entry may have to be opened */
	long size[2];		   /* 0: not known */
	unsigned long alignment[2];
	uint32_t order[2];   /* of definition */
	uint64_t content[2]; /* of a variable in C, a hash of what it begins with; 0: zeros */
	uint32_t of_plain;   /* a static variable of a function of C: its number in the plain one, + 1; 0: none */
};

/* A variable of the probed assembly leads to a symbol. */
struct leads {
	uint32_t from, to;
};

struct merge {
	struct vprof_strings names;
	VPROF_ARRAY(struct symbol) symbols; /* by number of its name */
	struct vprof_text *out, *why;
	struct vprof_text section, align; /* of the probed assembly, not yet written */
	struct vprof_asm_strings strings[2];
	VPROF_ARRAY(struct leads) leads;
	enum vprof_place place;
	int has_probed; /* there are two assemblies */
	uint32_t n_defined;
	int is_c;
	int is_kept; /* what stands under the last label of a variable */
	int failed;
};

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
	s->order[which] = m->n_defined++;
	if (which)
		s->is_writable = (unsigned char)is_writable;
}

/* A line of the probed code that makes it matter whether its function is entered. */
static int is_to_be_seen(const struct vprof_asm_line *l)
{
	const char *to = vprof_line_is_branch(l) ? vprof_line_target(l) : NULL;

	if (vprof_line_begins(l, ".pushsection " VP_SITES))
		return 1;
	return vprof_line_is_branch(l) && !(to && vprof_label_is_local(to) && isdigit((unsigned char)to[2]));
}

/* The function whose code follows the label; what was moved out of it belongs to it. */
static uint32_t function_of(struct merge *m, const struct vprof_asm_line *l)
{
	const char *cold = memmem(l->word, l->n_word, ".cold", 5);
	const struct symbol *s = symbol(m, l->word, cold ? (size_t)(cold - l->word) : l->n_word);

	return s ? (uint32_t)(s - m->symbols.v) : VPROF_NONE;
}

/* The last operand of .comm. */
static void align(struct merge *m, const struct vprof_asm_line *l, int which)
{
	const char *first = memchr(l->word, ',', (size_t)(l->end - l->word)), *last;
	size_t n;
	const char *name = vprof_line_operand(l, &n);
	struct symbol *s = symbol(m, name, n);

	last = first ? memchr(first + 1, ',', (size_t)(l->end - first - 1)) : NULL;
	if (s)
		s->alignment[which] = last ? strtoul(last + 1, NULL, 10) : 1;
}

static void look_at(struct merge *m, const struct vprof_asm_line *l, int which)
{
	const char *name, *value;
	struct symbol *s;
	size_t n, k;

	name = vprof_line_operand(l, &n);
	value = vprof_line_second(l, &k);
	if (!n || vprof_label_is_local(name))
		return;
	if (vprof_line_is(l, ".globl .global .weak") && (s = symbol(m, name, n))) {
		s->is_global |= (unsigned char)which;
		s->is_weak |= (unsigned char)vprof_line_is(l, ".weak");
	}
	if (vprof_line_is(l, ".type") && memmem(value, (size_t)(l->end - value), "indirect", 8) &&
	    (s = symbol(m, name, n)))
		s->is_indirect = 1;
	if (vprof_line_is(l, ".comm .lcomm")) {
		define(m, name, n, which, VARIABLE, 1);
		align(m, l, which);
	}
	if (vprof_line_is(l, ".size .comm") && k && isdigit((unsigned char)*value) && (s = symbol(m, name, n)))
		s->size[which] = strtol(value, NULL, 10);
	if (vprof_line_is(l, ".set")) {
		const struct symbol *other = vprof_label_is_local(value) ? NULL : symbol(m, value, k);

		define(m, name, n, which, other && other->kind[which] == VARIABLE ? VARIABLE : FUNCTION,
		       other && other->is_writable);
		if (which && (s = symbol(m, name, n)))
			s->is_entered = 1; /* as the other may be */
	}
}

/* Where the reading of an assembly stands. */
struct reading {
	enum vprof_place place;
	uint32_t function, variable; /* the last that began */
	unsigned long alignment;     /* of what follows */
	int is_apart;		     /* in a section of the program's own */
	int in_statement;	     /* in assembly of the program's own, */
	int in_function;	     /* and not between functions */
};

/* After this line of code: a function begins with its label and ends with its size. */
static int is_in_function(const struct vprof_asm_line *l, int before)
{
	if (vprof_line_is_label(l))
		return before || !vprof_label_is_local(l->word);
	return before && !vprof_line_is(l, ".size");
}

static void read_label(struct merge *m, const struct vprof_asm_line *l, int which, struct reading *at)
{
	int is_code = at->place == VPROF_PLACE_CODE || at->place == VPROF_PLACE_EXCEPTIONS;
	struct symbol *s;

	at->variable = VPROF_NONE;
	if (!vprof_label_is_local(l->word)) {
		define(m, l->word, l->n_word, which, is_code ? FUNCTION : VARIABLE, at->place == VPROF_PLACE_WRITABLE);
		at->function = function_of(m, l);
		if (is_code && !which && (s = symbol(m, l->word, l->n_word)))
			s->has_body = 1;
		if (!is_code && (s = symbol(m, l->word, l->n_word))) {
			at->variable = at->function;
			s->alignment[which] = at->alignment;
			s->is_apart |= (unsigned char)(which && at->is_apart);
		}
	}
	at->alignment = 1;
}

/* The symbols of a line: of code, or of what a variable holds. */
static void read_uses(struct merge *m, const struct vprof_asm_line *l, int which, const struct reading *at)
{
	for (const char *s = l->word + l->n_word; s < l->end;) {
		int is_name;
		size_t n = vprof_line_token(s, l->end, &is_name);
		struct symbol *used = is_name && !(n > 2 && vprof_label_is_local(s)) ? symbol(m, s, n) : NULL;
		struct leads *leads;

		s += n;
		if (!used)
			continue;
		used->is_used[which] = 1;
		if (!which || at->variable == VPROF_NONE)
			continue;
		leads = VPROF_PUSH(&m->leads);
		if (leads)
			*leads = (struct leads){ at->variable, (uint32_t)(used - m->symbols.v) };
		m->failed |= !leads;
	}
	if (which && at->variable != VPROF_NONE && vprof_line_names_code(l))
		m->symbols.v[at->variable].has_labels = 1;
}

static void read_directive(struct merge *m, const struct vprof_asm_line *l, int which, struct reading *at)
{
	if (m->is_c && at->variable != VPROF_NONE && vprof_line_is(l, ".quad .long .value .byte .zero .string .ascii"))
		m->symbols.v[at->variable].content[which] =
			vprof_line_hash(m->symbols.v[at->variable].content[which], l, &m->strings[which]);
	if (vprof_line_is_section(l)) {
		at->place = vprof_line_place(l);
		at->is_apart = vprof_line_is_own_section(l);
		at->alignment = 1;
	} else if (vprof_line_alignment(l)) {
		at->alignment = vprof_line_alignment(l);
	} else if (vprof_line_is(l, ".quad .long .value .byte")) {
		read_uses(m, l, which, at);
	} else {
		look_at(m, l, which);
	}
}

/* What an assembly defines, and what it refers to. What stands between functions is the first one's only. */
static void read_symbols(struct merge *m, const struct vprof_text *text, int which)
{
	const char *at = text->s, *end = text->s + text->len;
	struct reading r = { VPROF_PLACE_CODE, VPROF_NONE, VPROF_NONE, 1, 0, 0, 0 };
	struct vprof_asm_line l;

	m->failed |= m->is_c && vprof_asm_strings_read(&m->strings[which], at, end);
	while (!m->failed && vprof_line_next(&at, end, &l)) {
		if (vprof_line_begins(&l, "#APP") || vprof_line_begins(&l, "#NO_APP")) {
			r.in_statement = vprof_line_begins(&l, "#APP");
			continue;
		}
		if (!r.in_statement && r.place == VPROF_PLACE_CODE)
			r.in_function = is_in_function(&l, r.in_function);
		if (which && r.in_statement && !r.in_function)
			continue;
		if (vprof_line_is_label(&l))
			read_label(m, &l, which, &r);
		else if (which && r.function != VPROF_NONE && is_to_be_seen(&l))
			m->symbols.v[r.function].is_entered = 1;
		if (vprof_line_is_label(&l) || l.word == l.end || *l.word == '#')
			continue;
		if (!vprof_line_begins(&l, ".") && !(which && r.in_statement)) /* (sites are statements) */
			read_uses(m, &l, which, &r);
		else if (!r.in_statement && vprof_line_begins(&l, "."))
			read_directive(m, &l, which, &r);
	}
}

/* A variable that leads to one which leads to places in the code does so, too. */
static void spread_labels(struct merge *m)
{
	for (int is_done = 0; !is_done;) {
		is_done = 1;
		for (size_t i = 0; i < m->leads.n; i++) {
			const struct leads *x = &m->leads.v[i];

			if (m->symbols.v[x->to].kind[1] == VARIABLE && m->symbols.v[x->to].has_labels &&
			    !m->symbols.v[x->from].has_labels) {
				m->symbols.v[x->from].has_labels = 1;
				is_done = 0;
			}
		}
	}
}

/* Is symbol j of one half a variable with the name, up to the number, of the probed one's symbol i, (and) of its size?
 */
static int is_numbered(const struct merge *m, size_t i, size_t j, int half, int of_size)
{
	const struct symbol *s = &m->symbols.v[j];
	const char *name = m->names.kept.v[i], *other = m->names.kept.v[j];
	size_t stem = (size_t)(strrchr(name, '.') + 1 - name);

	return s->kind[half] == VARIABLE && !strncmp(other, name, stem) && !strchr(other + stem, '.') &&
	       (!of_size || !s->size[half] || s->size[half] == m->symbols.v[i].size[1]);
}

/* How many of one half are, begin as it does, and are defined before that. */
static size_t n_alike(const struct merge *m, size_t i, int half, uint32_t before)
{
	size_t n = 0;

	for (size_t j = 0; j < m->symbols.n; j++)
		n += m->symbols.v[j].order[half] < before &&
		     m->symbols.v[j].content[half] == m->symbols.v[i].content[1] && is_numbered(m, i, j, half, 1);
	return n;
}

/* The compiler numbers the static variables of C's functions in an order of its own. One is the same in both assemblies
 * if both have as many of its name, and one of its size, or of its size which begins with the same. A constant is if it
 * alone of its name holds the same (either may lack others), or as the k-th of as many that do, by the order of
 * definition, the source's; were it another, that would hold the same. Its number in the plain one, VPROF_NONE: it is
 * not certain. */
static uint32_t same_static(const struct merge *m, size_t i)
{
	const struct symbol *wanted = &m->symbols.v[i];
	size_t n[2] = { 0, 0 }, n_sized[2] = { 0, 0 }, n_same = n_alike(m, i, 1, UINT32_MAX);
	size_t rank = n_alike(m, i, 1, wanted->order[1]);
	uint32_t sized = VPROF_NONE, alike = VPROF_NONE;
	int is_constant = !wanted->is_writable && wanted->content[1];

	for (uint32_t j = 0; j < m->symbols.n; j++) {
		const struct symbol *s = &m->symbols.v[j];

		for (int half = 0; half < 2; half++) {
			n[half] += is_numbered(m, i, j, half, 0);
			n_sized[half] += is_numbered(m, i, j, half, 1);
		}
		if (!s->size[0] || !is_numbered(m, i, j, 0, 1))
			continue;
		sized = j;
		if (s->content[0] == wanted->content[1] && n_alike(m, i, 0, s->order[0]) == rank)
			alike = j;
	}
	if (n[0] == n[1] && n_sized[0] == 1 && n_sized[1] == 1)
		return sized;
	if (n_alike(m, i, 0, UINT32_MAX) != n_same || (!is_constant && (n[0] != n[1] || n_same > 1)))
		return VPROF_NONE;
	return n[0] == n[1] || n_same == 1 ? alike : VPROF_NONE;
}

/* May the two be one program? Decides which variables are the probed assembly's own. */
static int check(struct merge *m)
{
	for (size_t i = 0; i < m->symbols.n; i++) {
		struct symbol *s = &m->symbols.v[i];
		const char *name = m->names.kept.v[i], *dot = strchr(name, '.'), *wrong = NULL;

		if (s->kind[0] == FUNCTION || s->kind[1] == FUNCTION) {
			if (s->is_indirect)
				wrong = "a function that is chosen when the program is loaded";
			else if (dot && !vprof_name_is_clone(dot))
				wrong = "a part of a function that another part calls by its address (a coroutine)";
		} else if (s->kind[1] == VARIABLE && !s->is_global) {
			int is_table = s->has_labels && !s->is_writable;
			uint32_t same = dot && !is_table && !vprof_name_is_made(name) ? same_static(m, i) : VPROF_NONE;

			s->of_plain = same == VPROF_NONE ? 0 : same + 1;
			if (s->of_plain && s->alignment[1] > m->symbols.v[same].alignment[1])
				m->symbols.v[same].alignment[1] = s->alignment[1];
			if (s->of_plain && !s->has_labels)
				continue;
			if ((s->is_writable && !s->kind[0]) ||
			    (dot && (s->is_writable || (!is_table && !vprof_name_is_made(name)))))
				wrong = "a variable that only one of the two copies has";
			else if (!dot && s->size[0] && s->size[1] && s->size[0] != s->size[1])
				wrong = "a variable that has two sizes";
			s->is_own = dot != NULL;
			if (s->is_apart && (s->is_own || !s->kind[0]))
				wrong = "a variable in a section of the program's own, which would have one more";
		}
		if (wrong) {
			vprof_text_addf(m->why, "%s: %s", name, wrong);
			return 1;
		}
	}
	return 0;
}

/* ---- the second assembly ---- */

/* Is this name another one here? */
static int is_renamed(struct merge *m, const char *name, size_t n, int is_target)
{
	const struct symbol *s = symbol(m, name, n);

	if (!s || !s->kind[1])
		return 0;
	if (s->kind[1] == VARIABLE)
		return s->is_own;
	if (vprof_name_is_alias(name, n))
		return is_target;
	if (!s->kind[0])
		return !vprof_name_is_of_runtime(name);
	return memchr(name, '.', n) || (is_target && !s->is_global);
}

static void write_name(struct merge *m, const char *name, size_t n, int is_target, int is_defined)
{
	const struct symbol *s;

	if (n > 2 && vprof_label_is_local(name)) {
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
		int is_symbol;
		size_t n = vprof_line_token(s, end, &is_symbol);

		if (is_symbol)
			write_name(m, s, n, is_target, defined && n == n_defined && !memcmp(s, defined, n));
		else
			vprof_text_append(m->out, s, n);
		s += n;
	}
	vprof_text_add(m->out, "\n");
}

static void write_line(struct merge *m, const struct vprof_asm_line *l)
{
	vprof_text_append(m->out, l->s, (size_t)(l->word + l->n_word - l->s));
	write_rest(m, l->word + l->n_word, l->end, vprof_line_is_branch(l) && vprof_line_target(l), NULL, 0);
}

/* The section that a variable is to stand in: its own, or, when that belongs to a function, a common one. */
static void write_section(struct merge *m, int is_unnamed)
{
	if (m->section.len && is_unnamed && strstr(m->section.s, ",comdat"))
		vprof_text_add(m->out, m->place == VPROF_PLACE_WRITABLE || strstr(m->section.s, ".data.rel.ro") ?
					       "\t.section\t.data.rel.ro.local,\"aw\"\n" :
					       "\t.section\t.rodata\n");
	else
		vprof_text_append(m->out, m->section.s ? m->section.s : "", m->section.len);
	vprof_text_append(m->out, m->align.s ? m->align.s : "", m->align.len);
	vprof_text_clear(&m->align);
}

static void write_label(struct merge *m, const struct vprof_asm_line *l)
{
	const struct symbol *s = vprof_label_is_local(l->word) ? NULL : symbol(m, l->word, l->n_word);
	int in_code = m->place == VPROF_PLACE_CODE || m->place == VPROF_PLACE_EXCEPTIONS;

	if (!in_code) {
		m->is_kept = m->place != VPROF_PLACE_LEFT_OUT && (!s || (!s->of_plain && (!s->kind[0] || s->is_own)));
		if (!m->is_kept)
			return;
		write_section(m, !s);
	}
	if (in_code && s && !(vprof_name_is_of_runtime(l->word) && !s->kind[0])) {
		vprof_text_append(m->out, l->word, l->n_word);
		vprof_text_add(m->out, SUFFIX ":\n");
		return;
	}
	write_rest(m, l->s, l->end, 0, NULL, 0);
}

static void enter_section(struct merge *m, const struct vprof_asm_line *l)
{
	m->place = vprof_line_place(l);
	m->is_kept = 0;
	vprof_text_clear(&m->section);
	vprof_text_clear(&m->align);
	if (m->place == VPROF_PLACE_CODE)
		vprof_text_add(m->out, strstr(l->word, "unlikely") && strstr(l->word, "unlikely") < l->end ?
					       COLD_SECTION :
					       TWIN_SECTION);
	else if (m->place == VPROF_PLACE_EXCEPTIONS)
		vprof_text_add(m->out, "\t.section\t.gcc_except_table,\"a\",@progbits\n");
	else
		vprof_text_addf(&m->section, "%.*s\n", (int)(l->end - l->s), l->s);
}

/* A directive about a symbol. */
static void write_about(struct merge *m, const struct vprof_asm_line *l)
{
	const char *name;
	const struct symbol *s;
	size_t n;
	int is_function, is_here;

	name = vprof_line_operand(l, &n);
	if (vprof_line_is(l, ".set")) {
		size_t k;
		const char *value = vprof_line_second(l, &k);
		const struct symbol *other = vprof_label_is_local(value) ? NULL : symbol(m, value, k);

		s = vprof_label_is_local(name) ? NULL : symbol(m, name, n);
		if (s && s->kind[1] == VARIABLE && s->kind[0])
			return;
		if (s && vprof_name_is_alias(name, n) && !s->kind[0]) /* whose address may be taken */
			vprof_text_addf(m->out, "\t.set\t%.*s,%.*s\n", (int)n, name, (int)k, value);
		vprof_text_add(m->out, "\t.set\t");
		write_name(m, name, n, 0, s && s->kind[1] == FUNCTION);
		vprof_text_add(m->out, ",");
		write_rest(m, value, l->end, 1, other && other->kind[1] == FUNCTION ? value : NULL, k);
		return;
	}
	s = symbol(m, name, n);
	is_function = s && s->kind[1] == FUNCTION;
	is_here = is_function && vprof_name_is_of_runtime(name) && !s->kind[0];
	if (s && s->kind[1] == VARIABLE && (s->of_plain || (s->kind[0] && !s->is_own)))
		return;
	if (is_function && !is_here && !vprof_line_is(l, ".type .size"))
		return;
	vprof_text_append(m->out, l->s, (size_t)(l->word + l->n_word - l->s));
	write_rest(m, l->word + l->n_word, l->end, 0, is_function && !is_here ? name : NULL, n);
}

static void write_directive(struct merge *m, const struct vprof_asm_line *l)
{
	int in_code = m->place == VPROF_PLACE_CODE || m->place == VPROF_PLACE_EXCEPTIONS;

	if (vprof_line_is_section(l)) {
		enter_section(m, l);
	} else if (vprof_line_is(l, ".file .ident .loc .addrsig .addrsig_sym .symver .cfi_sections")) {
		return;
	} else if (vprof_line_is(
			   l,
			   ".globl .global .weak .hidden .protected .internal .local .type .size .set .comm .lcomm")) {
		write_about(m, l);
	} else if (in_code || m->is_kept) {
		write_line(m, l);
	} else if (vprof_line_is(l, ".align .balign .p2align")) {
		vprof_text_clear(&m->align);
		vprof_text_addf(&m->align, "%.*s\n", (int)(l->end - l->s), l->s);
	}
}

static void write_probed(struct merge *m, const struct vprof_text *text)
{
	const char *at = text->s, *end = text->s + text->len;
	int in_statement = 0, in_function = 0;
	struct vprof_asm_line l;

	m->place = VPROF_PLACE_CODE;
	vprof_text_add(m->out, TWIN_SECTION);
	while (!m->failed && vprof_line_next(&at, end, &l)) {
		if (vprof_line_begins(&l, "#APP") || vprof_line_begins(&l, "#NO_APP"))
			in_statement = vprof_line_begins(&l, "#APP");
		if (!in_statement && m->place == VPROF_PLACE_CODE)
			in_function = is_in_function(&l, in_function);
		if (l.word == l.end || *l.word == '#' || (in_statement && !in_function))
			continue;
		if (vprof_line_is_label(&l)) {
			write_label(m, &l);
		} else if (!in_statement && *l.word == '.') {
			write_directive(m, &l);
		} else {
			write_line(m, &l);
		}
	}
}

/* Could the entry have to be opened? A function that only the first assembly has may be paired with the twin of another
 * unit, which has the same function. */
static int is_entered(struct merge *m, const char *name, size_t n)
{
	const struct symbol *s = symbol(m, name, n);

	return s && (s->is_entered || (m->has_probed && s->kind[1] != FUNCTION)) && !memchr(name, '.', n);
}

/* What the second assembly's code expects of a variable, whose place is in the first; 0: no more than that gives it. */
static unsigned long raised_alignment(struct merge *m, const char *name, size_t n)
{
	const struct symbol *s = symbol(m, name, n);

	return s && s->kind[0] == VARIABLE && s->alignment[1] > s->alignment[0] ? s->alignment[1] : 0;
}

/* 1: the line of a variable without contents is written, and expects more. */
static int write_common(struct merge *m, const struct vprof_asm_line *l)
{
	size_t n, k;
	const char *name = vprof_line_operand(l, &n), *size = vprof_line_second(l, &k);
	unsigned long most = raised_alignment(m, name, n);

	if (most)
		vprof_text_addf(m->out, "\t.comm\t%.*s,%.*s,%lu\n", (int)n, name, (int)k, size, most);
	return most != 0;
}

/* A weak function of C: the linker may take another unit's of that name, so this one has a label of the unit's own. */
static int needs_label(const struct merge *m, const struct symbol *s)
{
	return m->is_c && s->is_weak && s->kind[0] == FUNCTION;
}

static void write_weak_label(struct merge *m, const struct vprof_asm_line *l)
{
	const struct symbol *s = vprof_label_is_local(l->word) ? NULL : symbol(m, l->word, l->n_word);

	if (s && needs_label(m, s))
		vprof_text_addf(m->out, WEAK_PREFIX "%.*s:\n", (int)l->n_word, l->word);
}

/* The first assembly, without the list of its entries (gcc 12 ties that to functions which the linker may drop), and
 * without the entries that need not be. */
static void write_plain(struct merge *m, const struct vprof_text *text)
{
	const char *at = text->s, *end = text->s + text->len;
	int is_left_out = 0, in_statement = 0, is_spared = 0, n_spared = 0;
	unsigned long raised;
	struct vprof_asm_line l;
	size_t n;

	while (vprof_line_next(&at, end, &l)) {
		if (vprof_line_begins(&l, "#APP") || vprof_line_begins(&l, "#NO_APP"))
			in_statement = vprof_line_begins(&l, "#APP");
		else if (!in_statement && vprof_line_is_label(&l) && !vprof_label_is_local(l.word)) {
			is_spared = !is_entered(m, l.word, l.n_word);
			raised = raised_alignment(m, l.word, l.n_word);
			if (raised)
				vprof_text_addf(m->out, "\t.balign\t%lu\n", raised);
		} else if (vprof_line_is_section(&l))
			is_left_out = !strncmp(vprof_line_operand(&l, &n), "__patchable", 11);
		if (n_spared && !in_statement && l.n_word == 3 && vprof_line_is(&l, "nop")) {
			n_spared--;
			continue;
		}
		n_spared = is_spared && vprof_line_begins(&l, ".LPFE") && vprof_line_is_label(&l) ? VPROF_ENTRY_BYTES :
												    0;
		if (is_left_out || (!in_statement && vprof_line_is(&l, ".comm") && write_common(m, &l)))
			continue;
		vprof_text_append(m->out, l.s, (size_t)(l.end - l.s));
		vprof_text_add(m->out, "\n");
		if (!in_statement && vprof_line_is_label(&l))
			write_weak_label(m, &l);
	}
}

/* Which twin belongs to which function, which of them have lost their entry, and that this unit has them; and a site
 * that keeps the section of the twins. (The linker keeps unused sections that look like debug information.) */
static void write_pairs(struct merge *m)
{
	vprof_text_add(m->out, "\t.section\t.debug_vp_pairs,\"\",@progbits\n\t.quad\t-1, .Ldebug_info0\n");
	for (size_t i = 0; i < m->symbols.n; i++) {
		const struct symbol *s = &m->symbols.v[i];
		const char *name = m->names.kept.v[i];
		const char *label = needs_label(m, s) ? WEAK_PREFIX : "";

		if (s->kind[0] != FUNCTION || s->kind[1] != FUNCTION || strchr(name, '.') ||
		    vprof_name_is_of_runtime(name) || (*label && !s->has_body))
			continue;
		vprof_text_addf(m->out, "\t.quad\t%s%s, %s" SUFFIX "\n", label, name, name);
		if (!s->is_entered)
			vprof_text_addf(m->out, "\t.quad\t-2, %s%s\n", label, name);
	}
	vprof_text_add(m->out, TWIN_SECTION OWN_PREFIX "twins:\n\t.section\tvp_live,\"aw\"\n\t.balign\t32\n"
						       "\t.8byte\t0, 0, 0, " OWN_PREFIX "twins\n");
}

/* The second assembly may keep functions of C that the first has not, and that refer to what no unit defines. */
static int refers_further(struct merge *m)
{
	for (size_t i = 0; i < m->symbols.n; i++) {
		const struct symbol *s = &m->symbols.v[i];
		const char *name = m->names.kept.v[i];

		if (s->is_used[1] && !s->is_used[0] && s->kind[0] == ABSENT && s->kind[1] == ABSENT &&
		    !vprof_name_is_of_runtime(name) && strncmp(name, "vprof_", 6) != 0 &&
		    !vprof_name_is_of_libc(name)) {
			vprof_text_addf(m->why, "%s: only the copy with probes refers to it", name);
			return 1;
		}
	}
	return 0;
}

int vprof_assembly_merge(const struct vprof_text *plain, const struct vprof_text *probed, enum vprof_merge_how how,
			 struct vprof_text *out, struct vprof_text *why)
{
	struct merge m = { .out = out,
			   .why = why,
			   .has_probed = 1,
			   .is_c = how != VPROF_MERGE_CXX,
			   .section = VPROF_TEXT_INIT,
			   .align = VPROF_TEXT_INIT };
	int rc = 0;

	if (!plain->len || !probed->len || !strstr(plain->s, "\n.Ldebug_info0:")) {
		vprof_text_add(why, "the compiler wrote no assembly with debug information");
		return VPROF_MERGE_REFUSED;
	}
	read_symbols(&m, plain, 0);
	read_symbols(&m, probed, 1);
	spread_labels(&m);
	if (!m.failed)
		rc = check(&m) ? VPROF_MERGE_REFUSED : 0;
	if (!rc && !m.failed && how == VPROF_MERGE_C_KEPT)
		rc = refers_further(&m) ? VPROF_MERGE_REFERS_FURTHER : 0;
	if (!rc && !m.failed) {
		write_plain(&m, plain);
		write_probed(&m, probed);
		write_pairs(&m);
	}
	if (m.failed || out->failed || why->failed || m.section.failed || m.align.failed)
		rc = VPROF_ERR_NOMEM;
	vprof_text_release(&m.section);
	vprof_text_release(&m.align);
	VPROF_ARRAY_RELEASE(&m.strings[0].hashes);
	VPROF_ARRAY_RELEASE(&m.strings[1].hashes);
	VPROF_ARRAY_RELEASE(&m.leads);
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
	VPROF_ARRAY_RELEASE(&m.leads);
	VPROF_ARRAY_RELEASE(&m.symbols);
	vprof_strings_release(&m.names);
	return rc;
}
