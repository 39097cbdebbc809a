/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The load for SQLite: threads with a connection each write to one database in WAL mode, one transaction after the
 * other.
 *
 *   transactions DATABASE THREADS COUNT [PRAGMA...]     COUNT transactions each, after `PRAGMA ...` of each argument
 *
 * Prints "n mean-us sd-us max-us" of all transactions. The last may be "turns" instead: the threads take turns at a
 * mutex and never meet in SQLite's busy handler; or "short": a busy handler of the program's own sleeps 0.2 ms, each
 * time.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sqlite3.h"

#define ACCOUNTS 20000

struct client {
	sqlite3 *db;
	sqlite3_stmt *begin, *update, *insert, *commit;
	unsigned seed;
	int count;
	double *us; /* [count] */
};

static const char *file;
static char **pragmas;
static int n_pragmas, turns, short_sleep;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void must(struct client *c, int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
		return;
	fprintf(stderr, "transactions: %s\n", c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(code));
	exit(1);
}

static void run(struct client *c, sqlite3_stmt *statement)
{
	must(c, sqlite3_step(statement));
	must(c, sqlite3_reset(statement));
}

/* Moves an amount between two accounts and notes it. */
static void run_transaction(struct client *c)
{
	int from = rand_r(&c->seed) % ACCOUNTS, to = rand_r(&c->seed) % ACCOUNTS, i;

	if (turns)
		pthread_mutex_lock(&turn);
	run(c, c->begin);
	for (i = 0; i < 2; i++) {
		sqlite3_bind_int(c->update, 1, i ? 1 : -1);
		sqlite3_bind_int(c->update, 2, i ? to : from);
		run(c, c->update);
	}
	sqlite3_bind_int(c->insert, 1, from);
	sqlite3_bind_int(c->insert, 2, to);
	run(c, c->insert);
	run(c, c->commit);
	if (turns)
		pthread_mutex_unlock(&turn);
}

static int sleep_shortly(void *arg, int n)
{
	(void)arg;
	(void)n;
	return !usleep(200);
}

static void open_client(struct client *c)
{
	char text[200];
	int i;

	must(c, sqlite3_open(file, &c->db));
	if (short_sleep)
		sqlite3_busy_handler(c->db, sleep_shortly, NULL);
	else
		sqlite3_busy_timeout(c->db, 60000);
	must(c, sqlite3_exec(c->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL));
	for (i = 0; i < n_pragmas; i++) {
		snprintf(text, sizeof text, "PRAGMA %s", pragmas[i]);
		must(c, sqlite3_exec(c->db, text, NULL, NULL, NULL));
	}
}

static void fill(struct client *c)
{
	must(c, sqlite3_exec(c->db,
			     "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER, filler TEXT);"
			     "CREATE TABLE history(source INTEGER, target INTEGER, at TEXT DEFAULT CURRENT_TIMESTAMP);"
			     "CREATE INDEX history_source ON history(source);"
			     "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)"
			     "INSERT INTO account SELECT i, 0, hex(zeroblob(40)) FROM n;",
			     NULL, NULL, NULL));
}

static void *run_client(void *arg)
{
	struct client *c = arg;
	struct timespec from, to;
	int i;

	must(c, sqlite3_prepare_v2(c->db, "BEGIN IMMEDIATE", -1, &c->begin, NULL));
	must(c,
	     sqlite3_prepare_v2(c->db, "UPDATE account SET balance = balance + ? WHERE id = ?", -1, &c->update, NULL));
	must(c, sqlite3_prepare_v2(c->db, "INSERT INTO history(source, target) VALUES(?, ?)", -1, &c->insert, NULL));
	must(c, sqlite3_prepare_v2(c->db, "COMMIT", -1, &c->commit, NULL));
	for (i = 0; i < c->count; i++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		run_transaction(c);
		clock_gettime(CLOCK_MONOTONIC, &to);
		c->us[i] = 1e6 * (double)(to.tv_sec - from.tv_sec) + 1e-3 * (double)(to.tv_nsec - from.tv_nsec);
	}
	return NULL;
}

static void print_figures(const struct client *clients, int n)
{
	double mean = 0, squares = 0, max = 0;
	long seen = 0;
	int i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < clients[i].count; j++) {
			double x = clients[i].us[j], before = x - mean;

			mean += before / (double)++seen;
			squares += before * (x - mean);
			max = x > max ? x : max;
		}
	}
	printf("%ld %.1f %.1f %.0f\n", seen, mean, sqrt(squares / (double)(seen - 1)), max);
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[2]) : 0, count = argc > 3 ? atoi(argv[3]) : 0, i;
	struct client *clients = n > 0 && count > 1 ? calloc((size_t)n, sizeof *clients) : NULL;
	pthread_t *threads = n > 0 ? calloc((size_t)n, sizeof *threads) : NULL;

	if (!clients || !threads) {
		fprintf(stderr, "usage: transactions DATABASE THREADS COUNT [PRAGMA...]\n");
		return 2;
	}
	file = argv[1];
	turns = argc > 4 && !strcmp(argv[argc - 1], "turns");
	short_sleep = argc > 4 && !strcmp(argv[argc - 1], "short");
	pragmas = argv + 4;
	n_pragmas = argc - 4 - turns - short_sleep;
	for (i = 0; i < n; i++) {
		clients[i].seed = (unsigned)i + 1;
		clients[i].count = count;
		clients[i].us = calloc((size_t)count, sizeof *clients[i].us);
		if (!clients[i].us)
			return 1;
		open_client(&clients[i]);
		if (!i)
			fill(&clients[i]);
	}
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run_client, &clients[i]);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	print_figures(clients, n);
	for (i = 0; i < n; i++) {
		sqlite3_finalize(clients[i].begin);
		sqlite3_finalize(clients[i].update);
		sqlite3_finalize(clients[i].insert);
		sqlite3_finalize(clients[i].commit);
		sqlite3_close(clients[i].db);
		free(clients[i].us);
	}
	free(clients);
	free(threads);
	return 0;
}
