/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command that reads files, one call of read_file each, after it has written them.
 * Usage: watched_files UNUSED FILES
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK_BYTES 4096

static void write_file(int number)
{
	uint8_t block[BLOCK_BYTES];
	char name[32];
	int fd;

	for (int i = 0; i < BLOCK_BYTES; i++)
		block[i] = (uint8_t)(i * number);
	snprintf(name, sizeof name, "input.%d", number);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, block, sizeof block) != BLOCK_BYTES)
		exit(1);
	close(fd);
}

static __attribute__((noinline)) uint32_t checksum(const uint8_t *block, uint32_t sum)
{
	for (int round = 0; round < 400; round++)
		for (int i = 0; i < BLOCK_BYTES; i++)
			sum = sum * 31 + block[i];
	return sum;
}

static __attribute__((noinline)) uint32_t read_file(int number)
{
	uint8_t block[BLOCK_BYTES];
	char name[32];
	int fd;

	snprintf(name, sizeof name, "input.%d", number);
	fd = open(name, O_RDONLY);
	if (fd < 0 || read(fd, block, sizeof block) != BLOCK_BYTES)
		exit(1);
	close(fd);
	return checksum(block, (uint32_t)number);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1;
	uint32_t sum = 0;

	for (int i = 0; i < n; i++)
		write_file(i);
	for (int i = 0; i < n; i++)
		sum ^= read_file(i);
	printf("%u\n", sum);
	return 0;
}
