/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/version.h"

#include <stdio.h>

#include "vprof_commit.h"

void vprof_version_print(void)
{
	puts("vprof " VPROF_VERSION);
	printf("commit     %s\n", *VPROF_COMMIT ? VPROF_COMMIT : "not known: not built in a git repository");
	puts("build      " VPROF_BUILD);
#ifdef __clang__
	puts("compiler   " __VERSION__);
#else
	puts("compiler   gcc " __VERSION__);
#endif
	puts("scanner    LLVM " VPROF_LLVM);
	puts("libraries  " VPROF_LIBRARIES);
}
