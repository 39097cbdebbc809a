/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fast JSON against cJSON and libc: every byte of a number and a text, every double that is read; and what is no JSON.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "common/error.h"
#include "common/json/json_items.h"
#include "common/json/json_numbers.h"

static uint64_t draw(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double of_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static void check_number(double x)
{
	char *expected, seen[VPROF_JSON_NUMBER_BYTES + 1];
	cJSON *item = cJSON_CreateNumber(x);
	double back;
	const char *end;

	assert_non_null(item);
	expected = cJSON_PrintUnformatted(item);
	assert_non_null(expected);
	seen[vprof_json_number_print(seen, x)] = 0;
	if (strcmp(seen, expected) != 0 && !(x == 0 && signbit(x))) /* versions of cJSON differ in -0 */
		fail_msg("%a is printed as %s, and %s by cJSON", x, seen, expected);
	end = vprof_json_number_scan(seen, &back);
	if (!end || *end || back != strtod(seen, NULL))
		fail_msg("%s is read as %a", seen, back);
	cJSON_free(expected);
	cJSON_Delete(item);
}

/* Where digits and powers of ten change, and ties: halves of a digit's unit. */
static void test_edges(void **state)
{
	static const double edges[] = { 0,
					1,
					-1,
					9007199254740992.0,
					9007199254740993.0,
					0.1,
					0.3,
					1e15,
					999999999999999.5,
					999999999999999.9,
					1e16,
					1e17,
					1e22,
					1e23,
					5e-324,
					1e-4,
					1e-5,
					9.9999e-5,
					2.2250738585072014e-308,
					1.5e300,
					2.5e-44,
					4e-45,
					1.7976931348623157e308 };

	(void)state;
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
		for (int k = -3; k <= 3; k++) {
			uint64_t bits;

			memcpy(&bits, &edges[i], sizeof bits);
			if (isfinite(of_bits(bits + (uint64_t)k)))
				check_number(of_bits(bits + (uint64_t)k));
		}
	for (int power = -40; power <= 40; power++)
		for (int k = -2; k <= 2; k++) {
			double x = pow(10, power);

			for (int step = 0; step < abs(k); step++)
				x = nextafter(x, k < 0 ? 0 : INFINITY);
			check_number(x);
			check_number(-x);
		}
	for (uint64_t n = 1; n < 2000; n++) { /* exact ties at the 15th and the 17th digit */
		check_number((double)(UINT64_C(100000000000000) + n) + 0.5);
		check_number((double)(UINT64_C(1000000000000000) + n * 10 + 5));
		check_number((double)(UINT64_C(10000000000000000) + n * 2));
		check_number((double)(UINT64_C(1) << 60) + (double)(n << 8));
		check_number((double)n / 1048576);
	}
}

static void test_random(void **state)
{
	(void)state;
	for (int i = 0; i < 60000; i++) {
		double x = of_bits(draw()), unit = (double)(draw() >> 11) / 9007199254740992.0;

		if (isfinite(x))
			check_number(x);
		check_number(unit * pow(10, (double)(draw() % 60) - 30));
		check_number((double)(draw() % 1000000) / pow(10, (double)(draw() % 12)));
		check_number(nextafter((double)(draw() % 100000) / 1000, 0));
		check_number((double)(draw() >> (draw() % 64)));
	}
}

/* Digits as no printer makes them. */
static void test_scan(void **state)
{
	static const char *const wrong[] = { "", "-", "+1", ".5", "01", "1.", "1e", "1e+", "-.1", "NaN", "Infinity" };
	char text[80];
	double x;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_null(vprof_json_number_scan(wrong[i], &x));
	for (int i = 0; i < 200000; i++) {
		int before = (int)(draw() % 19) + 1, behind = (int)(draw() % 12), n = 0;
		const char *end;

		for (int k = 0; k < before; k++)
			text[n++] = (char)('0' + (k || before == 1 ? draw() % 10 : 1 + draw() % 9));
		if (behind)
			text[n++] = '.';
		for (int k = 0; k < behind; k++)
			text[n++] = (char)('0' + draw() % 10);
		text[n] = 0;
		if (draw() % 2)
			n += snprintf(
				text + n, sizeof text - (size_t)n, "%c%s%d", "eE" [draw() % 2],
				(const char *[]) { "", "+", "-" }[draw() % 3], (int)(draw() % 30));
		end = vprof_json_number_scan(text, &x);
		if (end != text + n || x != strtod(text, NULL))
			fail_msg("%s is read as %a", text, x);
	}
	/* 2^53 + 1 lies between two doubles; so do these, closer to one than 19 digits tell */
	for (const char *const *s = (const char *const[]){ "9007199254740993", "9007199254740993.00000000001",
							   "9007199254740992.99999999999", "1e400", "-1e-400",
							   "0.000000000000000000000000000001e30", NULL };
	     *s; s++) {
		assert_non_null(vprof_json_number_scan(*s, &x));
		assert_true(x == strtod(*s, NULL));
	}
}

static void test_quoted(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		char s[40], *expected;
		size_t n = draw() % (sizeof s - 1);
		struct vprof_text text = VPROF_TEXT_INIT, copy = VPROF_TEXT_INIT;
		struct vprof_json_items items;
		cJSON *item;

		for (size_t k = 0; k < n; k++)
			s[k] = draw() % 3 ? (char)(draw() % 255 + 1) : "\"\\\n\t\b\f\r\x01\x1f/u"[draw() % 11];
		s[n] = 0;
		item = cJSON_CreateString(s);
		assert_non_null(item);
		expected = cJSON_PrintUnformatted(item);
		vprof_json_add_quoted(&text, s);
		assert_string_equal(text.s, expected);
		vprof_text_add(&copy, text.s);
		assert_int_equal(vprof_json_items_read(&items, &copy), VPROF_OK);
		assert_string_equal(items.all.v[0].string, s);
		vprof_json_items_release(&items);
		vprof_text_release(&text);
		vprof_text_release(&copy);
		cJSON_free(expected);
		cJSON_Delete(item);
	}
}

