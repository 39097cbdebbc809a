#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server.h"

const char *const command_names[] = {"PUT", "GET", "SUM", "bad"};

void parse_request(struct request *r, const char *line)
{
	char rest;

	memset(r, 0, sizeof *r);
	if (sscanf(line, "PUT %" SCNu32 " %" SCNu32 " %" SCNu32 " %c", &r->first, &r->quantity, &r->price, &rest) == 3)
		r->command = COMMAND_PUT;
	else if (sscanf(line, "GET %" SCNu32 " %c", &r->first, &rest) == 1)
		r->command = COMMAND_GET;
	else if (sscanf(line, "SUM %" SCNu32 " %" SCNu32 " %c", &r->first, &r->last, &rest) == 2)
		r->command = COMMAND_SUM;
	else
		r->command = COMMAND_BAD;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
