/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strings and numbers as the text formats want them. Whatever the bytes, the result is valid UTF-8. */
#ifndef VPROF_PUT_TEXT_H
#define VPROF_PUT_TEXT_H

#include <stdio.h>

/* s as a JSON string, quotes included; NULL is "". */
void vprof_put_json(FILE *to, const char *s);
/* A JSON number, null when it is not finite. */
void vprof_put_json_number(FILE *to, double x);

/* One field of RFC 4180: quoted where it has to be; nothing for NULL and for what is not finite. */
void vprof_put_csv(FILE *to, const char *s);
void vprof_put_csv_number(FILE *to, double x);

/* s in UTF-8, with control characters as '?' and those of `avoid` as `instead`. */
void vprof_put_plain(FILE *to, const char *s, const char *avoid, char instead);

/* A relative reference or the path of a URI: all but the unreserved characters and '/' as %XX. */
void vprof_put_uri_path(FILE *to, const char *path);

#endif
