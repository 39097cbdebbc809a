// Function-try-blocks, early returns, throw, range-for over a project's container.
#include <unistd.h>
struct List { int *begin(); int *end(); };
int risky(int a) {
  if (a > 3)
    throw a;
  return a;
}
// expect function risky exits=1 editable=1
int guarded(int a) try { return risky(a); } catch (int) { return -1; }
// expect function guarded reason= `after=try {` exits=2
int walk(List &l) {
  for (int i : l)
    fsync(i);
  // expect call walk fsync loop=1 wrappable=1 text=fsync(i)
  // expect call walk begin text= loop=0
  return 0;
}
int consumes(const int &);
extern "C" int close_all(int, const char *);
int temporaries() {
  close_all(1, "x");
  // expect call temporaries close_all wrappable=1
  return consumes(3);
  // expect call temporaries consumes wrappable=1 form=value
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
