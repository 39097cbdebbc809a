/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of a function is made from its first instruction on, and kept; questions are answered by a search in it.
 * Files are hostile input: addresses are followed only where the file has code, and no further than the limits. */
#include "common/elf/code_flow.h"

#ifdef VPROF_CAPSTONE

#include <capstone/capstone.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/elf_private.h"
#include "common/hash/hash_index.h"

#define INSTRUCTIONS_MAX 20000
#define SEGMENTS_MAX 16
#define READ_BYTES 4096
#define LONGEST 16 /* bytes of an instruction */
#define CASES_MAX 1024
#define TAIL_LENGTH 16 /* instructions that are looked at before a jump to a computed address */
#define NOWHERE UINT64_MAX
#define ANYWHERE (UINT64_MAX - 1)
#define REPLACED_MAX 8 /* calls, each by the next one's jump */

struct segment { /* code of the file */
	uint64_t low, high, offset;
};

struct instruction {
	uint64_t address, next, target; /* NOWHERE: it does not go on there */
	uint64_t away;			/* the function that it jumps to; ANYWHERE: not known; NOWHERE: none */
	uint32_t before;		/* an instruction that it follows on; VPROF_NONE: none, or one that jumps */
	uint8_t is_call, leaves_frame;	/* leaves_frame: it takes something off the stack */
	uint32_t first_case, n_cases;	/* of a switch: in the function's cases */
};

struct function {
	uint64_t start;
	int is_known; /* where it leads */
	VPROF_ARRAY(struct instruction) v;
	VPROF_ARRAY(uint64_t) cases; /* where switches jump to */
	struct vprof_hash_index by_address;
};

struct vprof_code_flow {
	struct vprof_elf *elf;
	csh decoder;
	cs_insn *at;
	struct segment segments[SEGMENTS_MAX];
	size_t n_segments;
	VPROF_ARRAY(uint64_t) jump_slots; /* addresses that the linker fills with setjmp's */
	VPROF_ARRAY(struct function *) functions;
	struct vprof_hash_index by_start;
	uint8_t bytes[READ_BYTES];
	uint64_t read_from; /* address of the bytes; n_read of them */
	size_t n_read;
	VPROF_ARRAY(uint32_t) work;
	VPROF_ARRAY(uint8_t) is_seen;
};

static void find_segments(struct vprof_code_flow *f)
{
	size_t n;
	GElf_Phdr p;

	if (!f->elf->headers || elf_getphdrnum(f->elf->headers, &n))
		return;
	for (size_t i = 0; i < n && i < 64 && f->n_segments < SEGMENTS_MAX; i++)
		if (gelf_getphdr(f->elf->headers, (int)i, &p) && p.p_type == PT_LOAD && (p.p_flags & PF_X) &&
		    p.p_vaddr + p.p_filesz > p.p_vaddr && p.p_offset < INT64_MAX / 2)
			f->segments[f->n_segments++] =
				(struct segment){ p.p_vaddr, p.p_vaddr + p.p_filesz, p.p_offset };
}

/* Slots of the symbols that are called setjmp, _setjmp, __sigsetjmp. */
static int find_jump_slots(struct vprof_code_flow *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, symbols;

	while ((section = elf_nextscn(f->elf->headers, section))) {
		Elf_Data *relocations, *names;
		Elf_Scn *linked;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize)
			continue;
		linked = elf_getscn(f->elf->headers, header.sh_link);
		relocations = elf_getdata(section, NULL);
		names = linked ? elf_getdata(linked, NULL) : NULL;
		if (!relocations || !names || !gelf_getshdr(linked, &symbols))
			continue;
		for (size_t i = 0; i < header.sh_size / header.sh_entsize && i < INT32_MAX; i++) {
			GElf_Rela r;
			GElf_Sym s;
			const char *name;
			uint64_t *slot;

			if (!gelf_getrela(relocations, (int)i, &r) || !GELF_R_SYM(r.r_info) ||
			    !gelf_getsym(names, (int)GELF_R_SYM(r.r_info), &s))
				continue;
			name = elf_strptr(f->elf->headers, symbols.sh_link, s.st_name);
			if (!name || !strstr(name, "setjmp"))
				continue;
			slot = VPROF_PUSH(&f->jump_slots);
			if (!slot)
				return VPROF_ERR_NOMEM;
			*slot = r.r_offset;
		}
	}
	return VPROF_OK;
}

