// FLAGS: -std=c++17 -pedantic-errors
// BREAK: main,results,arguments,lifetimes,throwing,operators,indirect,generic,conditions
// C++ calls: what they return, what their arguments keep alive, how they end. Every construction and destruction is told, so
// that another order, a copy more or less, or a temporary that dies early shows.
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct Told { // tells its life
	int id;
	explicit Told(int i) : id(i) { std::printf("+%d ", id); }
	Told(const Told &o) : id(o.id + 100) { std::printf("c%d ", id); }
	Told(Told &&o) noexcept : id(o.id) { o.id = -1; std::printf("m%d ", id); }
	Told &operator=(const Told &o) { id = o.id; std::printf("=%d ", id); return *this; }
	~Told() { std::printf("-%d ", id); }
	const Told &self() const { return *this; }
	Told &&moved() && { return std::move(*this); }
	int value() const { return id; }
};

struct Fixed { // cannot be copied or moved
	int id;
	explicit Fixed(int i) : id(i) { std::printf("F%d ", id); }
	Fixed(const Fixed &) = delete;
	~Fixed() { std::printf("~F%d ", id); }
};

static Told made(int i) { return Told(i); }
static Fixed fixed(int i) { return Fixed(i); }
static int number(const Told &t) { return t.id; }
static int both(const Told &a, const Told &b) { return a.id * 10 + b.id; }
static int by_value(Told t) { return t.id; }
static int defaulted(const Told &t = made(9)) { return t.id; }
static Told global(77);
static Told &lvalue() { return global; }
static Told &&rvalue(Told &t) { return std::move(t); }
static const std::string &longer(const std::string &a, const std::string &b) { return a.size() > b.size() ? a : b; }
static void nothing(const Told &t) { std::printf("n%d ", t.id); }
static void line() { std::puts(""); }

static void results()
{
	Told direct = made(1);
	Fixed stays = fixed(2);
	const Told &extended = made(3);
	Told &&also = made(4);
	lvalue().id++;
	Told taken = rvalue(lvalue());
	made(5);
	(void)made(6);
	nothing(made(7)), nothing(made(8));
	std::printf("[%d %d %d %d %d] ", direct.id, stays.id, extended.id, also.id, taken.id);
	auto [a, b] = std::make_pair(number(made(10)), number(made(11)));
	std::printf("%d %d", a, b);
	line();
}

static void arguments()
{
	std::printf("%d ", number(made(1)));
	std::printf("%d ", both(made(1), made(2)));
	std::printf("%d ", by_value(made(3)));
	std::printf("%d ", by_value(lvalue()));
	std::printf("%d ", defaulted());
	std::printf("%d ", number(made(4).self()));
	std::printf("%d ", made(5).self().self().value());
	std::printf("%d ", by_value(made(6).moved()));
	std::printf("%s ", longer(std::string("one"), std::string("three")).c_str());
	Fixed *heap = new Fixed(fixed(7));
	delete heap;
	line();
}

static void lifetimes()
{
	const char *text = longer(std::string("kept until the semicolon"), "x").c_str() + number(made(0));
	(void)text;
	for (int c : std::vector<int>{number(made(1)), number(made(2))})
		std::printf("%d ", c);
	for (char c : longer(std::string("a"), std::string("bc")).substr(0))
		std::printf("%c ", c);
	std::unique_ptr<Told> owner = std::make_unique<Told>(made(3));
	std::shared_ptr<Told> shared(new Told(made(4)));
	std::printf("%d ", (number(made(5)), number(made(6))));
	line();
}

static int thrower(const Told &t)
{
	if (t.id > 1)
		throw std::runtime_error("thrown");
	return t.id;
}

static int quiet(int i) noexcept { return i + 1; }

static void throwing()
{
	for (int i = 0; i < 4; i++) {
		try {
			std::printf("%d ", both(made(i), made(thrower(made(i)))));
			std::printf("%d ", quiet(thrower(made(i))));
		} catch (const std::exception &e) {
			std::printf("%s ", e.what());
		}
	}
	try {
		throw made(5);
	} catch (const Told &t) {
		std::printf("caught %d ", number(t));
	}
	line();
}

