/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "tests/live/live_map.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern struct vp_live_site live_map_end[] __asm__("__stop_vp_live") __attribute__((__visibility__("hidden")));

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t address = *(uint64_t *)arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && address - info->dlpi_addr - p->p_vaddr < p->p_memsz) {
			*(uint64_t *)arg = info->dlpi_addr;
			return 1;
		}
	}
	return 0;
}

uint64_t live_map_bias(uint64_t address)
{
	dl_iterate_phdr(find_module, &address);
	return address;
}

void live_map_read_id(uint64_t bias, char *hex)
{
	const ElfW(Ehdr) *elf = (const void *)bias;
	const ElfW(Phdr) *p = (const void *)(bias + elf->e_phoff);

	for (int i = 0; i < elf->e_phnum; i++) {
		const unsigned char *note = (const void *)(bias + p[i].p_vaddr);
		const ElfW(Nhdr) *head = (const void *)note;

		if (p[i].p_type != PT_NOTE || head->n_type != NT_GNU_BUILD_ID || head->n_namesz != 4)
			continue;
		for (uint32_t k = 0; k < head->n_descsz; k++)
			sprintf(hex + 2 * k, "%02x", note[16 + k]);
	}
}

const struct vprof_probe_map *live_map_of_program(const struct live_function *functions, size_t n)
{
	static char path[512], id[64];
	static uint64_t sites[LIVE_MAP_MOST], entries[LIVE_MAP_MOST];
	static struct vprof_probe_copy copies[LIVE_MAP_MOST];
	static const struct vprof_probe_module module = { path, id };
	static struct vprof_probe_map map = { &module, 1, copies, 0 };
	uint64_t bias = live_map_bias((uint64_t)live_map_of_program);

	if (n > LIVE_MAP_MOST)
		exit(2);
	path[readlink("/proc/self/exe", path, sizeof path - 1)] = 0;
	live_map_read_id(bias, id);
	for (size_t i = 0; i < n; i++) {
		sites[i] = 0;
		for (const struct vp_live_site *s = vp_live_first; s < live_map_end; s++)
			if (s->code == functions[i].code)
				sites[i] = (uint64_t)s - bias;
		if (!sites[i])
			exit(2);
		entries[i] = functions[i].entry - bias;
		copies[i] = (struct vprof_probe_copy){ functions[i].code, 0, &sites[i],
						       &entries[i],	  1, functions[i].entry != 0 };
	}
	map.n_copies = n;
	return &map;
}