struct vprof_code_flow *vprof_code_flow_new(struct vprof_elf *elf)
{
	struct vprof_code_flow *f = calloc(1, sizeof *f);
	GElf_Ehdr header;

	if (!f)
		return NULL;
	f->elf = elf;
	if (!elf->headers || !gelf_getehdr(elf->headers, &header) || header.e_machine != EM_X86_64 ||
	    cs_open(CS_ARCH_X86, CS_MODE_64, &f->decoder) != CS_ERR_OK) {
		free(f);
		return NULL;
	}
	cs_option(f->decoder, CS_OPT_DETAIL, CS_OPT_ON);
	f->at = cs_malloc(f->decoder);
	find_segments(f);
	if (!f->at || find_jump_slots(f)) {
		vprof_code_flow_free(f);
		return NULL;
	}
	return f;
}

static void free_function(struct function *g)
{
	if (g) {
		VPROF_ARRAY_RELEASE(&g->v);
		VPROF_ARRAY_RELEASE(&g->cases);
		vprof_hash_index_release(&g->by_address);
	}
	free(g);
}

void vprof_code_flow_free(struct vprof_code_flow *f)
{
	if (!f)
		return;
	if (f->at)
		cs_free(f->at, 1);
	cs_close(&f->decoder);
	for (size_t i = 0; i < f->functions.n; i++)
		free_function(f->functions.v[i]);
	VPROF_ARRAY_RELEASE(&f->jump_slots);
	VPROF_ARRAY_RELEASE(&f->functions);
	VPROF_ARRAY_RELEASE(&f->work);
	VPROF_ARRAY_RELEASE(&f->is_seen);
	vprof_hash_index_release(&f->by_start);
	free(f);
}

/* The file's bytes at an address: *n of them, at most LONGEST; NULL: it has no code there. */
static const uint8_t *bytes_at(struct vprof_code_flow *f, uint64_t address, size_t *n)
{
	const struct segment *s = f->segments, *end = f->segments + f->n_segments;
	ssize_t got;

	while (s < end && !(address >= s->low && address < s->high))
		s++;
	if (s == end)
		return NULL;
	*n = s->high - address < LONGEST ? (size_t)(s->high - address) : LONGEST;
	if (!(address >= f->read_from && address - f->read_from + *n <= f->n_read)) {
		size_t wanted = s->high - address < READ_BYTES ? (size_t)(s->high - address) : READ_BYTES;

		got = pread(f->elf->fd, f->bytes, wanted, (off_t)(s->offset + (address - s->low)));
		f->read_from = address;
		f->n_read = got > 0 ? (size_t)got : 0;
		*n = *n < f->n_read ? *n : f->n_read;
	}
	return *n ? f->bytes + (address - f->read_from) : NULL;
}

/* Decodes the instruction at an address into f->at: its length, 0: there is none. */
static size_t decode(struct vprof_code_flow *f, uint64_t address)
{
	size_t n;
	const uint8_t *bytes = bytes_at(f, address, &n);
	uint64_t at = address;

	return bytes && cs_disasm_iter(f->decoder, &bytes, &n, &at, f->at) ? f->at->size : 0;
}

static int is_in_group(const struct vprof_code_flow *f, uint8_t group)
{
	for (uint8_t i = 0; i < f->at->detail->groups_count; i++)
		if (f->at->detail->groups[i] == group)
			return 1;
	return 0;
}

/* The slot through which f->at jumps or calls, relative to itself; NOWHERE: it does otherwise. */
static uint64_t slot_of(const struct vprof_code_flow *f)
{
	const cs_x86 *x = &f->at->detail->x86;

	if (x->op_count != 1 || x->operands[0].type != X86_OP_MEM || x->operands[0].mem.base != X86_REG_RIP)
		return NOWHERE;
	return f->at->address + f->at->size + (uint64_t)x->operands[0].mem.disp;
}

static int is_jump_slot(const struct vprof_code_flow *f, uint64_t slot)
{
	for (size_t i = 0; i < f->jump_slots.n; i++)
		if (f->jump_slots.v[i] == slot)
			return 1;
	return 0;
}

/* Does a call to this address come to setjmp, in the file or through the procedure linkage table? The instruction
 * decoded last is another one then. */