struct Matrix {
	int v = 1;
	int &operator[](int) { return v; }
	int operator()(int a, int b = 2) const { return v * a + b; }
	Matrix operator+(const Matrix &o) const { Matrix m; m.v = v + o.v; return m; }
	Matrix &operator+=(const Matrix &o) { v += o.v; return *this; }
	Matrix &operator++() { ++v; return *this; }
	explicit operator bool() const { return v > 2; }
	operator int() const { return v; }
	Matrix *operator->() { return this; }
	bool operator==(const Matrix &o) const { return v == o.v; }
	static Matrix of(int i) { Matrix m; m.v = i; return m; }
};

static void operators()
{
	Matrix a = Matrix::of(3), b = Matrix::of(4);
	a[0] = 5;
	++(a += b);
	std::printf("%d %d %d %d ", int(a + b + Matrix::of(1)), a(2), a(2, 3), a->v);
	if (Matrix m = a + b)
		std::printf("%d ", m.v);
	std::printf("%d ", a == b ? 1 : Matrix::of(8)(1));
	std::string s = std::string("x") + "y" + std::to_string(int(b));
	s += longer(s, "zzzzzz");
	std::printf("%s", s.c_str());
	line();
}

struct Base {
	virtual ~Base() = default;
	virtual Told answer(int i) { return made(i); }
	virtual const Told &look() const { return global; }
};
struct Derived : Base {
	Told answer(int i) override { return Base::answer(i + 1); }
	int plus(int i) { return i + 1; }
};

static void indirect()
{
	Derived d;
	Base &base = d;
	int (Derived::*member)(int) = &Derived::plus;
	Told (*function)(int) = made;
	std::function<int(const Told &)> wrapped = number;
	int kept = 3;
	auto lambda = [&kept](const Told &t) -> Told & { kept += t.id; return global; };

	std::printf("%d ", base.answer(1).value());
	std::printf("%d ", base.look().id);
	std::printf("%d ", (d.*member)(4));
	std::printf("%d ", function(5).id);
	std::printf("%d ", wrapped(made(6)));
	std::printf("%d %d", lambda(made(7)).id, kept);
	line();
}

template <class T, class F> static auto apply(T &&value, F f) -> decltype(f(std::forward<T>(value)))
{
	return f(std::forward<T>(value));
}
template <class... T> static int sum(const T &...t) { return (0 + ... + number(t)); }
constexpr int squared(int i) { return i * i; }
static_assert(squared(3) == 9, "");

static void generic()
{
	int array[squared(2)] = {squared(1), squared(2), sizeof(made(1)) > 0, noexcept(quiet(1))};
	std::printf("%d ", apply(made(1), number));
	std::printf("%d ", apply(2, made).id);
	std::printf("%d ", apply(lvalue(), [](Told &t) -> Told & { return t; }).id);
	std::printf("%d ", sum(made(3), made(4)));
	std::printf("%d", array[0] + array[1] + array[2] + array[3]);
	line();
}

struct Member {
	Told first = made(1);
	Told second;
	int third;
	Member() : second(made(2)), third(number(made(3))) {}
	explicit Member(int i) : first(made(i)), second(made(i + 1)), third(defaulted()) {}
};

static void conditions(int n)
{
	Told choice = n ? made(1) : Told(2);
	const Told &other = n ? lvalue() : global;
	while (int left = by_value(made(n--)))
		std::printf("%d ", left);
	switch (number(made(3))) {
	case 3:
		std::printf("three ");
	}
	if (const Told &t = made(4); t.value() && number(t))
		std::printf("%d ", t.id);
	Member m, k(5);
	std::printf("%d %d %d %d", choice.id, other.id, m.third, k.second.id);
	line();
}

int main()
{
	results();
	arguments();
	lifetimes();
	throwing();
	operators();
	indirect();
	generic();
	conditions(2);
	return number(made(3));
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
