// Lambdas are functions; what they are given to may call them.
#include <functional>
#include <thread>
int work(int);
int later(int n) { return n; }
void start(std::function<int(int)> call) { call(3); }
// expect call start call kind=pointer `signature=int (int)` form=value
int main() {
  auto local = [](int a) { return work(a); };
  // expect function operator() `display=main::(lambda)` `signature=int (int)` exits=1
  // expect call operator() work form=value
  start(local);
  start([](int b) { return later(b); });
  // expect address operator() how=argument target=start arg=0 count=2
  start(later);
  // expect address later how=argument target=start
  // expect edge start later
  std::thread t([] { work(9); });
  // expect address operator() how=argument target=std::thread
  // expect function operator() count=3
  t.join();
  return local(1);
}
// expect function main exits=1
/* SPDX-License-Identifier: GPL-3.0-or-later */