static int calls_setjmp(struct vprof_code_flow *f, uint64_t target)
{
	const struct vprof_symbol *symbol = vprof_elf_function(f->elf, target);

	if (symbol && symbol->low == target)
		return strstr(symbol->name, "setjmp") != NULL;
	for (int i = 0; i < 3 && f->jump_slots.n; i++) { /* endbr64; jmp *slot */
		size_t n = decode(f, target);

		if (!n || is_in_group(f, CS_GRP_JUMP))
			return n && is_jump_slot(f, slot_of(f));
		target += n;
	}
	return 0;
}

/* Does a jump to this address leave the function? */
static int leaves(struct vprof_code_flow *f, const struct function *g, uint64_t target)
{
	uint64_t start = vprof_elf_frame_start(f->elf, target);
	const struct vprof_symbol *from, *to;

	if (start == g->start || start != target)
		return 0;
	from = vprof_elf_function(f->elf, g->start);
	to = vprof_elf_function(f->elf, target);
	return from && to && strcmp(from->name, to->name) != 0; /* a part elsewhere has the function's name */
}

/* Does f->at take something off the stack: pop, leave, add to %rsp? */
static int leaves_frame(const struct vprof_code_flow *f)
{
	const cs_x86 *x = &f->at->detail->x86;

	return f->at->id == X86_INS_POP || f->at->id == X86_INS_LEAVE ||
	       ((f->at->id == X86_INS_ADD || f->at->id == X86_INS_LEA) && x->op_count == 2 &&
		x->operands[0].type == X86_OP_REG && x->operands[0].reg == X86_REG_RSP);
}

/* A jump to a computed address is a call in the place of a return, if the frame has just been left: no switch does
 * that. */
static int is_tail(const struct function *g, const struct instruction *i)
{
	uint32_t at = i->before;

	for (int n = 0; n < TAIL_LENGTH && at != VPROF_NONE; n++, at = g->v.v[at].before) {
		if (g->v.v[at].leaves_frame)
			return 1;
		if (g->v.v[at].is_call)
			return 0;
	}
	return 0;
}

/* Which of the 16 registers it is, whatever part of it; -1: none of them. */
static int register_number(x86_reg r)
{
	static const uint16_t parts[16][4] = {
		{ X86_REG_AL, X86_REG_AX, X86_REG_EAX, X86_REG_RAX },
		{ X86_REG_BL, X86_REG_BX, X86_REG_EBX, X86_REG_RBX },
		{ X86_REG_CL, X86_REG_CX, X86_REG_ECX, X86_REG_RCX },
		{ X86_REG_DL, X86_REG_DX, X86_REG_EDX, X86_REG_RDX },
		{ X86_REG_SIL, X86_REG_SI, X86_REG_ESI, X86_REG_RSI },
		{ X86_REG_DIL, X86_REG_DI, X86_REG_EDI, X86_REG_RDI },
		{ X86_REG_BPL, X86_REG_BP, X86_REG_EBP, X86_REG_RBP },
		{ X86_REG_SPL, X86_REG_SP, X86_REG_ESP, X86_REG_RSP },
		{ X86_REG_R8B, X86_REG_R8W, X86_REG_R8D, X86_REG_R8 },
		{ X86_REG_R9B, X86_REG_R9W, X86_REG_R9D, X86_REG_R9 },
		{ X86_REG_R10B, X86_REG_R10W, X86_REG_R10D, X86_REG_R10 },
		{ X86_REG_R11B, X86_REG_R11W, X86_REG_R11D, X86_REG_R11 },
		{ X86_REG_R12B, X86_REG_R12W, X86_REG_R12D, X86_REG_R12 },
		{ X86_REG_R13B, X86_REG_R13W, X86_REG_R13D, X86_REG_R13 },
		{ X86_REG_R14B, X86_REG_R14W, X86_REG_R14D, X86_REG_R14 },
		{ X86_REG_R15B, X86_REG_R15W, X86_REG_R15D, X86_REG_R15 },
	};

	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 4; k++)
			if (parts[i][k] == r)
				return i;
	return -1;
}

/* What is known of a jump through a table of distances, walking back from it:
 *
 *	cmp $last, %index; ja elsewhere; lea table(%rip), %base; movslq (%base,%index,4), %to; add %base, %to; jmp *%to
 */
struct table {
	int to, base, index; /* registers; -1: not known yet */
	int is_limited;	     /* ja was met */
	uint64_t address, last;
};

