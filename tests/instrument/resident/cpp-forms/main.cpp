#include <algorithm>
#include <cstdarg>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "planted.h"
#include "forms.h"
PLANTED_MAIN
COUNTER(ctor);
COUNTER(ctor_copy);
COUNTER(ctor_move);
COUNTER(dtor);
COUNTER(virtual_dtor);
COUNTER(op_plus);
COUNTER(op_index);
COUNTER(op_call);
COUNTER(op_assign);
COUNTER(op_bool) COUNTER(op_new);
COUNTER(op_delete);
COUNTER(op_shift);
COUNTER(in_lambda);
COUNTER(generic_lambda);
COUNTER(kept_lambda);
COUNTER(static_guarded);
COUNTER(static_plain);
COUNTER(static_in_template);
COUNTER(static_in_lambda);
COUNTER(class_template);
COUNTER(member_template);
COUNTER(specialised);
COUNTER(variadic_template) COUNTER(second_base);
COUNTER(virtual_base);
COUNTER(pure_virtual);
COUNTER(covariant);
COUNTER(by_member_pointer);
COUNTER(on_one_line);
COUNTER(by_function);
COUNTER(comparator);
COUNTER(static_init) COUNTER(thread_local_user);
COUNTER(local_class);
COUNTER(nested_namespace);
COUNTER(anonymous);
COUNTER(friend_function);
COUNTER(function_try);
COUNTER(noexcept_caller);
COUNTER(throws_deep);
COUNTER(rethrows);
COUNTER(cleanup_on_throw) COUNTER(default_argument);
COUNTER(returns_reference);
COUNTER(switch_table);
COUNTER(c_variadic);
COUNTER(in_std_thread);
COUNTER(delegating);
COUNTER(inherited_ctor);
COUNTER(crtp);
COUNTER(abi_tagged);
COUNTER(long_lived);
struct planted counted_inline_calls = { "counted_inline", 0, 0 };
__attribute__((constructor)) static void link_inline()
{
	counted_inline_calls.next = planted_all;
	planted_all = &counted_inline_calls;
}

