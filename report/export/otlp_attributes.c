/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/export/otlp_attributes.h"

#include <inttypes.h>

#include "report/export/put_text.h"

void vprof_otlp_text(FILE *to, const char *key, const char *value, int is_first)
{
	fprintf(to, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", is_first ? "" : ",", key);
	vprof_put_json(to, value);
	fputs("}}", to);
}

void vprof_otlp_count(FILE *to, const char *key, uint64_t value, int is_first)
{
	fprintf(to, "%s{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRId64 "\"}}", is_first ? "" : ",", key,
		(int64_t)value);
}

void vprof_otlp_number(FILE *to, const char *key, double value, int is_first)
{
	fprintf(to, "%s{\"key\":\"%s\",\"value\":{\"doubleValue\":%.17g}}", is_first ? "" : ",", key, value);
}