/* One instruction further back, in f->at. 1: all is known; 0: go on; -1: it is something else. */
static int look_back(const struct vprof_code_flow *f, struct table *t)
{
	const cs_x86 *x = &f->at->detail->x86;
	const cs_x86_op *a = &x->operands[0], *b = &x->operands[1];
	int to = x->op_count && a->type == X86_OP_REG ? register_number(a->reg) : -1;

	switch (f->at->id) {
	case X86_INS_CMP:
		if (!t->is_limited || to < 0 || to != t->index || b->type != X86_OP_IMM)
			return -1;
		t->last = (uint64_t)b->imm;
		return t->address && t->last < CASES_MAX ? 1 : -1;
	case X86_INS_JA:
		t->is_limited = 1;
		return 0;
	case X86_INS_ADD:
		if (to < 0 || to != t->to || t->base >= 0 || b->type != X86_OP_REG)
			break;
		t->base = register_number(b->reg);
		return 0;
	case X86_INS_MOVSXD:
		if (to < 0 || to != t->to || t->index >= 0 || b->type != X86_OP_MEM || b->mem.scale != 4 ||
		    b->mem.disp || register_number(b->mem.base) != t->base)
			break;
		t->index = register_number(b->mem.index);
		return 0;
	case X86_INS_LEA:
		if (to < 0 || to != t->base || b->mem.base != X86_REG_RIP)
			break;
		t->address = f->at->address + f->at->size + (uint64_t)b->mem.disp;
		return 0;
	case X86_INS_MOV:
	case X86_INS_MOVZX:
		if (to < 0 || to != t->index || b->type != X86_OP_REG)
			break;
		t->index = register_number(b->reg);
		return 0;
	default:
		break;
	}
	/* anything else that writes one of these registers: not the table that was looked for */
	return to >= 0 && (to == t->index || to == t->base || (to == t->to && t->index < 0)) &&
			       f->at->id != X86_INS_TEST ?
		       -1 :
		       0;
}

static int add_cases(struct vprof_code_flow *f, struct function *g, struct instruction *i, const struct table *t)
{
	i->first_case = (uint32_t)g->cases.n;
	for (uint64_t k = 0; k <= t->last; k++) {
		int32_t distance;
		uint64_t *slot = VPROF_PUSH(&g->cases);

		if (!slot || !vprof_elf_read_at(f->elf, t->address + 4 * k, &distance, sizeof distance))
			return 0;
		*slot = t->address + (uint64_t)(int64_t)distance;
	}
	i->n_cases = (uint32_t)t->last + 1;
	return 1;
}

/* Where a jump through a register leads, if that is a switch. Decodes anew. 0: not known. */
static int find_cases(struct vprof_code_flow *f, struct function *g, struct instruction *i)
{
	struct table t = { .base = -1, .index = -1 };
	uint32_t at = i->before;
	int found = 0;

	t.to = register_number(f->at->detail->x86.operands[0].reg);
	for (int n = 0; n < TAIL_LENGTH && at != VPROF_NONE && t.to >= 0 && !found; n++, at = g->v.v[at].before)
		found = decode(f, g->v.v[at].address) ? look_back(f, &t) : -1;
	return found > 0 && add_cases(f, g, i, &t);
}

/* What follows on the instruction in f->at. 0: not known. */
static int follow(struct vprof_code_flow *f, struct function *g, struct instruction *i)
{
	const cs_x86 *x = &f->at->detail->x86;
	int is_direct = x->op_count == 1 && x->operands[0].type == X86_OP_IMM;
	uint64_t target = is_direct ? (uint64_t)x->operands[0].imm : NOWHERE;
	unsigned id = f->at->id;

	i->next = i->address + f->at->size;
	i->target = i->away = NOWHERE;
	i->leaves_frame = (uint8_t)leaves_frame(f);
	if (is_in_group(f, CS_GRP_CALL)) {
		i->is_call = 1;
		return !is_jump_slot(f, slot_of(f)) && !(is_direct && calls_setjmp(f, target));
	}
	if (is_in_group(f, CS_GRP_RET) || id == X86_INS_UD2 || id == X86_INS_HLT || id == X86_INS_INT3) {
		i->next = NOWHERE;
		return 1;
	}
	if (!is_in_group(f, CS_GRP_JUMP)) {
		i->is_call = id == X86_INS_SYSCALL;
		return 1;
	}
	if (is_direct) {
		i->next = id == X86_INS_JMP ? NOWHERE : i->next;
		if (leaves(f, g, target))
			i->away = target;
		else
			i->target = target;
		return 1;
	}
	/* through a pointer that is no table's */
	i->next = NOWHERE;
	i->away = ANYWHERE;
	if (is_tail(g, i))
		return 1;
	if (x->op_count == 1 && x->operands[0].type == X86_OP_REG) {
		i->away = NOWHERE;
		return find_cases(f, g, i);
	}
	return x->op_count == 1 && x->operands[0].type == X86_OP_MEM && x->operands[0].mem.index == X86_REG_INVALID &&
	       !is_jump_slot(f, slot_of(f));
}

