/* SPDX-License-Identifier: Apache-2.0 */
/* What bench/probe measures: for each line "N" on standard input, N calls of callee(), answered by their time in
 * ns on standard output. Itself never instrumented.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void callee(void);

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(void)
{
	char line[64];
	ssize_t n;

	while ((n = read(STDIN_FILENO, line, sizeof(line) - 1)) > 0) {
		double start;
		long n_calls;

		line[n] = '\0';
		n_calls = atol(line);
		start = now_ns();
		for (long i = 0; i < n_calls; i++)
			callee();
		n = snprintf(line, sizeof(line), "%.0f\n", now_ns() - start);
		if (write(STDOUT_FILENO, line, (size_t)n) != n)
			return 1;
	}
	return 0;
}
