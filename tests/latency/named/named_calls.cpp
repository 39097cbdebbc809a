/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program whose functions are hard to name: two of one name in two files, one of the same name in a library, one that
 * is inlined, one that is inlined here and called there, one that is never called, a method. Each call waits. */
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

extern "C" void other_file(void);
extern "C" void library(void);

static inline __attribute__((always_inline)) void wait_here(void)
{
	struct timespec t = { 0, 200000 };

	nanosleep(&t, nullptr);
}

static NOINLINE void step(void)
{
	wait_here();
	asm volatile("");
}

static NOINLINE void handle(void)
{
	wait_here();
	asm volatile("");
}

static inline __attribute__((always_inline)) void within(void)
{
	wait_here();
	asm volatile("");
}

static inline __attribute__((always_inline)) void partly(void)
{
	wait_here();
	asm volatile("");
}

extern "C" NOINLINE void around(void)
{
	within();
	partly();
	asm volatile("");
}

extern "C" NOINLINE __attribute__((used)) void never_called(void)
{
	wait_here();
	asm volatile("");
}

static NOINLINE void overloaded(int)
{
	wait_here();
	asm volatile("");
}

static NOINLINE void overloaded(long)
{
	wait_here();
	asm volatile("");
}

namespace shop
{
struct Server {
	NOINLINE void serve();
};

void Server::serve()
{
	wait_here();
	asm volatile("");
}
} // namespace shop

int main()
{
	void (*volatile pointer)(void) = partly;
	shop::Server server;

	for (int i = 0; i < 40; i++) {
		step();
		handle();
		around();
		pointer();
		server.serve();
		overloaded(1);
		overloaded(1L);
		other_file();
		library();
	}
	return 0;
}
