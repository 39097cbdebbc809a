/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An atomic pointer: exchanged in, exchanged out. */
#include "flow_case.h"

static struct item *_Atomic box;

static NOINLINE void mail(struct item *item)
{
	struct item *empty = NULL;

	while (!atomic_compare_exchange_strong(&box, &empty, item)) {
		empty = NULL;
		usleep(10);
	}
}

static NOINLINE struct item *collect(void)
{
	struct item *item;

	while (!(item = atomic_exchange(&box, NULL)))
		usleep(10);
	return item;
}

int main(void)
{
	pass_all(mail, collect);
	truth("mail", "collect", N_ITEMS);
	return checked(N_ITEMS);
}
