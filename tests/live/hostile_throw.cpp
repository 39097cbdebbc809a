/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that an exception leaves. */
#include "tests/live/hostile_target.h"

static int n_destroyed, n_returned;

struct counted {
	~counted()
	{
		n_destroyed++;
	}
};

#define APART __attribute__((noinline, noclone))

static APART void throw_leaf(int n)
{
	VP_LIVE_FUNCTION(THROW_LEAF)
	if (n)
		throw n;
	n_returned++;
}

static APART void throw_inner(int n)
{
	VP_LIVE_FUNCTION(THROW_INNER)
	counted c;
	throw_leaf(n);
	n_returned++;
}

static APART void throw_outer(int n)
{
	VP_LIVE_FUNCTION(THROW_OUTER)
	counted c;
	throw_inner(n);
	n_returned++;
}

int hostile_throw(void)
{
	int caught = 0;

	n_destroyed = n_returned = 0;
	try {
		throw_outer(5);
	} catch (int n) {
		caught = n;
	}
	throw_outer(0);
	return caught * 100 + n_destroyed * 10 + n_returned;
}
