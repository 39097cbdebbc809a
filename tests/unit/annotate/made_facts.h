/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A facts.db made by hand, for tests that must not depend on the scanner. */
#ifndef MADE_FACTS_H
#define MADE_FACTS_H

#include <sqlite3.h>

struct made {
	sqlite3 *db;
	const char *dir;
	int file;	  /* the file that functions are added to */
	const char *text; /* its content */
};

struct made_function {
	const char *name, *returns, *return_kind, *params, *signature;
	int not_instrumentable, is_static;
	const char *display; /* default: name */
};

void made_open(struct made *m, const char *dir); /* DIR/facts.db, the root is DIR */
void made_close(struct made *m);
/* Writes DIR/name with `text` and makes it the current file, with a translation unit of its own. */
void made_file(struct made *m, const char *name, const char *text, const char *lang);
/* The function's body is the first "{" after " NAME(" in the current file's text. Returns its id. */
int made_function(struct made *m, const struct made_function *f);
/* kind: "direct" or "pointer"; `callee` is looked up by name; returns its id. */
int made_call(struct made *m, int caller, const char *callee, const char *kind, const char *signature, int in_loop,
	      const char *args);
void made_address(struct made *m, const char *function, const char *signature, const char *how, const char *target,
		  int arg);

#endif
