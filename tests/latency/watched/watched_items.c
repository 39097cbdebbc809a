/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command without connections: it packs files, one call of pack_file each, and lists them at the end.
 * Usage: watched_items UNUSED FILES
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_BYTES 4096

static __attribute__((noinline)) uint32_t checksum(const uint8_t *block, uint32_t sum)
{
	for (int round = 0; round < 40; round++)
		for (int i = 0; i < BLOCK_BYTES; i++)
			sum = sum * 31 + block[i];
	return sum;
}

static __attribute__((noinline)) void write_block(int fd, const uint8_t *block)
{
	if (write(fd, block, BLOCK_BYTES) != BLOCK_BYTES)
		exit(1);
}

static __attribute__((noinline)) uint32_t pack_file(int number)
{
	uint8_t block[BLOCK_BYTES];
	uint32_t sum = (uint32_t)number;
	int fd = open("packed", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < 20; i++) {
		for (int k = 0; k < BLOCK_BYTES; k++)
			block[k] = (uint8_t)(i + k * number);
		sum = checksum(block, sum);
		write_block(fd, block);
	}
	close(fd);
	return sum;
}

static __attribute__((noinline)) void list_files(const uint32_t *sums, int n)
{
	for (int i = 0; i < n; i++)
		printf("%d %u\n", i, sums[i]);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;
	uint32_t *sums = calloc((size_t)n, sizeof *sums);

	for (int i = 0; i < n; i++)
		sums[i] = pack_file(i);
	list_files(sums, n);
	free(sums);
	return 0;
}