struct Value {
	int n;
	Value(int a) : n(a)
	{
		PLANTED(ctor) for (int i = 0; i < 3; i++) n += i;
	}
	Value(const Value &other) : n(other.n)
	{
		PLANTED(ctor_copy) for (int i = 0; i < 2; i++) n += i;
	}
	Value(Value &&other) noexcept : n(other.n)
	{
		PLANTED(ctor_move) while (n > 1000) n /= 2;
	}
	Value(int a, int b) : Value(a * b)
	{
		PLANTED(delegating) for (int i = 0; i < 2; i++) n -= i;
	}
	~Value()
	{
		PLANTED(dtor) for (int i = 0; i < 2; i++) n -= i;
	}
	Value &operator=(const Value &other)
	{
		PLANTED(op_assign) for (int i = 0; i < 2; i++) n = other.n + i;
		return *this;
	}
	explicit operator bool() const
	{
		PLANTED(op_bool) int k = n;
		while (k > 3)
			k /= 2;
		return k & 1;
	}
	int operator[](int i) const
	{
		PLANTED(op_index) while (i > 7) i -= 3;
		return n >> i;
	}
	int operator()(int a, int b = 2) const
	{
		PLANTED(op_call) for (int i = 0; i < b; i++) a += n;
		return a;
	}
	static void *operator new(size_t bytes)
	{
		PLANTED(op_new) for (size_t i = 1; i < bytes; i *= 4) bytes |= 1;
		return malloc(bytes + 8);
	}
	static void operator delete(void *p)
	{
		PLANTED(op_delete) for (volatile int i = 0; i < 2; i = i + 1);
		free(p);
	}
	friend int look_inside(const Value &v)
	{
		PLANTED(friend_function) int k = v.n;
		for (int i = 0; i < 2; i++)
			k ^= i;
		return k;
	}
};
static Value operator+(const Value &a, const Value &b)
{
	PLANTED(op_plus) int k = a.n;
	while (k > 100)
		k -= 50;
	return Value(k + b.n);
}
static std::string &operator<<(std::string &to, const Value &v)
{
	PLANTED(op_shift) to += std::to_string(v.n);
	return to;
}
struct One {
	virtual int first(int a) = 0;
	virtual ~One()
	{
		PLANTED(virtual_dtor) for (volatile int i = 0; i < 2; i = i + 1);
	}
	int pad = 1;
};
struct Two {
	virtual int second(int a)
	{
		while (a > 9)
			a -= 2;
		return a + own;
	}
	virtual Two *self()
	{
		return this;
	}
	virtual ~Two() = default;
	int own = 5;
};
struct Root {
	virtual int shared(int a)
	{
		PLANTED(virtual_base) for (int i = 0; i < 2; i++) a += root;
		return a;
	}
	virtual ~Root() = default;
	int root = 3;
};
struct Left : virtual Root {
	int l = 1;
};
struct Right : virtual Root {
	int shared(int a) override
	{
		PLANTED(virtual_base) for (int i = 0; i < 3; i++) a += root + r;
		return a;
	}
	int r = 2;
};
struct Both final : One, Two, Left, Right {
	int first(int a) override
	{
		PLANTED(pure_virtual) for (int i = 0; i < 3; i++) a ^= own;
		return a;
	}
	int second(int a) override
	{
		PLANTED(second_base) for (int i = 0; i < 2; i++) a += pad;
		return a;
	}
	Both *self() override
	{
		PLANTED(covariant) for (volatile int i = 0; i < 2; i = i + 1);
		return this;
	}
	int plain(int a)
	{
		PLANTED(by_member_pointer) for (int i = 0; i < 2; i++) a += own;
		return a;
	}
};
template <class T> struct Holder {
	T kept;
	static int made;
	explicit Holder(T t) : kept(t)
	{
		made++;
	}
	T get(int k) const
	{
		PLANTED(class_template) T sum = kept;
		for (int i = 0; i < k; i++)
			sum += kept;
		return sum;
	}
	template <class U> U as(U add) const
	{
		PLANTED(member_template) U u = static_cast<U>(kept);
		while (u > 50)
			u /= 2;
		return u + add;
	}
	int count()
	{
		static int calls = 10;
		PLANTED(static_in_template) for (int i = 0; i < 2; i++) calls += i;
		return calls + made;
	}
};
template <class T> int Holder<T>::made = 0;
template <class T> int special(T a)
{
	PLANTED(specialised) int n = 0;
	for (T i = 0; i < a; i++)
		n++;
	return n;
}
template <> int special(double a)
{
	PLANTED(specialised) while (a > 4) a /= 2;
	return (int)a;
}
static int total()
{
	return 0;
}
template <class First, class... Rest> int total(First first, Rest... rest)
{
	PLANTED(variadic_template) int n = (int)first;
	while (n > 100)
		n -= 9;
	return n + total(rest...);
}
template <class Derived> struct Curious {
	int run(int a)
	{
		PLANTED(crtp) for (int i = 0; i < 2; i++) a += static_cast<Derived *>(this)->step();
		return a;
	}
};
struct Real : Curious<Real> {
	int step()
	{
		return 3;
	}
};
struct Heir : Value {
	using Value::Value;
	Heir() : Value(7)
	{
		PLANTED(inherited_ctor) for (int i = 0; i < 2; i++) n += i;
	}
};
static const std::map<int, std::string> &names(int a)
{
	static const std::map<int, std::string> all = { { a, "one" }, { a + 1, "two" } };
	PLANTED(static_guarded) for (volatile int i = 0; i < 2; i = i + 1);
	return all;
}
static int serial()
{
	static int last = 3;
	PLANTED(static_plain) for (int i = 0; i < 2; i++) last += i;
	return last;
}
static thread_local std::string mine;
static int with_thread_local(int a)
{
	PLANTED(thread_local_user) mine += (char)('a' + a % 26);
	return (int)mine.size();
}
namespace outer
{
namespace
{
int hidden(int a)
{
	PLANTED(anonymous) for (int i = 0; i < 3; i++) a = a * 3 + i;
	return a;
}
} // namespace
namespace inner
{
int nested(int a)
{
	PLANTED(nested_namespace) while (a > 30) a -= 11;
	return hidden(a) & 15;
}
} // namespace inner
} // namespace outer
static void deep(int a)
{
	PLANTED(throws_deep) if (a % 3 == 0) throw std::out_of_range("deep");
	for (volatile int i = 0; i < 2; i = i + 1)
		;
}
struct Cleaner {
	int *to;
	~Cleaner()
	{
		PLANTED(cleanup_on_throw) for (int i = 0; i < 2; i++) *to += i;
	}
};
static int again(int a, int *sum)
{
	PLANTED(rethrows) Cleaner c = { sum };
	try {
		deep(a);
		return 1;
	} catch (const std::logic_error &) {
		*sum += 2;
		throw;
	}
}
static int tries(int a)
try {
	PLANTED(function_try) int sum = 0;
	return again(a, &sum) + sum;
} catch (const std::exception &e) {
	return (int)std::string(e.what()).size();
}
static int never_throws(int a) noexcept
{
	PLANTED(noexcept_caller) return tries(a) + 1;
}
static int &slot(int i)
{
	static int all[4];
	PLANTED(returns_reference) while (i > 3) i -= 4;
	return all[i];
}
static const char *word(int k)
{
	PLANTED(switch_table) for (; k > 9; k -= 5);
	switch (k) {
	case 0:
		return "none";
	case 1:
		return "single";
	case 2:
		return "double";
	case 3:
		return "triple";
	case 4:
		return "four";
	case 5:
		return "five";
	case 6:
		return "six";
	case 7:
		return "seven";
	default:
		return "many";
	}
}
static int adds(int n, ...)
{
	va_list list;
	int sum = 0;
	PLANTED(c_variadic)
	va_start(list, n);
	while (n--)
		sum += va_arg(list, int);
	va_end(list);
	return sum;
}
static int defaulted(int a, int b = serial())
{
	PLANTED(default_argument) while (a > b) a -= 5;
	return a;
}
__attribute__((abi_tag("tag"))) static std::string tagged(int a)
{
	PLANTED(abi_tagged) while (a > 90) a -= 7;
	return std::string((size_t)(a % 5), 'x');
}
static std::function<int(int)> kept(int k)
{
	return [k](int a) {
		static int seen;
		PLANTED(kept_lambda) PLANTED(static_in_lambda) for (int i = 0; i < k; i++) a += i;
		return a + ++seen;
	};
}
static int by_function(int a)
{
	PLANTED(by_function) for (int i = 0; i < 2; i++) a -= i;
	return a;
}
struct Early {
	int n;
	Early()
	{
		PLANTED(static_init) n = serial();
	}
} early;
static std::mutex lock;
static void run_thread(long *sum, int n)
{
	PLANTED(in_std_thread) for (int i = 0; i < n; i++)
	{
		std::lock_guard<std::mutex> held(lock);
		*sum += with_thread_local(i) + outer::inner::nested(i) + 0 * counted_inline(i);
	}
}
__attribute__((noinline)) static long work(int i, Both &both)
{
	PLANTED(long_lived)
	struct Inner {
		int f(int a)
		{
			PLANTED(local_class) for (int k = 0; k < 2; k++) a += k;
			return a;
		}
	} inner;
	long sum = 0;
	Value a(i), b(i, 2), c = a + b, d(std::move(c));
	Heir heir;
	One *one = &both;
	Two *two = &both;
	Root *root = &both;
	int (Both::*member)(int) = &Both::plain;
	std::string text;
	std::unique_ptr<Value> made(new Value(d));
	auto doubled = [&](int x) {
		PLANTED(in_lambda) for (int k = 0; k < 2; k++) x += i;
		return x;
	};
	auto any = [](auto x) {
		PLANTED(generic_lambda) for (int k = 0; k < 2; k++) x += x;
		return x;
	};
	std::vector<int> order = { i % 5, 3, 1, i % 7, 2 };
	a = b;
	text << a << heir;
	std::sort(order.begin(), order.end(), [](int x, int y) {
		PLANTED(comparator) for (volatile int k = 0; k < 1; k = k + 1);
		return x > y;
	});
	sum += order[0] + order[4] + (a ? 1 : 2) + a[i % 11] + a(i) + a(i, 3) + look_inside(d) + (long)text.size() +
	       made->n;
	sum += one->first(i) + two->second(i) + two->self()->second(1) + root->shared(i) + (both.*member)(i) +
	       both.second(2);
	sum += Holder<int>(i).get(3) + (long)Holder<double>(i).get(2) + Holder<int>(2).as<long>(i) +
	       (long)Holder<int>(80).as(1.5) + Holder<short>(1).count();
	sum += special(i % 9) + special((long)(i % 5)) + special((double)i) + total(i, 3L, 2.5, (short)4) +
	       Real().run(i);
	sum += (long)names(4).size() + serial() + with_thread_local(i) + outer::inner::nested(i) + never_throws(i) +
	       inner.f(i);
	sum += slot(i) += i;
	sum += word(i % 14)[0] + adds(3, i, 2, 1) + defaulted(i) + (long)tagged(i).size() + doubled(i) + any(i) +
	       (long)any(1.5) + counted_inline(i);
	return sum;
}
/* As frameworks for tests do: the class, and the destructor that the compiler makes, begin on the line of its function.
 */
struct Case {
	virtual ~Case() = default;
	virtual int run(int a) = 0;
};
#define CASE(name)                                                                                                     \
	struct name : Case {                                                                                           \
		int run(int a) override;                                                                               \
	};                                                                                                             \
	int name::run(int a)
CASE(OnOneLine)
{
	PLANTED(on_one_line) for (int i = 0; i < 2; i++) a += i;
	return a;
}

int main()
{
	Case *one = new OnOneLine;
	long sum = 0, sums[2] = { 0, 0 };
	int (*volatile pointer)(int) = by_function;
	std::function<int(int)> f = kept(3), g = pointer;
	Both *both = new Both;

	atexit(planted_write);
	for (int i = 0; i < 60; i++)
		sum += work(i, *both) + f(i) + g(i) + other_unit(i) + one->run(i);
	delete one;
	Root *root = both;
	delete root;
	std::thread a(run_thread, &sums[0], 200), b([&] { run_thread(&sums[1], 300); });
	a.join();
	b.join();
	printf("%ld %ld\n", sum, sums[0] + sums[1]);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
