/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A double times, or divided by, a power of ten that is a double itself, is the rounded product and what fma() leaves
 * of it: two doubles that together are exact, or known to 2^-100. So digits are rounded as the exact value says, unless
 * it lies so close to a tie that these two do not tell; that and what is very large or small is left to libc. */
#include "common/json/json_numbers.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POWER_MAX 22 /* 5^22 < 2^53 */
#define SURE 1e-9    /* of a digit's unit; the error is less than 1e-12 */
#define SHORT 15
#define LONG 17
#define DIGITS_READ 19 /* < 2^64 */

static const double powers[POWER_MAX + 1] = { 1e0,  1e1,  1e2,	1e3,  1e4,  1e5,  1e6,	1e7,  1e8,  1e9,  1e10, 1e11,
					      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

struct sum { /* of two doubles; |low| is at most half a unit of high's last bit */
	double high, low;
	int is_exact;
};

/* x times 10^power; 0: out of reach. */
static int scale(struct sum *s, double x, int power)
{
	double factor, first, rest;

	if (power < -POWER_MAX || power > 2 * POWER_MAX)
		return 0;
	s->is_exact = power >= 0 && power <= POWER_MAX;
	if (power < 0) {
		factor = powers[-power];
		s->high = x / factor;
		s->low = fma(-s->high, factor, x) / factor;
	} else if (s->is_exact) {
		factor = powers[power];
		s->high = x * factor;
		s->low = fma(x, factor, -s->high);
	} else {
		factor = powers[power - POWER_MAX];
		first = x * powers[POWER_MAX];
		rest = fma(x, powers[POWER_MAX], -first);
		s->high = first * factor;
		s->low = fma(first, factor, -s->high) + rest * factor;
		first = s->high + s->low;
		s->low -= first - s->high;
		s->high = first;
	}
	return 1;
}

/* Whether it is below the bound, a double: -1 yes, 0 it is the bound or above, 1 not known. */
static int compare(const struct sum *s, double bound)
{
	if (s->high == bound && !s->is_exact && fabs(s->low) < SURE)
		return 1;
	return s->high < bound || (s->high == bound && s->low < 0) ? -1 : 0;
}

/* The whole number nearest to it, a tie to the even one; 0: not known. */
static uint64_t round_sum(const struct sum *s)
{
	double whole = floor(s->high), part = s->high - whole, sum = part + s->low, other = sum - part;
	double left = (part - (sum - other)) + (s->low - other), down = floor(sum);
	int64_t n = (int64_t)whole + (int64_t)down;

	part = sum - down;
	if (fabs(part - 0.5) < SURE && !s->is_exact)
		return 0;
	if (part > 0.5 || (part == 0.5 && (left > 0 || (left == 0 && n % 2))))
		n++;
	return (uint64_t)n;
}

/* x > 0 as `n_digits` digits, of which the first stands for 10^exponent. 0: not known. */
static uint64_t digits_of(double x, int n_digits, int *exponent, struct sum *exact)
{
	double least = powers[n_digits - 1], most = powers[n_digits];
	int binary, power, below = 0, above = 0;
	uint64_t n;

	frexp(x, &binary);
	power = n_digits - 1 - (int)floor((binary - 1) * 0.30102999566398120);
	for (int i = 0; i < 3; i++) {
		if (!scale(exact, x, power))
			return 0;
		below = compare(exact, least);
		above = compare(exact, most);
		if (below > 0 || above > 0)
			return 0;
		if (below == 0 && above < 0)
			break;
		power += below ? 1 : -1;
	}
	n = below == 0 && above < 0 ? round_sum(exact) : 0;
	*exponent = n_digits - 1 - power;
	if (n == (uint64_t)most) {
		n /= 10;
		++*exponent;
	}
	return n;
}

static size_t print_whole(char *out, uint64_t n)
{
	char digits[20];
	size_t length = 0;

	do
		digits[length++] = (char)('0' + n % 10);
	while (n /= 10);
	for (size_t i = 0; i < length; i++)
		out[i] = digits[length - 1 - i];
	return length;
}

/* As %g prints them. */
static size_t print_digits(char *out, uint64_t n, int n_digits, int exponent)
{
	char digits[20], *to = out;
	int is_scientific = exponent < -4 || exponent >= n_digits, length = (int)print_whole(digits, n);
	int before = is_scientific ? 1 : exponent + 1; /* the point */

	while (length > 1 && digits[length - 1] == '0')
		length--;
	if (before <= 0) {
		*to++ = '0';
		*to++ = '.';
		for (int i = before; i < 0; i++)
			*to++ = '0';
		before = -1;
	}
	for (int i = 0; i < length || i < before; i++) {
		if (i == before)
			*to++ = '.';
		*to++ = i < length ? digits[i] : '0';
	}
	if (!is_scientific)
		return (size_t)(to - out);
	*to++ = 'e';
	*to++ = exponent < 0 ? '-' : '+';
	exponent = abs(exponent);
	if (exponent < 10)
		*to++ = '0';
	return (size_t)(to - out) + print_whole(to, (uint64_t)exponent);
}

/* Whether the 15 digits are read as x, or nearly: 0 no, -1 not known. */
static int is_enough(double x, uint64_t n, int exponent, const struct sum *exact)
{
	int power = SHORT - 1 - exponent;
	double back, rounded = (double)n;

	if (power >= -POWER_MAX && power <= POWER_MAX) {
		back = power < 0 ? (double)n * powers[-power] : (double)n / powers[power];
		return fabs(back - x) <= fmax(back, x) * DBL_EPSILON;
	}
	if (exact->high > 2 * rounded) /* to one digit more */
		rounded *= 10;
	return fabs((exact->high - rounded) + exact->low) > 2 * DBL_EPSILON * exact->high ? 0 : -1;
}

static size_t print_by_libc(char *out, double x)
{
	char text[VPROF_JSON_NUMBER_BYTES];
	int n = snprintf(text, sizeof text, "%1.15g", x);
	double back = strtod(text, NULL);

	if (!(fabs(back - x) <= fmax(fabs(back), fabs(x)) * DBL_EPSILON))
		n = snprintf(text, sizeof text, "%1.17g", x);
	memcpy(out, text, (size_t)n);
	return (size_t)n;
}

size_t vprof_json_number_print(char out[VPROF_JSON_NUMBER_BYTES], double x)
{
	int exponent = 0, is_short, n_digits = SHORT, is_negative = signbit(x) != 0;
	double size = fabs(x);
	struct sum exact;
	uint64_t n;

	*out = '-';
	if (size < 1e15 && size == (double)(int64_t)size)
		return (size_t)is_negative + print_whole(out + is_negative, (uint64_t)size);
	n = digits_of(size, SHORT, &exponent, &exact);
	is_short = n ? is_enough(size, n, exponent, &exact) : -1;
	if (!is_short) {
		n_digits = LONG;
		n = digits_of(size, LONG, &exponent, &exact);
	}
	if (!n || is_short < 0)
		return print_by_libc(out, x);
	return (size_t)is_negative + print_digits(out + is_negative, n, n_digits, exponent);
}

void vprof_json_add_double(struct vprof_text *t, double x)
{
	char number[VPROF_JSON_NUMBER_BYTES];

	if (isfinite(x))
		vprof_text_append(t, number, vprof_json_number_print(number, x));
	else
		vprof_text_append(t, "null", 4);
}

static void add_escaped(struct vprof_text *t, unsigned char c)
{
	static const char names[][2] = {
		['\b'] = { '\\', 'b' }, ['\t'] = { '\\', 't' }, ['\n'] = { '\\', 'n' }, ['\f'] = { '\\', 'f' },
		['\r'] = { '\\', 'r' }, ['"'] = { '\\', '"' },	['\\'] = { '\\', '\\' }
	};

	if (c < sizeof names / sizeof *names && names[c][0])
		vprof_text_append(t, names[c], 2);
	else
		vprof_text_addf(t, "\\u%04x", c);
}

void vprof_json_add_quoted(struct vprof_text *t, const char *s)
{
	const char *from = s ? s : "", *at;

	vprof_text_append(t, "\"", 1);
	for (at = from; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '"' || *at == '\\') {
			vprof_text_append(t, from, (size_t)(at - from));
			add_escaped(t, (unsigned char)*at);
			from = at + 1;
		}
	vprof_text_append(t, from, (size_t)(at - from));
	vprof_text_append(t, "\"", 1);
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* n times 10^exponent, rounded once; 0: not known. */
static int compose(uint64_t n, int exponent, double *x)
{
	double high = (double)n, low, first, rest;

	if (exponent < -POWER_MAX || exponent > POWER_MAX)
		return 0;
	low = (double)(int64_t)(n - (uint64_t)high); /* n < 10^19 */
	if (exponent < 0) {
		first = high / powers[-exponent];
		rest = (fma(-first, powers[-exponent], high) + low) / powers[-exponent];
	} else {
		first = high * powers[exponent];
		rest = fma(high, powers[exponent], -first) + low * powers[exponent];
	}
	*x = first + rest;
	rest -= *x - first;
	return *x + rest * (1 + SURE) == *x; /* and not only by the rounding of a tie, or of what is close to one */
}

const char *vprof_json_number_scan(const char *text, double *x)
{
	const char *at = text + (*text == '-'), *first = at;
	int is_negative = at > text, exponent = 0, shift = 0, n_digits = 0;
	uint64_t n = 0;

	if (!is_digit(*at) || (*at == '0' && is_digit(at[1])))
		return NULL;
	for (; is_digit(*at); at++, n_digits += n > 0)
		n = n_digits < DIGITS_READ ? n * 10 + (uint64_t)(*at - '0') : n;
	if (*at == '.') {
		if (!is_digit(*++at))
			return NULL;
		for (; is_digit(*at); at++, n_digits += n > 0, shift--)
			n = n_digits < DIGITS_READ ? n * 10 + (uint64_t)(*at - '0') : n;
	}
	if (*at == 'e' || *at == 'E') {
		int is_below = *++at == '-';

		at += *at == '-' || *at == '+';
		if (!is_digit(*at))
			return NULL;
		for (; is_digit(*at); at++)
			exponent = exponent < 10000 ? exponent * 10 + (*at - '0') : exponent;
		exponent = is_below ? -exponent : exponent;
	}
	if (n_digits > DIGITS_READ || !compose(n, exponent + shift, x))
		*x = strtod(first, NULL);
	*x = is_negative ? -*x : *x;
	return at;
}
