/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jumps go forward only, so a filter ends. Where one depends on what is not known, both ways are gone. */
#include "live/call_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>

#define STEPS_MAX 200000

struct word {
	uint32_t v;
	int is_known;
};

struct state {
	size_t at;
	struct word a, x, memory[BPF_MEMWORDS];
};

struct evaluation {
	const struct sock_filter *filter;
	size_t n, n_steps;
	const struct vprof_call *call;
};

/* A word of struct seccomp_data. Where the program's instruction lies is not known. */
static struct word load(const struct vprof_call *call, uint32_t offset)
{
	const size_t args = offsetof(struct seccomp_data, args), size = sizeof(uint64_t);
	size_t i = (offset - args) / size;

	if (offset == offsetof(struct seccomp_data, nr))
		return (struct word){ call->number, 1 };
	if (offset == offsetof(struct seccomp_data, arch))
		return (struct word){ AUDIT_ARCH_X86_64, 1 };
	if (offset < args || i >= 6)
		return (struct word){ 0, 0 };
	return (struct word){ (uint32_t)(call->args[i] >> ((offset - args) % size ? 32 : 0)), call->known >> i & 1 };
}

static struct word calculate(uint16_t code, struct word a, struct word b)
{
	struct word r = { 0, a.is_known && b.is_known };

	switch (BPF_OP(code)) {
	case BPF_ADD:
		r.v = a.v + b.v;
		break;
	case BPF_SUB:
		r.v = a.v - b.v;
		break;
	case BPF_MUL:
		r.v = a.v * b.v;
		break;
	case BPF_DIV:
		r.v = b.v ? a.v / b.v : 0;
		break;
	case BPF_OR:
		r.v = a.v | b.v;
		break;
	case BPF_AND:
		r.v = a.v & b.v;
		break;
	case BPF_LSH:
		r.v = a.v << (b.v & 31);
		break;
	case BPF_RSH:
		r.v = a.v >> (b.v & 31);
		break;
	case BPF_XOR:
		r.v = a.v ^ b.v;
		break;
	case BPF_NEG:
		r = (struct word){ -a.v, a.is_known };
		break;
	default:
		r.is_known = 0;
	}
	return r;
}

static int is_met(uint16_t code, uint32_t a, uint32_t b)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return (a & b) != 0; /* JSET */
	}
}

/* 0: it is no instruction of such a filter. */
static int store_or_load(struct state *s, const struct sock_filter *f, const struct vprof_call *call)
{
	struct word *to = BPF_CLASS(f->code) == BPF_LD || BPF_CLASS(f->code) == BPF_ST ? &s->a : &s->x;
	int is_store = BPF_CLASS(f->code) == BPF_ST || BPF_CLASS(f->code) == BPF_STX;

	if ((is_store || BPF_MODE(f->code) == BPF_MEM) && f->k >= BPF_MEMWORDS)
		return 0;
	if (is_store)
		s->memory[f->k] = *to;
	else if (BPF_MODE(f->code) == BPF_MEM)
		*to = s->memory[f->k];
	else if (BPF_MODE(f->code) == BPF_IMM)
		*to = (struct word){ f->k, 1 };
	else if (BPF_MODE(f->code) == BPF_LEN)
		*to = (struct word){ sizeof(struct seccomp_data), 1 };
	else if (f->code == (BPF_LD | BPF_W | BPF_ABS))
		*to = load(call, f->k);
	else
		return 0;
	return 1;
}

static int is_allowed(struct evaluation *e, struct state s);

/* Of a jump: where it leads to. */
static int follow(struct evaluation *e, struct state *s, const struct sock_filter *f)
{
	struct word b = BPF_SRC(f->code) == BPF_X ? s->x : (struct word){ f->k, 1 };

	if (BPF_OP(f->code) == BPF_JA) {
		s->at += f->k;
		return 1;
	}
	if (!s->a.is_known || !b.is_known) {
		struct state other = *s;

		other.at += f->jf;
		s->at += f->jt;
		return f->jt == f->jf || is_allowed(e, other);
	}
	s->at += is_met(f->code, s->a.v, b.v) ? f->jt : f->jf;
	return 1;
}

static int is_allowed(struct evaluation *e, struct state s)
{
	while (s.at < e->n && e->n_steps++ < STEPS_MAX) {
		const struct sock_filter *f = &e->filter[s.at++];

		switch (BPF_CLASS(f->code)) {
		case BPF_RET: {
			struct word r = BPF_RVAL(f->code) == BPF_A ? s.a : (struct word){ f->k, 1 };
			uint32_t action = r.v & SECCOMP_RET_ACTION_FULL;

			return r.is_known && (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG);
		}
		case BPF_ALU:
			if (f->code == (BPF_ALU | BPF_DIV | BPF_X) && !(s.x.is_known && s.x.v))
				return 0; /* the kernel ends the thread for a division by 0 */
			s.a = calculate(f->code, s.a, BPF_SRC(f->code) == BPF_X ? s.x : (struct word){ f->k, 1 });
			break;
		case BPF_MISC:
			if (BPF_MISCOP(f->code) == BPF_TAX)
				s.x = s.a;
			else
				s.a = s.x;
			break;
		case BPF_JMP:
			if (!follow(e, &s, f))
				return 0;
			break;
		default:
			if (!store_or_load(&s, f, e->call))
				return 0;
		}
	}
	return 0;
}

int vprof_call_filter_allows(const struct sock_filter *filter, size_t n, const struct vprof_call *call)
{
	struct evaluation e = { .filter = filter, .n = n, .call = call };
	struct state s = { .a = { 0, 1 }, .x = { 0, 1 } };

	for (int i = 0; i < BPF_MEMWORDS; i++)
		s.memory[i].is_known = 1;
	return is_allowed(&e, s);
}
