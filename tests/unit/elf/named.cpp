// SPDX-License-Identifier: GPL-3.0-or-later
#define MARK(name) __asm__ volatile(".globl " #name "\n" #name ":\n\tnop")

volatile int sink;

namespace store
{
namespace
{
inline __attribute__((always_inline)) void hidden(int x)
{
	sink += x;
	MARK(mark_hidden);
	sink--;
}
} // namespace

template <class Key> struct Table {
	__attribute__((noinline)) void rebuild(Key key) const
	{
		hidden(key);
		sink++;
	}
	inline __attribute__((always_inline)) void grow(Key key)
	{
		sink += key;
		MARK(mark_grow);
		sink--;
	}
};

__attribute__((noinline)) int insert(Table<int> &table, int key)
{
	table.grow(key);
	table.rebuild(key);
	return sink;
}
} // namespace store

int main(int argc, char **)
{
	store::Table<int> table;

	return store::insert(table, argc) == 99;
}
