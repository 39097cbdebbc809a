/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first 5,000 digits of pi, 3 1 4 1 5 ..., which NIST certifies as the set PiDigits. */
#ifndef PI_DIGITS_H
#define PI_DIGITS_H

#include <stdlib.h>

#define PI_DIGITS 5000

/* The spigot of Rabinowitz and Wagon (American Mathematical Monthly 102, 1995); a few digits more than wanted, since
 * the last ones may still change. */
static inline void pi_digits(double *digits)
{
	const int wanted = PI_DIGITS + 10, length = wanted * 10 / 3 + 1;
	int *a = malloc((size_t)length * sizeof *a), n = -1, nines = 0, held = 0;

	for (int i = 0; i < length && a; i++)
		a[i] = 2;
	for (int j = 0; j < wanted && a; j++) {
		int q = 0;

		for (int i = length; i > 0; i--) {
			int x = 10 * a[i - 1] + q * i;

			a[i - 1] = x % (2 * i - 1);
			q = x / (2 * i - 1);
		}
		a[0] = q % 10;
		q /= 10;
		if (q == 9) {
			nines++;
			continue;
		}
		for (int k = -1; k < nines; k++, n++) {
			int digit = k < 0 ? held + q / 10 : q == 10 ? 0 : 9;

			if (n >= 0 && n < PI_DIGITS)
				digits[n] = digit;
		}
		held = q % 10;
		nines = 0;
	}
	free(a);
}

#endif
