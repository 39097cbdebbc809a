/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls leave registers, flags and the red zone as they are: the stack pointer steps over the red zone by `lea`,
 * the callee saves the rest. Between the two calls of one instruction its address waits below the red zone, where at
 * worst a signal handler overwrites it: then one access is told of another place. */
#include "instrumenter/flow_assembly.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define STATEMENT_BYTES 512
#define OPERANDS 3

struct instruction {
	enum vprof_flow_asm kind;
	unsigned n_bytes, reg; /* n_bytes 0: not known */
	const char *memory;
};

static const char *skip(const char *text)
{
	return text + strspn(text, " \t");
}

/* ---- registers ---- */

/* "%ecx" -> its number in the order in which the callee saves them, and its size. */
static int read_register(const char *text, unsigned *reg, unsigned *n_bytes)
{
	static const char *const names[][4] = { { "rax", "eax", "ax", "al" },  { "rbx", "ebx", "bx", "bl" },
						{ "rcx", "ecx", "cx", "cl" },  { "rdx", "edx", "dx", "dl" },
						{ "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" },
						{ "rbp", "ebp", "bp", "bpl" } };
	static const unsigned sizes[] = { 8, 4, 2, 1 };
	unsigned number;
	char suffix = 0;

	if (*text++ != '%')
		return 0;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		for (unsigned k = 0; k < 4; k++)
			if (!strcmp(text, names[i][k])) {
				*reg = i;
				*n_bytes = sizes[k];
				return 1;
			}
	if (sscanf(text, "r%u%c", &number, &suffix) < 1 || number < 8 || number > 15)
		return 0;
	*reg = number - 1;
	*n_bytes = suffix == 'b' ? 1 : suffix == 'w' ? 2 : suffix == 'd' ? 4 : 8;
	return 1;
}

/* Of the thread's stack or its own memory: nothing that others see. */
static int is_memory(const char *operand)
{
	if (*operand == '%' || *operand == '$' || *operand == '*' || !*operand)
		return 0;
	return !strstr(operand, "%rsp") && !strstr(operand, "%rbp") && !strstr(operand, "%esp") &&
	       !strstr(operand, "%fs") && !strstr(operand, "%gs");
}

/* ---- one statement ---- */

static const struct {
	const char *name;
	enum vprof_flow_asm kind;
} mnemonics[] = {
	{ "xchg", VPROF_FLOW_ASM_XCHG }, { "cmpxchg", VPROF_FLOW_ASM_CMPXCHG }, { "xadd", VPROF_FLOW_ASM_XADD },
	{ "add", VPROF_FLOW_ASM_OTHER }, { "sub", VPROF_FLOW_ASM_OTHER },	{ "and", VPROF_FLOW_ASM_OTHER },
	{ "or", VPROF_FLOW_ASM_OTHER },	 { "xor", VPROF_FLOW_ASM_OTHER },	{ "inc", VPROF_FLOW_ASM_OTHER },
	{ "dec", VPROF_FLOW_ASM_OTHER }, { "bts", VPROF_FLOW_ASM_OTHER },	{ "btr", VPROF_FLOW_ASM_OTHER },
	{ "btc", VPROF_FLOW_ASM_OTHER }, { "neg", VPROF_FLOW_ASM_OTHER },	{ "not", VPROF_FLOW_ASM_OTHER }
};

/* "cmpxchgl": the kind, and 4. */
static int read_mnemonic(const char *word, size_t n, struct instruction *in)
{
	static const char suffixes[] = "bwlq";

	for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++) {
		size_t k = strlen(mnemonics[i].name);
		const char *suffix;

		if (n < k || n > k + 1 || strncmp(word, mnemonics[i].name, k))
			continue;
		suffix = n > k ? strchr(suffixes, word[k]) : NULL;
		if (n > k && !suffix)
			continue;
		in->kind = mnemonics[i].kind;
		in->n_bytes = suffix ? 1u << (suffix - suffixes) : 0;
		return 1;
	}
	return 0;
}

