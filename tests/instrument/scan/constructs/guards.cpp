// Locks that an object holds as long as it lives.
namespace std {
struct mutex { void lock(); void unlock(); };
template <class M> struct lock_guard { explicit lock_guard(M &m) : m(m) { m.lock(); } ~lock_guard() { m.unlock(); } M &m; };
}
void wake();
struct queue {
  std::mutex m;
  int number;
  int other;
  void put(int n) {
    {
      std::lock_guard<std::mutex> hold(m);
      number = n;
      wake();
    }
    other = n;
    wake();
  }
  // expect guarded queue::put store queue.number state=locked value=n
  // expect guarded queue::put store queue.other state=entry value=n
  // expect guarded queue::put call wake count=1
  int get() {
    std::lock_guard<std::mutex> hold(m);
    return number;
  }
  // expect guarded queue::get load queue.number state=locked value=return
  void explicitly(int n) {
    m.lock();
    number = n;
    m.unlock();
  }
  // expect guarded queue::explicitly store queue.number state=locked
};
/* SPDX-License-Identifier: GPL-3.0-or-later */
