/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library that is loaded later: its step() has an entry and a twin made by hand. */
#include <stdint.h>

void module_step(void);
static void __attribute__((noinline, used)) module_step_plain(void)
{
	__asm__ volatile("" : : : "memory");
}

static void __attribute__((noinline, used)) module_step_twin(void)
{
	VP_LIVE_TWIN(0x106, module_step_twin)
	__asm__ volatile("" : : : "memory");
}

__asm__(".pushsection .text.entries,\"ax\"\n.globl module_step\n.type module_step,@function\nmodule_step:\n"
	".byte 0xa9\n.long module_step_twin - 1f\n1: jmp module_step_plain\n.popsection");

/* For the test: addresses of the site and the entry. */
void module_places(uint64_t *site, uint64_t *entry);
void module_places(uint64_t *site, uint64_t *entry)
{
	*site = (uint64_t)vp_live_first;
	*entry = (uint64_t)module_step;
}
