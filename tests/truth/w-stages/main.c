/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stages.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 600);
	struct request *requests = calloc(o.n, sizeof *requests);
	int status;

	disk_log.stretches = calloc(o.n, sizeof *disk_log.stretches);
	if (!requests || !disk_log.stretches) {
		perror("requests");
		return 1;
	}
	disk_log.capacity = o.n;
	for (size_t i = 0; i < o.n; i++)
		requests[i] = (struct request){
			.id = i,
			.is_miss = plant_uniform(&o.random, 0, 3) == 0,
			.ns = { [SUBMIT] = plant_uniform(&o.random, 10000, 30000),
				[PARSE] = plant_uniform(&o.random, 50000, 250000),
				[CACHE] = plant_uniform(&o.random, 20000, 80000),
				[DISK] = plant_uniform(&o.random, 500000, 2500000),
				[SEND] = plant_uniform(&o.random, 30000, 130000) },
		};
	stage_start(&stages[PARSE], PARSE, handle_parse);
	stage_start(&stages[CACHE], CACHE, handle_cache);
	stage_start(&stages[DISK], DISK, handle_disk);
	stage_start(&stages[SEND], SEND, handle_send);
	for (size_t i = 0; i < o.n; i++) {
		plant_sleep_us(plant_uniform(&o.random, 100, 1500));
		requests[i].portions[SUBMIT].before = PLANT_NOW();
		submit_request(&requests[i]);
	}
	for (int i = PARSE; i <= SEND; i++)
		stage_finish(&stages[i]);
	status = account_write(requests, o.n);
	free(requests);
	free(disk_log.stretches);
	return status;
}
