// FLAGS: -std=c++17 -pedantic-errors
// BREAK: main
// $return in C++: results that are objects, references and lists, made without one copy or move more.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct Item {
	int id;
	explicit Item(int i) : id(i) { std::printf("+%d ", id); }
	Item(const Item &o) : id(o.id + 100) { std::printf("c%d ", id); }
	Item(Item &&o) noexcept : id(o.id) { o.id = -1; std::printf("m%d ", id); }
	~Item() { std::printf("-%d ", id); }
};

struct Pinned {
	int id;
	explicit Pinned(int i) : id(i) {}
	Pinned(const Pinned &) = delete;
};

static Item store(3);

Item by_name(int i)
{
	Item item(i);
	if (i > 5)
		item.id++;
	return item;
}

Item by_value(int i) { return Item(i); }
Item copied() { return store; }
Item argument(Item item) { return item; }
Item &reference() { return store; }
const Item &constant(const Item &a, const Item &b) { return a.id > b.id ? a : b; }
std::vector<int> list(int n) { return {n, n + 1}; }
std::unique_ptr<Item> owner(int i)
{
	auto made = std::make_unique<Item>(i);
	return made;
}
Pinned pinned(int i) { return Pinned(i); }

int main()
{
	Item a = by_name(1), b = by_name(6), c = by_value(2), d = copied(), e = argument(Item(7));
	reference().id++;
	std::printf("[%d %d %d %d %d %d] ", a.id, b.id, c.id, d.id, e.id, constant(a, c).id);
	std::printf("%zu %d %d", list(4).size(), owner(8)->id, pinned(9).id);
	std::puts("");
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
