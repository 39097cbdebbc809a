/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program: its symbols, the functions inlined at some of its addresses and their lines, as far as it has any. libdw
 * has no coverage of its own here, so the seeds are small programs that have all of it: of gcc and clang, DWARF 4 and
 * 5, and one with .gnu_debugdata. */
#include <stdlib.h>

#include "common/elf/elf_symbols.h"
#include "common/elf/file_type.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const uint64_t bases[] = { 0, 0x1000, 0x400000, 0x401000 };
	const char *path = fuzz_file("program", data, n);
	struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
	struct vprof_place places[VPROF_ELF_FRAMES_MAX];
	struct vprof_elf *elf;
	struct vprof_error err = { "" };

	vprof_file_type(path);
	if (vprof_elf_open(&elf, path, "/nonexistent", &err)) {
		if (!*err.message)
			abort();
		return 0;
	}
	vprof_elf_has_symbols(elf);
	vprof_elf_is_static(elf);
	for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
		for (uint64_t at = 0; at < 0x400; at += 0x13) {
			size_t n_frames = vprof_elf_frames(elf, bases[b] + at, frames, VPROF_ELF_FRAMES_MAX);

			for (size_t i = 0; i < n_frames; i++)
				if (!frames[i].symbol->name || !frames[i].symbol->module)
					abort();
			vprof_elf_places(elf, bases[b] + at, places, VPROF_ELF_FRAMES_MAX);
		}
	vprof_elf_free(elf);
	return 0;
}