/* The number of the instruction at an address; VPROF_NONE: it is not in the graph. */
static uint32_t find(const struct function *g, uint64_t address)
{
	size_t at;

	VPROF_HASH_EACH(&g->by_address, vprof_mix(address), at, i)
	if (g->v.v[i].address == address)
		return i;
	return VPROF_NONE;
}

/* before: the instruction in front of it; VPROF_NONE: it is jumped to. */
static int add(struct vprof_code_flow *f, struct function *g, uint64_t address, uint32_t before)
{
	uint64_t hash = vprof_mix(address);
	struct instruction *i;
	uint32_t *work;
	size_t at;

	if (address == NOWHERE)
		return 1;
	if (g->v.n >= INSTRUCTIONS_MAX || vprof_hash_index_room(&g->by_address, 1))
		return 0;
	VPROF_HASH_EACH(&g->by_address, hash, at, k)
	if (g->v.v[k].address == address)
		return 1;
	i = VPROF_PUSH(&g->v);
	work = i ? VPROF_PUSH(&f->work) : NULL;
	if (!work)
		return 0;
	i->address = address;
	i->before = before;
	*work = (uint32_t)g->v.n - 1;
	vprof_hash_index_put(&g->by_address, at, hash, *work);
	return 1;
}

/* Its graph; is_known stays 0 where that is not all. */
static void explore(struct vprof_code_flow *f, struct function *g)
{
	f->work.n = 0;
	if (vprof_elf_frame_catches(f->elf, g->start) || !add(f, g, g->start, VPROF_NONE))
		return;
	while (f->work.n) {
		uint32_t at = f->work.v[--f->work.n];
		struct instruction i = g->v.v[at];

		if (!decode(f, i.address) || !follow(f, g, &i))
			return;
		g->v.v[at] = i;
		if (!add(f, g, i.next, at) || !add(f, g, i.target, VPROF_NONE))
			return;
		for (uint32_t k = 0; k < i.n_cases; k++)
			if (!add(f, g, g->cases.v[i.first_case + k], VPROF_NONE))
				return;
	}
	g->is_known = 1;
}

/* NULL without memory. */
static struct function *function_at(struct vprof_code_flow *f, uint64_t start)
{
	uint64_t hash = vprof_mix(start);
	struct function *g, **slot;
	size_t at;

	if (vprof_hash_index_room(&f->by_start, 1))
		return NULL;
	VPROF_HASH_EACH(&f->by_start, hash, at, i)
	if (f->functions.v[i]->start == start)
		return f->functions.v[i];
	g = calloc(1, sizeof *g);
	slot = g ? VPROF_PUSH(&f->functions) : NULL;
	if (!slot) {
		free(g);
		return NULL;
	}
	g->start = start;
	*slot = g;
	vprof_hash_index_put(&f->by_start, at, hash, (uint32_t)f->functions.n - 1);
	explore(f, g);
	return g;
}

/* Where a part of the function elsewhere belongs to: its symbol tells. */
static uint64_t start_of(struct vprof_code_flow *f, uint64_t address)
{
	const struct vprof_symbol *part = vprof_elf_function(f->elf, address);
	const struct vprof_symbol *whole = part ? vprof_elf_named(f->elf, part->name) : NULL;
	uint64_t start = vprof_elf_frame_start(f->elf, address);

	return start && whole && whole->low ? whole->low : start;
}

static int is_goal(const struct instruction *i, struct vprof_code_place to)
{
	if (to.address == NOWHERE)
		return i->away == ANYWHERE;
	return to.is_instruction ? i->address == to.address : i->is_call && i->next == to.address;
}

