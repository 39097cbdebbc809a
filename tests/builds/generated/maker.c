/* Writes serve.c's functions, as a generator of parsers would. */
#include <stdio.h>

int main(void)
{
	puts("#include \"service.h\"\n"
	     "static void parse(struct request *r)\n{\n\tr->key = r->number * 7;\n}\n"
	     "static void answer(struct request *r)\n{\n\tr->result = mix(store_lookup(r->key), (unsigned)r->number);\n}\n"
	     "void serve(struct request *r)\n{\n\tparse(r);\n\tanswer(r);\n}");
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