/* Splits at commas outside of parentheses, in place. */
static size_t read_operands(char *text, char **operands)
{
	size_t n = 0;
	int depth = 0;

	operands[n++] = text;
	for (char *c = text; *c; c++) {
		depth += *c == '(';
		depth -= *c == ')';
		if (*c != ',' || depth)
			continue;
		*c = 0;
		if (n == OPERANDS)
			return 0;
		operands[n++] = c + 1;
	}
	for (size_t i = 0; i < n; i++) {
		char *end = operands[i] + strlen(operands[i]);

		operands[i] += strspn(operands[i], " \t");
		while (end > operands[i] && isspace((unsigned char)end[-1]))
			*--end = 0;
	}
	return n;
}

/* `text` is what follows "lock" or the whole statement; it is changed. */
static int read_instruction(char *text, int is_locked, struct instruction *in)
{
	char *operands[OPERANDS];
	unsigned reg, size;
	size_t n_word, n;

	*in = (struct instruction){ .reg = VPROF_FLOW_ASM_NO_REGISTER };
	text += strspn(text, " \t");
	n_word = strcspn(text, " \t");
	if (!text[n_word] || !read_mnemonic(text, n_word, in) || (!is_locked && in->kind != VPROF_FLOW_ASM_XCHG))
		return 0;
	n = read_operands(text + n_word, operands);
	for (size_t i = 0; i < n; i++) {
		if (is_memory(operands[i]) && !in->memory && (i == n - 1 || in->kind == VPROF_FLOW_ASM_XCHG))
			in->memory = operands[i];
		else if (read_register(operands[i], &reg, &size) && in->reg == VPROF_FLOW_ASM_NO_REGISTER) {
			in->reg = reg;
			if (!in->n_bytes && in->kind != VPROF_FLOW_ASM_OTHER)
				in->n_bytes = size;
		}
	}
	if (!in->n_bytes)
		in->n_bytes = 4;
	return in->memory != NULL;
}

/* ---- the text ---- */

static void add_call(struct vprof_text *out, const struct instruction *in, const char *callee, const char *memory)
{
	vprof_text_add(out, "\tleaq -144(%rsp), %rsp\n\tpushq %rax\n");
	if (memory)
		vprof_text_addf(out, "\tleaq %s, %%rax\n\tmovq %%rax, 8(%%rsp)\n", memory);
	vprof_text_addf(out, "\tpushq $%u\n\tcall %s\n\tleaq 8(%%rsp), %%rsp\n\tpopq %%rax\n\tleaq 144(%%rsp), %%rsp\n",
			in->n_bytes | (unsigned)in->kind << 8 | in->reg << 16, callee);
}

