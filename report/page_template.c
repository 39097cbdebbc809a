/* SPDX-License-Identifier: GPL-3.0-or-later */
/* VPROF_PAGE_FILE and the other VPROF_*_PAGE_FILE are the bundled pages in the build folder. */
#include "report/page_template.h"

#define PAGE(symbol, file)                                                                                             \
	__asm__(".pushsection .rodata\n"                                                                               \
		".global " symbol "\n"                                                                                 \
		".type " symbol ", %object\n" symbol ":\n"                                                             \
		".incbin \"" file "\"\n"                                                                               \
		".byte 0\n"                                                                                            \
		".size " symbol ", . - " symbol "\n"                                                                   \
		".popsection\n")

PAGE("vprof_page_template", VPROF_PAGE_FILE);
PAGE("vprof_waits_page_template", VPROF_WAITS_PAGE_FILE);
PAGE("vprof_latency_page_template", VPROF_LATENCY_PAGE_FILE);
PAGE("vprof_interval_page_template", VPROF_INTERVAL_PAGE_FILE);
PAGE("vprof_paths_page_template", VPROF_PATHS_PAGE_FILE);
