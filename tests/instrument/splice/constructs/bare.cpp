// FLAGS: -std=c++17 -fno-exceptions -fno-rtti -pedantic-errors
// BREAK: main,run
// Without exceptions and without type information.
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

struct Told {
	int id;
	explicit Told(int i) : id(i) { std::printf("+%d ", id); }
	Told(const Told &o) : id(o.id + 100) { std::printf("c%d ", id); }
	Told(Told &&o) noexcept : id(o.id) { o.id = -1; std::printf("m%d ", id); }
	virtual ~Told() { std::printf("-%d ", id); }
	virtual int weigh() const noexcept { return id; }
};
struct Heavy final : Told {
	using Told::Told;
	int weigh() const noexcept override { return 10 * id; }
};

static Told made(int i) { return Told(i); }
static int weight(const Told &t) noexcept { return t.weigh(); }
static const char *name(int i) { return i % 2 ? "odd" : "even"; }
template <class F> static auto apply(F f, int n) -> decltype(f(n)) { return f(n); }

static int run(int n)
{
	alignas(Heavy) unsigned char room[sizeof(Heavy)];
	Told *heavy = new (room) Heavy(n);
	int sum = weight(*heavy) + weight(made(n)), length = 0;

	sum += apply([&](int i) { return weight(made(i)) + length++; }, n);
	for (const char *c = name(n); *c; c++)
		length += static_cast<int>(std::strlen(c));
	heavy->~Told();
	return sum + length;
}

int main()
{
	for (int i = 1; i < 4; i++)
		std::printf("[%d] ", run(i));
	std::puts("");
	return weight(made(0));
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
