/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin for MariaDB's server as it is installed: it is told when a statement begins and ends, and is all of the
 * server that is built with probes. The server's locks are seen without (libvprof.so); whose request a statement is
 * for, vprof knows by the connection that it came from. */
#include <mysql/plugin.h>
#include <mysql/plugin_audit.h>

#define NOINLINE __attribute__((noinline))

static unsigned long n_statements;

static NOINLINE void statement_begins(void)
{
	__atomic_add_fetch(&n_statements, 1, __ATOMIC_RELAXED);
}

static NOINLINE void statement_ends(void)
{
	__asm__ volatile("");
}

static void tell(MYSQL_THD session, unsigned class, const void *event)
{
	const struct mysql_event_general *general = event;

	(void)session;
	if (class != MYSQL_AUDIT_GENERAL_CLASS)
		return;
	if (general->event_subclass == MYSQL_AUDIT_GENERAL_LOG)
		statement_begins();
	else if (general->event_subclass == MYSQL_AUDIT_GENERAL_STATUS)
		statement_ends();
}

static struct st_mysql_audit descriptor = {
	MYSQL_AUDIT_INTERFACE_VERSION,
	NULL,
	tell,
	{ MYSQL_AUDIT_GENERAL_CLASSMASK },
};

maria_declare_plugin(tier){
	MYSQL_AUDIT_PLUGIN,
	&descriptor,
	"tier",
	"vprof",
	"tells when statements begin and end",
	PLUGIN_LICENSE_GPL,
	NULL,
	NULL,
	0x0100,
	NULL,
	NULL,
	"1.0",
	MariaDB_PLUGIN_MATURITY_STABLE,
} maria_declare_plugin_end;
