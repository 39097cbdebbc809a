/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C++ with exceptions and thread_local destructors, and a shared library loaded late: one gate for all.
 * The target of test_modules.c. */
#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <thread>

static volatile int sink_value;

struct Late {
	~Late()
	{
		VP_FUNCTION(0x206, 0xffffffffffffffffUL, 1)
		sink_value = 1;
	}
};
static thread_local Late late;

static int thrower(int x)
{
	VP_FUNCTION(0x202, 0x4UL, 1)
	if (x % 2)
		throw std::runtime_error("odd");
	return x;
}

static int root(int (*module_call)(int), int n)
{
	VP_ROOT(0x201, 0xffffffffffffffffUL, 2)
	VP_AT_EXIT_DO(1, VP_DO_END("request", n); VP_DO_TYPE(std::string("C++").c_str())) int sum = 0;

	for (int i = 0; i < n; i++) {
		try {
			sum += thrower(i);
		} catch (const std::exception &) {
			sum--;
		}
		sum += module_call(i); /* mask 8: closed under context 2 */
	}
	{
		VP_FUNCTION(0x204, 0x4UL, 3)
		for (int i = 0; i < n; i++)
			sum += module_call(i);
	}
	return sum;
}

extern "C" int modules_target(void);
int modules_target(void)
{
	void *handle = dlopen(VPROF_TEST_MODULE, RTLD_NOW);
	int (*module_call)(int);
	int results[2] = { 0, 0 };

	if (!handle)
		return 1;
	module_call = reinterpret_cast<int (*)(int)>(dlsym(handle, "module_call"));
	std::thread one([&] {
		(void)&late;
		results[0] = root(module_call, 1000);
	});
	std::thread two([&] {
		(void)&late;
		results[1] = root(module_call, 2000);
	});
	one.join();
	two.join();
	return results[0] == results[1];
}
