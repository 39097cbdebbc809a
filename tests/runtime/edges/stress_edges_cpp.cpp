/* SPDX-License-Identifier: GPL-3.0-or-later */
// The C++ library's ways to wait, as programs of stress_edges.
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "annotate/vprof.h"
#include "tests/runtime/edges/stress_edges.h"

static std::mutex mutex;
static std::shared_mutex shared_mutex;
static std::condition_variable condition;
static int last, generation, n_waiting, turns[1024];

void edge_cpp_mutex(struct edge_shared *s, int me)
{
	edge_object(mutex.native_handle());
	for (int i = 0; i < s->n_rounds; i++) {
		std::lock_guard<std::mutex> guard(mutex);
		edge_truth(static_cast<uint64_t>(last));
		last = me;
		edge_hold(i);
	}
}

void edge_cpp_shared_mutex(struct edge_shared *s, int me)
{
	edge_object(&shared_mutex);
	for (int i = 0; i < s->n_rounds; i++) {
		if (edge_random() % 3 == 0) {
			std::unique_lock<std::shared_mutex> guard(shared_mutex);
			edge_truth(s->readers ? s->readers | EDGE_SET : static_cast<uint64_t>(last));
			s->readers = 0;
			last = me;
			edge_hold(i);
		} else {
			std::shared_lock<std::shared_mutex> guard(shared_mutex);
			edge_truth(static_cast<uint64_t>(last));
			__atomic_or_fetch(&s->readers, UINT64_C(1) << me, __ATOMIC_SEQ_CST);
			edge_hold(i);
		}
	}
}

void edge_cpp_condition(struct edge_shared *s, int me)
{
	edge_object(condition.native_handle());
	for (int i = 0; i < s->n_rounds; i++) {
		std::unique_lock<std::mutex> lock(mutex);
		int mine = generation;

		if (++n_waiting == s->n_threads) {
			n_waiting = 0;
			turns[mine % 1024] = me;
			generation++;
			condition.notify_all();
		} else {
			condition.wait(lock, [&] { return generation != mine; });
			edge_truth(static_cast<uint64_t>(turns[mine % 1024]));
		}
	}
}

static int next_number = 1000;

// The futex that get() waits on lies in the shared state, so any wait in the round counts.
void edge_cpp_future(struct edge_shared *s, int)
{
	for (int i = 0; i < s->n_rounds; i++) {
		int number = __atomic_add_fetch(&next_number, 1, __ATOMIC_RELAXED);
		std::promise<int> promise;
		std::future<int> future = promise.get_future();
		std::thread thread([&] {
			vprof_work("me", number);
			edge_hold(0);
			promise.set_value(number);
		});

		edge_object(nullptr);
		edge_truth(0);
		number = future.get();
		edge_truth(static_cast<uint64_t>(number));
		thread.join();
	}
}

void edge_cpp_thread(struct edge_shared *s, int)
{
	for (int i = 0; i < s->n_rounds; i++) {
		int number = __atomic_add_fetch(&next_number, 1, __ATOMIC_RELAXED);
		std::thread thread([number] {
			vprof_work("me", number);
			edge_hold(0);
		});

		edge_object(reinterpret_cast<void *>(thread.native_handle()));
		thread.join();
		edge_truth(static_cast<uint64_t>(number));
	}
}
