// FLAGS: -std=c++11 -pedantic-errors
// BREAK: main,Queue::pop,length
// Annotations evaluated where C++ functions are left, by scope guards and by rewritten returns.
#include <cstdio>
#include <stdexcept>
#include <string>

struct Item { int id; std::string kind; };

struct Queue {
	Item items[3] = { { 1, "one" }, { 2, "two" }, { 3, "three" } };
	int next = 0;
	Item *pop() { if (next > 2) return nullptr; return &items[next++]; }
	bool empty() const { return next > 2; }
};

static std::string length(const Item &item, unsigned &n)
{
	if (item.id == 2)
		throw std::runtime_error("two");
	n += static_cast<unsigned>(item.kind.size());
	return std::string("length of ") + item.kind;
}

static void done(Item *item) { if (!item) return; std::printf("done %d\n", item->id); }

int main()
{
	Queue q;
	unsigned n = 0;
	while (Item *item = q.pop()) {
		try { std::puts(length(*item, n).c_str()); } catch (const std::exception &e) { std::puts(e.what()); }
		done(item);
	}
	done(nullptr);
	return static_cast<int>(n) + (q.empty() ? 1 : 0);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
