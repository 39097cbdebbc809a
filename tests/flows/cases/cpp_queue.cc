/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queues of the standard library: of unique_ptr, and of std::function. */
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace
{
constexpr unsigned n_items = 600;

struct Item {
	unsigned long value;
	explicit Item(unsigned long v) : value(v)
	{
	}
};

template <typename T> class Queue
{
	std::mutex lock;
	std::condition_variable filled;
	std::deque<T> items;

      public:
	__attribute__((noinline)) void push(T item)
	{
		std::lock_guard<std::mutex> guard(lock);
		items.push_back(std::move(item));
		filled.notify_one();
	}
	__attribute__((noinline)) T pop()
	{
		std::unique_lock<std::mutex> guard(lock);
		filled.wait(guard, [this] { return !items.empty(); });
		T item = std::move(items.front());
		items.pop_front();
		return item;
	}
};

Queue<std::unique_ptr<Item>> items;
Queue<std::function<void()>> functions;
unsigned long sum, calls;
} // namespace

int main()
{
	std::thread a([] {
		for (unsigned i = 0; i < n_items; i++)
			sum += items.pop()->value;
	});
	for (unsigned i = 1; i <= n_items; i++)
		items.push(std::make_unique<Item>(i));
	a.join();
	std::printf("truth " CASE " Queue<std::unique_ptr::push Queue<std::unique_ptr::pop %u\n", n_items);
	std::thread b([] {
		for (unsigned i = 0; i < n_items; i++)
			functions.pop()();
	});
	for (unsigned i = 1; i <= n_items; i++)
		functions.push([i, a = i * 2UL, b = i * 3UL, c = i * 4UL] { calls += i + a + b + c; });
	b.join();
	std::printf("truth " CASE " Queue<std::function::push Queue<std::function::pop %u\n", n_items);
	return sum != n_items * (n_items + 1UL) / 2 || calls != 10 * (n_items * (n_items + 1UL) / 2);
}
