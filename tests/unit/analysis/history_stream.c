/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/analysis/history_stream.h"

#include <stdio.h>
#include <string.h>

int history_stream_print(void (*analyse)(const char *text, int n_threads, struct vprof_text *out),
			 const char *(*next)(const char *text))
{
	struct vprof_text in = VPROF_TEXT_INIT, one = VPROF_TEXT_INIT, three = VPROF_TEXT_INIT;
	char buffer[65536];
	size_t n;
	int status = 0;

	while ((n = fread(buffer, 1, sizeof buffer, stdin)) > 0)
		vprof_text_append(&in, buffer, n);
	for (const char *text = in.s; text && *text && !status; text = next(text)) {
		vprof_text_clear(&one);
		vprof_text_clear(&three);
		analyse(text, 1, &one);
		analyse(text, 3, &three);
		status = strcmp(one.s, three.s) != 0;
		if (status)
			fprintf(stderr, "the result depends on the number of threads:\n%s\n%s\n", one.s, three.s);
		else
			puts(one.s);
	}
	vprof_text_release(&in);
	vprof_text_release(&one);
	vprof_text_release(&three);
	return status;
}
