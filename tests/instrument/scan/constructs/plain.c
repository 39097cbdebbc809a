// The common case: functions, calls, loops, returns.
#include <string.h>
#include <unistd.h>
static int twice(int a) { return a + a; }
// expect function twice reason= static=1 tiny=0 kind=scalar returns=int `signature=int (int)` after={ exits=1 editable=1
static inline int one(void) { return 1; }
// expect function one tiny=1 `signature=int (void)`
int work(char *to, const char *from, size_t n)
{
	// expect function work reason= static=0 exits=2 editable=2
	int sum = twice(3) + one();
	// expect call work twice kind=direct wrappable=1 loop=0 `text=twice(3)` args=["3"]
	for (size_t i = twice(0); i < strlen(from); i++)
		memcpy(to + i, from + i, 1);
	// expect call work twice loop=0 `text=twice(0)`
	// expect call work strlen loop=1 wrappable=1
	// expect call work memcpy loop=1 `text=memcpy(to + i, from + i, 1)` `args=["to + i","from + i","1"]`
	while (n--)
		fdatasync((int)n);
	// expect call work fdatasync loop=1 wrappable=1
	// expect edge work twice
	// expect edge work fdatasync
	if (sum > 3)
		return sum;
	return /* why */ 0 ;
}
void none(void) { return; }
// expect function none kind=void returns=void exits=1 editable=1
void only_declared(void);
// expect function only_declared count=0
/* SPDX-License-Identifier: GPL-3.0-or-later */
