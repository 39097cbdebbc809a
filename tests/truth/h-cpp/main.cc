/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog.h"

#include <cstdio>

using namespace catalog;

static const truth_column columns[N_FACTORS] = {
	{ "request", -1, 0 },	{ "handle", REQUEST, 0 }, { "parse", HANDLE, 0 },
	{ "find", HANDLE, 0 },	{ "render", HANDLE, 0 },  { "lookup", FIND, 0 },
	{ "recover", FIND, 0 }, { "probe", LOOKUP, 0 },	  { "rebuild", LOOKUP, TRUTH_PLANTED },
};

static Request make_request(uint64_t id, uint64_t *random)
{
	Request r;
	uint32_t fate = plant_uniform(random, 0, 10);

	r.id = id;
	r.cached = fate < 2;
	r.missing = fate == 2;
	r.ns[REBUILD] = plant_uniform(random, 100000, 2100000);
	r.ns[PARSE] = plant_uniform(random, 50000, 850000);
	r.ns[PROBE] = plant_uniform(random, 20000, 420000);
	r.ns[RECOVER] = plant_uniform(random, 50000, 150000);
	r.ns[RENDER] = plant_uniform(random, 50000, 650000);
	return r;
}

static void serve(Service &service, Request &r)
{
	uint64_t before = PLANT_NOW();

	vprof_begin("request", r.id);
	PLANT_CALL(r.took[HANDLE], service.handle(r));
	vprof_end("request", r.id);
	r.took[REQUEST] = { r.took[HANDLE].high, PLANT_NOW() - before };
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 400);
	struct truth_answer answer = {};
	Service service;
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		Request r = make_request(i + 1, &o.random);

		serve(service, r);
		truth_add(&truth, r.took);
	}
	if (!service.idle()) {
		std::fputs("a guard was not released\n", stderr);
		return 1;
	}
	return truth_write(&truth, &answer);
}
