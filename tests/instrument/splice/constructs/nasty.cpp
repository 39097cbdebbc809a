// FLAGS: -std=c++20 -pedantic-errors -Wno-unused
// BREAK: main,run,operators,constants,initialised,awaits
// What a splice may break: constants, unevaluated operands, operators, initialisers, coroutines.
#include <coroutine>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

static int calls;
static int f(int i) { calls++; return i; }
static constexpr int square(int i) { return i * i; }
consteval int cube(int i) { return i * i * i; }
static int throws(int i) { if (i < 0) throw i; return i; }
static int never(int i) noexcept { return f(i); }
static std::vector<int> list(int n) { return std::vector<int>(static_cast<size_t>(n), n); }
static std::tuple<int, std::string> both(int n) { return {n, std::string(static_cast<size_t>(n), 'b')}; }
static int with_default(int a, int b = f(5), int c = [](int x) { return f(x) + 1; }(6)) { return a + b + c; }
#define TWICE(x) (f(x) + f((x) + 1))
#define CALL(g, ...) g(__VA_ARGS__)

template <int N> struct Constant { static constexpr int value = square(N) + cube(N); };
template <class T> concept Measured = requires(T t) { f(t.size()); { t.size() } -> std::convertible_to<size_t>; };
template <class T> static auto size_of(const T &t) -> decltype(t.size()) requires Measured<T> { return t.size(); }
extern template class std::vector<long>;
template <class T> struct Late {
	T t;
	int get() const { return helper(t); } // found in the second phase
};
namespace late { struct Thing { int n; }; static int helper(const Thing &t) { return f(t.n); } }

struct Number {
	int n = f(40);
	Number() = default;
	Number(int i) : n(f(i)) {}
	operator int() const { return f(n); }
	explicit operator bool() const noexcept { return never(n) != 0; }
	Number operator,(const Number &o) const { return Number(n * 10 + o.n); }
	Number operator&&(const Number &o) const { return Number(n + o.n); }
	Number &operator+=(int i) { n += f(i); return *this; }
	auto operator<=>(const Number &) const = default;
	int operator()(int a, int b) const { return f(a) + f(b) + n; }
	int operator[](const char *s) const { return f(s[0]) + n; }
	Number *operator->() { return this; }
};
static Number global(f(3)), other = with_default(1);
struct Base { int b; explicit Base(int i) : b(f(i)) {} };
struct Derived : Base {
	int d, e;
	Derived(int i) try : Base(throws(i)), d(f(i + 1)), e{f(d) + f(b)} {} catch (int) { std::printf("caught in initialiser "); }
};

static int constants()
{
	static_assert(cube(3) == 27 && Constant<2>::value == 12 && noexcept(never(1)) && !noexcept(throws(1)));
	int room[square(3)] = {f(1), f(2), sizeof(f(3)) == sizeof(int)};
	decltype(f(1)) same = f(4);
	constexpr int c = square(7);
	switch (f(2)) {
	case square(1): return 1;
	case cube(1) + 1: return c + room[0] + room[1] + room[2] + same + static_cast<int>(sizeof room / sizeof room[0]);
	default: return 3;
	}
}

static int operators()
{
	Number a(1), b = f(2);
	int x = (a, b).n + (a && b).n + a(f(7), 8) + a["x"] + a->n;
	a += b += f(2);
	if (a < b ? f(1) : f(0))
		x += 100;
	return x + (a ? int(a) : 0) + TWICE(f(3)) + CALL(f, CALL(f, 9)) + (f(1) || f(2)) + (f(0) && f(3));
}

static int initialised()
{
	static int once = f(11);
	auto [number, text] = both(f(3));
	int sum = once + number + static_cast<int>(text.size());
	for (auto i : list(3))
		sum += i;
	for (auto &&s = text; char c : s)
		sum += c == 'b' ? f(1) : 0;
	if (auto p = std::make_unique<Number>(5); p && p->n > f(2))
		sum += p->n;
	try { Derived d(2); sum += d.d + d.e; Derived bad(-1); } catch (int i) { sum += i; }
	std::initializer_list<int> numbers = {f(1), f(2), f(3)};
	auto lambda = [n = f(sum)](auto... more) { return (f(more) + ... + n); };
	return lambda(1, 2, 3) + static_cast<int>(numbers.size() + size_of(text)) + Late<late::Thing>{{f(6)}}.get();
}

struct Task {
	struct promise_type {
		int value = 0;
		Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
static Task counts(int n)
{
	for (int i = 0; i < f(n); i++)
		co_yield f(i) + f(1);
}
static int awaits()
{
	Task t = counts(3);
	int sum = 0;
	while (t.handle.resume(), !t.handle.done())
		sum += t.handle.promise().value;
	t.handle.destroy();
	return sum;
}

static void run() { std::printf("%d %d %d %d %d | ", constants(), operators(), initialised(), awaits(), with_default(f(1))); }

int main()
{
	for (int i = 0; i < 3; i++)
		run();
	std::printf("%d calls, %d %d\n", calls, global.n, other.n);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
