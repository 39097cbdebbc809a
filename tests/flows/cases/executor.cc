/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An executor: tasks are std::function objects in a list, which two threads take and call. A task's state lies on the
 * heap, in the std::function itself, or is shared by all tasks, so that its count changes on both sides. */
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

constexpr unsigned n_items = 600;
constexpr unsigned n_workers = 2;

struct Total {
	std::mutex lock;
	unsigned long sum = 0;

	void add(unsigned long value)
	{
		std::lock_guard<std::mutex> guard(lock);
		sum += value;
	}
};

template <int kind> class Executor
{
	std::mutex lock;
	std::condition_variable filled;
	std::list<std::function<void()>> tasks;
	bool closed = false;
	std::vector<std::thread> workers;

	__attribute__((noinline)) std::function<void()> take()
	{
		std::unique_lock<std::mutex> guard(lock);
		filled.wait(guard, [this] { return closed || !tasks.empty(); });
		if (tasks.empty())
			return nullptr;
		std::function<void()> task = std::move(tasks.front());
		tasks.pop_front();
		return task;
	}
	void work()
	{
		while (auto task = take())
			task();
	}

      public:
	Executor()
	{
		for (unsigned i = 0; i < n_workers; i++)
			workers.emplace_back([this] { work(); });
	}
	__attribute__((noinline)) void post(std::function<void()> task)
	{
		std::lock_guard<std::mutex> guard(lock);
		tasks.push_back(std::move(task));
		filled.notify_one();
	}
	void close()
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			closed = true;
		}
		filled.notify_all();
		for (auto &worker : workers)
			worker.join();
	}
};

struct Item {
	unsigned long value;
	Total *total;
};

int main()
{
	Total total;
	auto shared = std::make_shared<Total>();
	unsigned long all = n_items * (n_items + 1UL) / 2;
	Executor<1> on_heap;
	Executor<2> inside;
	Executor<3> counted;

	for (unsigned i = 1; i <= n_items; i++)
		on_heap.post([value = std::make_unique<unsigned long>(i).release(), i, &total] {
			total.add(*value + i);
			delete value;
		});
	on_heap.close();
	std::printf("truth " CASE " Executor<1>::post Executor<1>::take %u\n", n_items);
	for (unsigned i = 1; i <= n_items; i++)
		inside.post([item = new Item{ i, &total }] {
			item->total->add(item->value);
			delete item;
		});
	inside.close();
	std::printf("truth " CASE " Executor<2>::post Executor<2>::take %u\n", n_items);
	for (unsigned i = 1; i <= n_items; i++)
		counted.post([shared, i] { shared->add(i); });
	counted.close();
	std::printf("truth " CASE " Executor<3>::post Executor<3>::take %u\n", n_items);
	return total.sum != 3 * all || shared->sum != all;
}
