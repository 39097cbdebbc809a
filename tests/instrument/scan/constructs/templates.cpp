// A template is recorded once; its instantiations tell whom it calls.
struct A { int go() { return 1; } };
struct B { int go() { return 2; } };
int helper(int);
template <typename T> int run(T t) { return t.go() + helper(1); }
// expect function run count=1 reason=
// expect call run go count=2 kind=direct text=t.go()
// expect edge run A::go
// expect edge run B::go
// expect call run helper form=value count=1
template <typename T> int never(T t) { return t.missing(); }
// expect call never missing count=1 reason=template
template <typename T> struct Box {
  T value;
  int open() { return value.go(); }
};
// expect function open count=1
// expect edge Box::open A::go
int main() { Box<A> box; return run(A()) + run(B()) + box.open(); }
// expect edge main run
// expect edge main Box::open
constexpr int square(int a) { return a * a; }
// expect function square reason=constexpr
/* SPDX-License-Identifier: GPL-3.0-or-later */
