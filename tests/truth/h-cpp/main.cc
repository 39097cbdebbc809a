/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog.h"

#include <cstdio>

using catalog::Request;

static const char *const names[catalog::N_FACTORS] = { "rebuild", "parse", "probe", "recover", "render" };

static Request make_request(uint64_t id, uint64_t *random)
{
	Request r;
	uint32_t fate = plant_uniform(random, 0, 10);

	r.id = id;
	r.cached = fate < 2;
	r.missing = fate == 2;
	r.ns[catalog::REBUILD] = plant_uniform(random, 100000, 2100000);
	r.ns[catalog::PARSE] = plant_uniform(random, 50000, 850000);
	r.ns[catalog::PROBE] = plant_uniform(random, 20000, 420000);
	r.ns[catalog::RECOVER] = plant_uniform(random, 50000, 150000);
	r.ns[catalog::RENDER] = plant_uniform(random, 50000, 650000);
	return r;
}

static uint64_t serve(catalog::Service &service, Request &r)
{
	uint64_t begin;

	vprof_begin("request", r.id);
	begin = PLANT_NOW();
	service.handle(r);
	begin = PLANT_NOW() - begin;
	vprof_end("request", r.id);
	return begin;
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1000);
	struct truth_answer answer = {};
	catalog::Service service;
	struct truth truth;

	truth_open(&truth, catalog::N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		Request r = make_request(i + 1, &o.random);
		uint64_t latency = serve(service, r);

		truth_add(&truth, latency, r.took);
	}
	if (!service.idle()) {
		std::fputs("a guard was not released\n", stderr);
		return 1;
	}
	answer.a = "rebuild";
	answer.share = truth_share(&truth, catalog::REBUILD);
	return truth_write(&truth, &answer);
}
