# SPDX-License-Identifier: GPL-3.0-or-later
# SQLite's own Makefile, and the load linked with the library that it builds:
#   make -f vprof.mk [USE_AMALGAMATION=0] transactions
include Makefile

transactions.o: transactions.c sqlite3.h
	gcc -O2 -g -I. -c transactions.c -o $@

transactions: transactions.o libsqlite3.la
	gcc -o $@ transactions.o .libs/libsqlite3.a -lpthread -lm
