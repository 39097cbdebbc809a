/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_run FOLDER N MISS_NS [SEED]: a run (FOLDER/trace, FOLDER/plan.json) of the fixture server, with times that are known: N requests,
 * one in eight a miss, in which fetch sleeps for MISS_NS and up to half as much again. So a case can say which factor must come
 * first, and by how much one run is slower than another, whatever this machine is doing. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analysis/hand_trace.h"
#include "common/files.h"

enum { SERVE = 1, PARSE, LOOKUP, FETCH, SPIN, N_FUNCTIONS };

static const struct function {
	const char *name;
	int line;
	unsigned height, n_children;
} functions[N_FUNCTIONS] = {
	[SERVE] = { "serve", 44, 3, 2 }, [PARSE] = { "parse", 19, 1, 1 }, [LOOKUP] = { "lookup", 33, 2, 2 },
	[FETCH] = { "fetch", 25, 1, 1 }, [SPIN] = { "spin", 13, 0, 0 },
};

static struct vprof_plan *make_plan(const char *root)
{
	struct vprof_plan *plan = vprof_plan_new(root);

	assert_non_null(plan);
	plan->graph_height = 4;
	for (uint32_t f = SERVE; f < N_FUNCTIONS; f++)
		assert_int_equal(vprof_plan_add(plan, &(struct vprof_probe){ .code = F(f),
									     .kind = VPROF_PROBE_FUNCTION,
									     .fact_id = f,
									     .mask = VPROF_MASK_ANY,
									     .context = VPROF_CONTEXT_FIRST + (int)f,
									     .broken_down = functions[f].n_children > 0,
									     .height = functions[f].height,
									     .n_children = functions[f].n_children,
									     .name = functions[f].name,
									     .display = functions[f].name,
									     .file = "server.c",
									     .line = functions[f].line,
									     .caller = "" }),
				 0);
	return plan;
}

/* spin(rounds) by one function: 2 ns a round and up to a tenth more. */
static uint64_t spin(struct hand_thread *th, uint64_t t, uint64_t rounds, uint64_t *random)
{
	uint64_t end = t + 2 * rounds + hand_random(random) % (rounds / 5);

	hand_work(th, "rounds", (int64_t)rounds, t + 1);
	hand_call(th, F(SPIN), t + 1, end);
	return end + 5;
}

static uint64_t request(struct hand_thread *th, uint64_t t, uint64_t number, uint64_t miss_ns, uint64_t *random)
{
	uint64_t begin = t, at, from;
	int is_miss = number % 8 == 0;

	hand_mark(th, VP_KIND_BEGIN, number, t);
	hand_type(th, is_miss ? "miss" : "hit", t);
	at = spin(th, t + 10, 2000 + number % 5 * 100, random);
	hand_call(th, F(PARSE), t + 8, at);
	from = at + 4;
	at += 8;
	if (is_miss) {
		uint64_t sleep = miss_ns + miss_ns / 4 * (number / 8 % 3);

		hand_wait(th, VP_WAIT_SLEEP, VP_CALL_NANOSLEEP, 0, 0, at + 10, at + 10 + sleep);
		hand_call(th, F(FETCH), at, at + 20 + sleep);
		at += 25 + sleep;
	}
	at = spin(th, at, 1000, random);
	hand_call(th, F(LOOKUP), from, at);
	hand_work(th, "misses", is_miss, at + 1);
	hand_call(th, F(SERVE), begin, at + 10);
	hand_mark(th, VP_KIND_END, number, at + 10);
	return at + 500;
}

int main(int argc, char **argv)
{
	struct vprof_error err = { "" };
	uint64_t t = 1000, random = 7;
	struct vprof_plan *plan;
	struct hand_trace h;
	char *path;

	if (argc != 4 && argc != 5)
		return 2;
	if (argc == 5)
		random += strtoull(argv[4], NULL, 10);
	memset(&h, 0, sizeof h);
	snprintf(h.dir, sizeof h.dir, "%s/trace", argv[1]);
	hand_thread(&h, 1);
	for (long i = 0; i < atol(argv[2]); i++)
		t = request(&h.threads[0], t, (uint64_t)i, strtoull(argv[3], NULL, 10), &random);
	h.end = t;
	hand_write(&h);
	path = vprof_path_join(argv[1], "plan.json");
	plan = make_plan("");
	if (vprof_plan_write(plan, path, &err))
		fail_msg("%s", err.message);
	vprof_plan_free(plan);
	free(path);
	return 0;
}