/* The statement's labels, which come first: "1: lock; ..." */
static size_t labels_of(const char *text)
{
	size_t n = 0;

	for (;;) {
		size_t blank = strspn(text + n, " \t");
		size_t name =
			strspn(text + n + blank, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$");

		if (!name || text[n + blank + name] != ':')
			return n;
		n += blank + name + 1;
	}
}

static int is_lock(const char *text, size_t *after)
{
	const char *word = skip(text);

	if (strncmp(word, "lock", 4) || (word[4] && word[4] != ' ' && word[4] != '\t'))
		return 0;
	*after = (size_t)(word - text) + 4;
	return 1;
}

/* One statement of a block; `lock`: a prefix that stood alone before it. */
static void add_statement(const char *begin, size_t n, int *lock, struct vprof_text *out, size_t *n_found)
{
	char text[STATEMENT_BYTES], copy[STATEMENT_BYTES];
	size_t n_labels, after = 0;
	struct instruction in;
	int is_locked;

	if (n >= sizeof text) {
		vprof_text_append(out, begin, n);
		vprof_text_add(out, "\n");
		return;
	}
	memcpy(text, begin, n);
	text[n] = 0;
	n_labels = labels_of(text);
	if (n_labels) {
		vprof_text_append(out, text, n_labels);
		vprof_text_add(out, "\n");
	}
	memmove(text, text + n_labels, n - n_labels + 1);
	is_locked = is_lock(text, &after) || *lock;
	if (!*skip(text + after)) {
		*lock |= after > 0;
		return;
	}
	strcpy(copy, text + after);
	if (!read_instruction(copy, is_locked, &in)) {
		vprof_text_addf(out, "%s%s\n", *lock ? "\tlock\n" : "", text);
		*lock = 0;
		return;
	}
	*lock = 0;
	(*n_found)++;
	add_call(out, &in, "vp_flow_asm_before", in.memory);
	vprof_text_addf(out, "\t%s%s\n", is_locked ? "lock " : "", text + after);
	add_call(out, &in, "vp_flow_asm_after", NULL);
}

/* The lines between #APP and #NO_APP. */
static void add_block(const char *begin, const char *end, struct vprof_text *out, size_t *n_found)
{
	int lock = 0;

	while (begin < end) {
		const char *line_end = memchr(begin, '\n', (size_t)(end - begin));
		const char *stop = line_end ? line_end : end, *comment = memchr(begin, '#', (size_t)(stop - begin));
		const char *last = comment ? comment : stop;

		while (begin < last) {
			const char *semicolon = memchr(begin, ';', (size_t)(last - begin));
			const char *next = semicolon ? semicolon : last;

			add_statement(begin, (size_t)(next - begin), &lock, out, n_found);
			begin = next + 1;
		}
		if (comment)
			vprof_text_append(out, comment, (size_t)(stop - comment));
		if (comment)
			vprof_text_add(out, "\n");
		begin = stop + 1;
	}
	if (lock)
		vprof_text_add(out, "\tlock\n");
}

/* A string or a directive may hold what looks like a comment or a separator: then the block is left alone. */
static int is_plain(const char *begin, const char *end)
{
	for (const char *line = begin; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((stop ? stop : end) - line);
		const char *text = skip(line);

		if (*text != '#' && (memchr(line, '"', n) || memchr(line, '\'', n) || memchr(line, '{', n)))
			return 0;
		line = stop ? stop + 1 : end;
	}
	return 1;
}

size_t vprof_flow_assembly_edit(struct vprof_text *assembly, struct vprof_text *out)
{
	const char *block, *rest = assembly->s ? assembly->s : "";
	size_t n = 0;

	for (size_t i = 0; i < assembly->len; i++)
		if (!assembly->s[i])
			assembly->s[i] = ' ';
	if (strstr(rest, ".intel_syntax")) {
		vprof_text_add(out, rest);
		return 0;
	}
	while ((block = strstr(rest, "#APP"))) {
		const char *begin = strchr(block, '\n'), *end = begin ? strstr(begin, "#NO_APP") : NULL;

		if (!end)
			break;
		while (end > begin && end[-1] != '\n')
			end--;
		vprof_text_append(out, rest, (size_t)(begin + 1 - rest));
		if (begin + 1 < end && is_plain(begin + 1, end))
			add_block(begin + 1, end, out, &n);
		else if (begin + 1 < end)
			vprof_text_append(out, begin + 1, (size_t)(end - begin - 1));
		rest = end;
		rest = strchr(rest, '\n') ? rest : rest + strlen(rest);
		if (*rest) {
			const char *line_end = strchr(rest, '\n') + 1;

			vprof_text_append(out, rest, (size_t)(line_end - rest));
			rest = line_end;
		}
	}
	vprof_text_add(out, rest);
	return n;
}

int vprof_flow_assembly_is_likely(const char *source)
{
	return strstr(source, "asm") && (strstr(source, "lock") || strstr(source, "xchg"));
}
