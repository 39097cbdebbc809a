// Addresses taken, calls through pointers, and the edges between them.
typedef int handler(int, void *);
struct command { const char *name; handler *run; };
static int get(int a, void *p) { (void)p; return a; }
static int set(int a, void *p) { (void)p; return a + 1; }
static int old(a, p) int a; void *p; { (void)p; return a; }
static void *other(void *p) { return p; }
struct command table[] = { { "get", get }, { .name = "set", .run = &set } };
// expect address get how=initializer target=table arg=-1 count=1 `signature=int (int, void *)`
// expect address set how=initializer target=table count=1
int pthread_create(void *, void *, void *(*)(void *), void *);
void start(struct command *c)
{
	void *(*local)(void *);
	pthread_create(0, 0, other, c);
	// expect address other how=argument target=pthread_create arg=2
	c->run = old;
	// expect address old how=assignment target=c->run
	local = other;
	// expect address other how=assignment target=local
	get(1, c);
	// expect address get count=2
	c->run(1, c);
	// expect call start c->run kind=pointer wrappable=1 `signature=int (int, void *)` `text=c->run(1, c)`
	(*table[1].run)(1, c);
	// expect call start (*table[1].run) kind=pointer `text=(*table[1].run)(1, c)`
}
// expect edge start get
// expect edge start set
// expect edge start old
// expect edge start pthread_create
handler *pick(int n) { return n ? get : set; }
// expect address get how=other target=return
// expect function pick returns=__auto_type kind=scalar
/* SPDX-License-Identifier: GPL-3.0-or-later */
