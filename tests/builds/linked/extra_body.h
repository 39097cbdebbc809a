int extra(void);

int extra(void)
{
	return 1;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
