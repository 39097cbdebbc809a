/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serves itself while there is a file called "go", until SIGTERM. Every function below handle() is called once for each
 * request; v3 is what varies. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static volatile uint64_t sink;

__attribute__((noinline)) static void spin(int n)
{
	uint64_t x = (uint64_t)n;

	for (int i = 0; i < n; i++)
		x = (x ^ x >> 29) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	sink += x;
}

__attribute__((noinline)) static void v1(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void v2(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

/* It waits instead of working, so that a machine that others use changes it little. */
__attribute__((noinline)) static void v3(int n)
{
	const struct timespec t = { 0, n };

	for (int i = 0; i < 4; i++)
		spin(100);
	if (n)
		syscall(SYS_nanosleep, &t, NULL); /* no call that vprof knows to wait: v3 is measured as others are */
}

__attribute__((noinline)) static void v4(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void varying(uint64_t id)
{
	v1(400);
	v2(400);
	v3(id % 8 ? 0 : 20000000);
	v4(400);
}

__attribute__((noinline)) static void q1(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void q2(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void q3(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void q4(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void quiet(void)
{
	q1(400);
	q2(400);
	q3(400);
	q4(400);
}

__attribute__((noinline)) static void steady_a(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void steady_b(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) static void steady_c(int n)
{
	for (int i = 0; i < 4; i++)
		spin(n / 4);
}

__attribute__((noinline)) void handle(uint64_t id)
{
	varying(id);
	quiet();
	steady_a(2000);
	steady_b(2000);
	steady_c(2000);
}

static void stop(int signal)
{
	(void)signal;
	is_over = 1;
}

int main(void)
{
	const struct timespec pause = { 0, 10000000 }, idle = { 0, 200000 };

	signal(SIGTERM, stop);
	for (uint64_t id = 1; !is_over;) {
		if (access("go", F_OK)) {
			nanosleep(&pause, NULL);
			continue;
		}
		for (int i = 0; i < 10; i++, id++) {
			handle(id);
			nanosleep(&idle, NULL);
		}
	}
	return 0;
}
