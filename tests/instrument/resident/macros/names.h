/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As jemalloc does it: each function has a name of the library's own behind the one that sources use, for one set of
 * objects; the same sources make another set without. */
#ifndef BARE_NAMES
#define START(name) own_##name
#else
#define START(name) bare_##name
#endif
#define allocate START(allocate)
#define release START(release)
#define refill START(refill)
#define grow START(grow)
#define walk START(walk)
#define dispatch START(dispatch)
#define compare START(compare)
#define first_of START(first_of)
#define average START(average)
#define work START(work)
#define in_library START(in_library)
#define keep START(keep)

struct pool {
	int n_free, n_refills;
};
struct both {
	long a, b, c;
};

int allocate(struct pool *p, int n);
void release(struct pool *p, int n);
int walk(int n, int (*visit)(int));
int dispatch(int op, int value);
struct both first_of(int n);
int in_library(int n);
const void *keep(void);
