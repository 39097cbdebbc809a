// What is stored and read under a lock, by the control-flow graph: branches that unlock, callees under the caller's lock.
typedef struct { int state; } mutex;
void mutex_lock(mutex *m);
void mutex_unlock(mutex *m);
void wake(void);
unsigned long strlen(const char *);
struct item { struct item *next; long value; };
static mutex lock;
static int number, early, slots[8], head;
static const char *text;
static struct item *copied;
void hand_over(int n, const char *t, struct item *item)
{
	mutex_lock(&lock);
	number = n;
	text = t;
	copied = item;
	mutex_unlock(&lock);
}
// expect guarded hand_over store number state=locked type=number value=n
// expect guarded hand_over store text state=locked type=text value=t
// expect guarded hand_over store copied state=locked type=pointer value=item
long take_over(int *n, unsigned long *length)
{
	long value;
	const char *t;
	mutex_lock(&lock);
	*n = number;
	t = text;
	value = copied->value;
	mutex_unlock(&lock);
	*length = strlen(t);
	return value;
}
// expect guarded take_over load number state=locked type=number value=param:n
// expect guarded take_over load text state=locked type=text value=after:t
// expect guarded take_over copy copied->value state=locked type=number value=return
int branch(int n, int is_early)
{
	mutex_lock(&lock);
	if (is_early) {
		mutex_unlock(&lock);
		early = n;
		return 0;
	}
	number = n;
	wake();
	mutex_unlock(&lock);
	wake();
	return 1;
}
// expect guarded branch store number state=locked value=n
// expect guarded branch store early state=entry value=n
// expect guarded branch call wake count=1 state=locked
static void beneath(int n) { slots[head++ % 8] = n; }
// expect guarded beneath store slots state=entry type=number value=n
void above(int n)
{
	mutex_lock(&lock);
	beneath(n);
	mutex_unlock(&lock);
}
// expect guarded above call beneath state=locked
static int inside(void)
{
	int n = slots[0];
	mutex_unlock(&lock);
	wake();
	early = n;
	mutex_lock(&lock);
	return n;
}
// expect guarded inside call wake count=0
void loop(int n)
{
	for (int i = 0; i < n; i++) {
		mutex_lock(&lock);
		number = i;
		mutex_unlock(&lock);
	}
	number = 3;
}
// expect guarded loop store number count=0
int counter(int by) { mutex_lock(&lock); head += by; mutex_unlock(&lock); return inside(); }
// expect guarded counter store head count=0
void block(int n) { early = n; }
// expect guarded block store early state=entry
/* SPDX-License-Identifier: GPL-3.0-or-later */
