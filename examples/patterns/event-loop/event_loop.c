/* One thread, many connections. A request takes two turns of the loop: its head is read in one, it is answered in a later one.
 * Between them the loop does other things; now and then it sweeps its cache, and all requests under way stand still. */
#include <stdio.h>
#include <time.h>

#define N_CONNECTIONS 8
#define N_TURNS 1500

struct connection {
	int id;
	int has_head;
};

static struct connection connections[N_CONNECTIONS];
static volatile unsigned sink;
static int n_served;

static void spin(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink = sink * 31 + (unsigned)i;
}

static void on_head(struct connection *c)
{
	spin(1000);
	c->has_head = 1;
}

static void on_body(struct connection *c)
{
	spin(2000);
	c->has_head = 0;
	n_served++;
}

static void sweep_cache(void)
{
	struct timespec disk = { 0, 20000000 };

	nanosleep(&disk, NULL);
}

static void on_timer(int turn)
{
	if (turn % 50 == 0)
		sweep_cache();
}

static void run_loop(void)
{
	for (int turn = 1; turn <= N_TURNS; turn++) {
		struct connection *c = &connections[turn % N_CONNECTIONS];

		if (c->has_head)
			on_body(c);
		else
			on_head(c);
		on_timer(turn);
	}
}

int main(void)
{
	for (int i = 0; i < N_CONNECTIONS; i++)
		connections[i].id = i;
	run_loop();
	printf("served %d\n", n_served);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
