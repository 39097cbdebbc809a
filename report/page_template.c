/* SPDX-License-Identifier: GPL-3.0-or-later */
/* VPROF_PAGE_FILE is the bundled page in the build folder. */
#include "report/page_template.h"

__asm__(".pushsection .rodata\n"
	".global vprof_page_template\n"
	".type vprof_page_template, %object\n"
	"vprof_page_template:\n"
	".incbin \"" VPROF_PAGE_FILE "\"\n"
	".byte 0\n"
	".size vprof_page_template, . - vprof_page_template\n"
	".popsection\n");
