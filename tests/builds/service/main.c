/* service [REQUESTS [STATUS]]: serves them, says what came out and from which files, ends with STATUS. */
#include "service.h"

#ifdef GREETING /* a header that the build makes */
#include GREETING
#else
#define GREETING_TEXT "built"
#endif
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 200;
	unsigned sum = 0;

	for (int i = 0; i < n; i++) {
		struct request r = { .number = i };

		serve(&r);
		sum = mix(sum, r.result);
	}
	printf("%s; served %d, sum %08x\n", GREETING_TEXT, n, sum);
	printf("made from %s:%d and %s\n", __FILE__, __LINE__, store_origin());
	return argc > 2 ? atoi(argv[2]) : 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