/* to.address NOWHERE: is there a way to a jump to a function that is not known? is_seen tells then, if there is none,
 * which instructions there is a way to. */
static int is_reachable(struct vprof_code_flow *f, const struct function *g, uint32_t from, struct vprof_code_place to)
{
	if (VPROF_ROOM(&f->is_seen, g->v.n + 1) || VPROF_ROOM(&f->work, g->v.n + 1))
		return 1;
	memset(f->is_seen.v, 0, g->v.n);
	f->work.n = 0;
	f->work.v[f->work.n++] = from;
	f->is_seen.v[from] = 1;
	while (f->work.n) {
		const struct instruction *i = &g->v.v[f->work.v[--f->work.n]];

		if (is_goal(i, to))
			return 1;
		for (uint32_t k = 0; k < 2 + i->n_cases; k++) {
			uint64_t next = !k ? i->next : k == 1 ? i->target : g->cases.v[i->first_case + k - 2];
			uint32_t at = next == NOWHERE ? VPROF_NONE : find(g, next);

			if (at != VPROF_NONE && !f->is_seen.v[at]) {
				f->is_seen.v[at] = 1;
				f->work.v[f->work.n++] = at;
			}
		}
	}
	return 0;
}

static int is_there(const struct function *g, struct vprof_code_place to)
{
	for (size_t i = 0; i < g->v.n; i++)
		if (is_goal(&g->v.v[i], to))
			return 1;
	return 0;
}

int vprof_code_flow_may(struct vprof_code_flow *f, struct vprof_code_place from, struct vprof_code_place to)
{
	uint64_t start = f ? start_of(f, from.is_instruction ? from.address : from.address - 1) : 0;
	const struct function *g = start ? function_at(f, start) : NULL;
	uint32_t at;

	if (!g || !g->is_known)
		return 1;
	at = find(g, from.address);
	/* a place that the graph lacks (a handler that returned into the middle) says that it is not all */
	if (at == VPROF_NONE || !is_there(g, to) || (!from.is_instruction && !is_there(g, from)))
		return 1;
	return is_reachable(f, g, at, to);
}

/* The functions that a call may jump to from one place on are added to `jumps`. 0: there are others, which are not
 * known. */
static int add_jumps(struct vprof_code_flow *f, struct vprof_code_place from, uint64_t *jumps, size_t *n)
{
	static const struct vprof_code_place unknown = { NOWHERE, 1 };
	uint64_t start = start_of(f, from.is_instruction ? from.address : from.address - 1);
	const struct function *g = start ? function_at(f, start) : NULL;
	uint32_t at = g && g->is_known ? find(g, from.address) : VPROF_NONE;

	if (at == VPROF_NONE || is_reachable(f, g, at, unknown))
		return 0;
	for (size_t i = 0; i < g->v.n; i++) {
		size_t k = 0;

		if (!f->is_seen.v[i] || g->v.v[i].away == NOWHERE)
			continue;
		while (k < *n && jumps[k] != g->v.v[i].away)
			k++;
		if (k == REPLACED_MAX)
			return 0;
		jumps[k] = g->v.v[i].away;
		*n = k == *n ? k + 1 : *n;
	}
	return 1;
}

int vprof_code_flow_may_become(struct vprof_code_flow *f, struct vprof_code_place from, uint64_t target)
{
	uint64_t jumps[REPLACED_MAX];
	size_t n = 0;

	if (!f || !add_jumps(f, from, jumps, &n))
		return 1;
	for (size_t i = 0; i < n; i++)
		if (jumps[i] == target || !add_jumps(f, (struct vprof_code_place){ jumps[i], 1 }, jumps, &n))
			return 1;
	return 0;
}

#else

struct vprof_code_flow *vprof_code_flow_new(struct vprof_elf *elf)
{
	(void)elf;
	return NULL;
}

void vprof_code_flow_free(struct vprof_code_flow *flow)
{
	(void)flow;
}

int vprof_code_flow_may(struct vprof_code_flow *flow, struct vprof_code_place from, struct vprof_code_place to)
{
	(void)flow;
	(void)from;
	(void)to;
	return 1;
}

int vprof_code_flow_may_become(struct vprof_code_flow *flow, struct vprof_code_place from, uint64_t target)
{
	(void)flow;
	(void)from;
	(void)target;
	return 1;
}

#endif
