/* The service that every project here builds in its own way: requests that look keys up in a store. */
#ifndef SERVICE_H
#define SERVICE_H

#ifdef __cplusplus
extern "C" {
#endif

struct request {
	int number, key;
	unsigned result;
};

void serve(struct request *r);
unsigned store_lookup(int key);
const char *store_origin(void);

static inline unsigned mix(unsigned hash, unsigned value)
{
	return (hash ^ value) * 16777619u;
}

#ifdef __cplusplus
}
#endif

#endif
/* SPDX-License-Identifier: GPL-3.0-or-later */
