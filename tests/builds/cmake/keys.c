/* Another source of the unity build. */
#include "service.h"

int key_of(int number);

int key_of(int number)
{
	return number * 7;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
