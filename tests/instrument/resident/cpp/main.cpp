#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <cstdlib>
#include "planted.h"
PLANTED_MAIN
COUNTER(method)
COUNTER(virtual_one) COUNTER(made) COUNTER(gone) COUNTER(templated) COUNTER(thrower) COUNTER(catcher) COUNTER(guarded)
	COUNTER(lambda_holder) COUNTER(in_class) COUNTER(static_method) COUNTER(overloaded) COUNTER(free_function)
		COUNTER(called_by_pointer) COUNTER(recursive_cpp) COUNTER(in_thread) COUNTER(returns_string)
			COUNTER(no_throw) COUNTER(c_linkage)

				struct Base {
	virtual ~Base()
	{
	}
	virtual int virtual_one(int a)
	{
		PLANTED(virtual_one) for (int i = 0; i < 3; i++) a += i;
		return a;
	}
};
class Thing : public Base
{
	int value;
	std::string text;

      public:
	explicit Thing(int v) : value(v), text("thing")
	{
		PLANTED(made) for (int i = 0; i < 2; i++) value += i;
	}
	~Thing() override
	{
		PLANTED(gone) for (int i = 0; i < 2; i++) value -= i;
	}
	int method(int a) const;
	int in_class(int a) const
	{
		PLANTED(in_class) for (int i = 0; i < 3; i++) a += value;
		return a;
	}
	static int static_method(int a);
	int virtual_one(int a) override
	{
		PLANTED(virtual_one) while (a > 10) a -= 3;
		return a + value;
	}
	std::string returns_string(int n) const
	{
		PLANTED(returns_string) return text + std::to_string(n);
	}
};
int Thing::method(int a) const
{
	PLANTED(method) for (int i = 0; i < 3; i++) a ^= i;
	return a + value;
}
int Thing::static_method(int a)
{
	PLANTED(static_method) for (int i = 0; i < 3; i++) a *= 3;
	return a;
}
template <class T> T templated(T a, T b)
{
	PLANTED(templated) for (int i = 0; i < 2; i++) a = a < b ? b : a;
	return a;
}
static int thrower(int a)
{
	PLANTED(thrower) for (int i = 0; i < 2; i++) a += i * 0; if (a > 2) throw std::runtime_error("too much");
	return a;
}
static int catcher(int a)
{
	PLANTED(catcher)
	try {
		return thrower(a);
	} catch (const std::exception &e) {
		return (int)std::string(e.what()).size();
	}
}
static const std::vector<int> &guarded(int a)
{
	static std::vector<int> list = { a, 1, 2 };
	PLANTED(guarded) list.push_back(a);
	return list;
}
static int lambda_holder(int a)
{
	PLANTED(lambda_holder)
	auto inner = [&](int x) {
		for (int i = 0; i < 2; i++)
			x += a;
		return x;
	};
	return inner(a) + inner(1);
}
static int overloaded(int a)
{
	PLANTED(overloaded) while (a > 9) a -= 4;
	return a;
}
static double overloaded(double a)
{
	PLANTED(overloaded) while (a > 9) a -= 4;
	return a;
}
static inline int free_function(int a)
{
	PLANTED(free_function) for (int i = 0; i < 3; i++) a += i;
	return a;
}
static int called_by_pointer(int a)
{
	PLANTED(called_by_pointer) for (int i = 0; i < 3; i++) a -= i;
	return a;
}
static int recursive_cpp(int n)
{
	PLANTED(recursive_cpp) return n < 2 ? n : recursive_cpp(n - 1) + recursive_cpp(n - 2);
}
static void in_thread(long *sum)
{
	PLANTED(in_thread) for (int i = 0; i < 500; i++) *sum += free_function(i);
}
static int no_throw(int a) noexcept
{
	PLANTED(no_throw) for (int i = 0; i < 3; i++) a += i;
	return a;
}
extern "C" int c_linkage(int a)
{
	PLANTED(c_linkage) return free_function(a);
}

int main()
{
	int sum = 0;
	int (*volatile pointer)(int) = called_by_pointer;
	int (Thing::*member)(int) const = &Thing::method;
	long sums[2] = { 0, 0 };

	atexit(planted_write);
	for (int i = 0; i < 50; i++) {
		std::unique_ptr<Base> base(i & 1 ? new Thing(i) : new Base);
		Thing t(i);
		sum += base->virtual_one(i) + t.method(i) + (t.*member)(i) + t.in_class(i) +
		       Thing::static_method(i & 7);
		sum += templated(i, 3) + (int)templated(1.5, (double)i) + catcher(i % 5) + (int)guarded(i).size() +
		       lambda_holder(i);
		sum += overloaded(i) + (int)overloaded(i * 0.5) + free_function(i) + pointer(i) + recursive_cpp(i % 7) +
		       no_throw(i) + c_linkage(i);
		sum += (int)t.returns_string(i).size();
	}
	std::thread a(in_thread, &sums[0]), b(in_thread, &sums[1]);
	a.join();
	b.join();
	printf("%d %ld\n", sum, sums[0] + sums[1]);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
