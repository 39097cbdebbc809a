// FLAGS: -std=c++17 -pedantic-errors
// BREAK: main,virtuals,algorithms,throwing,references,Holder,operator()
// C++: methods, constructors, templates, lambdas, exceptions, references, operators, threads.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shapes {
struct Shape {
	virtual ~Shape() { std::puts("~Shape"); }
	virtual double area() const = 0;
	virtual std::string name() const { return "shape"; }
};
class Square : public Shape {
	double side_;

public:
	explicit Square(double side) : side_(side) { if (side < 0) throw std::invalid_argument("side"); }
	double area() const override { return side_ * side_; }
	std::string name() const override { return std::string("square") + Shape::name(); }
};
struct Disc final : Shape {
	double r;
	Disc(double radius) try : r(radius) {
		if (radius > 100) throw 3;
	} catch (int) {
		std::puts("constructor");
	}
	double area() const noexcept override { return 3 * r * r; }
};
} // namespace shapes

template <class T> T largest(const std::vector<T> &v)
{
	T best{};
	for (const auto &x : v)
		if (best < x)
			best = x;
	return best;
}
template <> int largest<int>(const std::vector<int> &v) { return v.empty() ? -1 : v.back(); }
template <class... Ts> int count(const Ts &...) { return static_cast<int>(sizeof...(Ts)); }
constexpr int squared(int n) { return n * n; }
static_assert(squared(3) == 9, "constant");

struct Holder {
	std::vector<int> v{ 3, 1, 2 };
	int &at(std::size_t i) { return v[i]; }
	const int &operator[](std::size_t i) const { return v.at(i); }
	Holder &operator+=(int n) { v.push_back(n); return *this; }
	operator bool() const { return !v.empty(); }
	Holder() = default;
	Holder(const Holder &) = delete;
	Holder(Holder &&) noexcept = default;
	auto total() const -> int { int t = 0; for (int x : v) t += x; return t; }
	static Holder make() { Holder h; h += 9; return h; }
	friend bool operator<(const Holder &a, const Holder &b) { return a.total() < b.total(); }
};

static int throwing(int n)
{
	try {
		if (n > 2)
			throw std::runtime_error("deep " + std::to_string(n));
		return n ? throwing(n + 1) : n;
	} catch (const std::runtime_error &e) {
		std::printf("caught %s\n", e.what());
		if (n == 3) throw;
		return -n;
	}
}

static int safely(int n) noexcept
{
	try { return throwing(n); } catch (...) { return 99; }
}

static int &references(Holder &h)
{
	auto &&[a, b] = std::pair<int, int>(1, 2);
	h.at(0) = a + b;
	return h.at(static_cast<std::size_t>(a));
}

static int algorithms()
{
	std::vector<int> v{ 5, 2, 8, 1 };
	int calls = 0;
	std::sort(v.begin(), v.end(), [&calls](int a, int b) { calls += 1; return a < b; });
	std::function<int(int)> twice = [](int n) -> int { return n * 2; };
	auto generic = [](auto x) { return x + x; };
	std::thread worker([&v] { v.push_back(static_cast<int>(v.size())); });
	worker.join();
	std::printf("%d %d %s %d\n", v[0], twice(v.back()), generic(std::string("ab")).c_str(), calls > 0);
	return static_cast<int>(v.size());
}

static int virtuals()
{
	std::vector<std::unique_ptr<shapes::Shape>> all;
	all.push_back(std::make_unique<shapes::Square>(2.0));
	all.push_back(std::make_unique<shapes::Disc>(1.0));
	double total = 0;
	for (auto &s : all) {
		total += s->area();
		std::puts(s->name().c_str());
	}
	try { shapes::Square bad(-1); } catch (const std::exception &e) { std::puts(e.what()); }
	try { shapes::Disc worse(101); } catch (int n) { std::printf("%d\n", n); }
	return static_cast<int>(total);
}

int main() try {
	Holder h = Holder::make(), other;
	references(h)++;
	std::printf("%d %d %d %d\n", h[0], h[1], h.total(), h < other || !h);
	std::printf("%d %d\n", safely(1), safely(3));
	std::printf("%d %d %d\n", algorithms(), virtuals(), count(1, "two", 3.0));
	std::printf("%.1f %d %s\n", largest(std::vector<double>{ 1.5, 2.5 }), largest(std::vector<int>{ 7, 4 }),
		    largest(std::vector<std::string>{ "a", "b" }).c_str());
	h[77];
	return 0;
} catch (const std::out_of_range &) {
	return squared(4);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