static void read_text(struct vprof_json_items *items, struct vprof_text *text, const char *s, int expected)
{
	int rc;

	*text = (struct vprof_text)VPROF_TEXT_INIT;
	vprof_text_add(text, s);
	rc = vprof_json_items_read(items, text);
	if (rc != expected)
		fail_msg("%s: %d", s, rc);
}

static void test_items(void **state)
{
	const struct vprof_json_item *root, *hint = NULL, *list, *inner = NULL;
	struct vprof_json_items items;
	struct vprof_text text;

	(void)state;
	read_text(&items, &text,
		  " { \"a\" : 1 , \"list\":[1,[2,3],{\"b\":null}, \"x\\u00e9\\ud83d\\ude00\"],\"b\":true,\"c\":{}}\n",
		  0);
	root = items.all.v;
	assert_int_equal(root->n, 4);
	assert_true(vprof_json_member(root, "a", &hint)->number == 1);
	list = vprof_json_member(root, "list", &hint);
	assert_int_equal(list->n, 4);
	assert_string_equal(list[list->n_all - 1].string, "x\xc3\xa9\xf0\x9f\x98\x80");
	assert_int_equal(vprof_json_member(root, "b", &hint)->kind, VPROF_JSON_IS_BOOL);
	assert_int_equal(vprof_json_member(root, "c", &hint)->kind, VPROF_JSON_IS_OBJECT);
	assert_null(vprof_json_member(root, "d", &hint));
	assert_true(vprof_json_member(root, "a", &hint)->number == 1); /* out of order */
	assert_null(vprof_json_member(list, "a", &inner));
	assert_null(vprof_json_member(NULL, "a", &inner));
	vprof_json_items_release(&items);
	vprof_text_release(&text);
}

static void test_refused(void **state)
{
	static const char *const wrong[] = { "",
					     " ",
					     "{",
					     "[1,]",
					     "[1 2]",
					     "{\"a\"}",
					     "{\"a\":}",
					     "{\"a\":1,}",
					     "{a:1}",
					     "[1}",
					     "nul",
					     "tru",
					     "\"a",
					     "\"a\nb\"",
					     "\"\\x\"",
					     "\"\\u12\"",
					     "\"\\u0000\"",
					     "\"\\ud800\"",
					     "\"\\ud800\\u0041\"",
					     "\"\\udc00\"",
					     "\"\\",
					     "1 2",
					     "[1]x" };
	struct vprof_json_items items;
	struct vprof_text text;
	char deep[200];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		read_text(&items, &text, wrong[i], VPROF_ERR_CORRUPT);
		vprof_json_items_release(&items);
		vprof_text_release(&text);
	}
	memset(deep, ' ', 63); /* as much as the text has room for: nothing is read behind its end */
	memcpy(deep + 61, "\"\\", 3);
	read_text(&items, &text, deep, VPROF_ERR_CORRUPT);
	vprof_json_items_release(&items);
	vprof_text_release(&text);
	memset(deep, '[', 65);
	memset(deep + 65, ']', 65);
	deep[130] = 0;
	read_text(&items, &text, deep, VPROF_ERR_CORRUPT);
	vprof_json_items_release(&items);
	vprof_text_release(&text);
	deep[129] = 0;
	read_text(&items, &text, deep + 1, VPROF_OK);
	vprof_json_items_release(&items);
	vprof_text_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_edges), cmocka_unit_test(test_random),
					    cmocka_unit_test(test_scan),  cmocka_unit_test(test_quoted),
					    cmocka_unit_test(test_items), cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
