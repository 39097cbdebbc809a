/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Discovery, first part: the traits of every function (how near it is to calls that wait, receive, signal,
 * ...), dispatch tables, and where threads and processes start. */
#define _GNU_SOURCE /* memrchr, qsort_r */
#include "annotate/discover/discover.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "annotate/discover/discovery.h"
#include "common/json_places.h"
#include "common/files.h"

#define TABLE_MIN 3

static const char *const poll_calls[] = { "epoll_wait",
					  "epoll_pwait",
					  "epoll_pwait2",
					  "poll",
					  "ppoll",
					  "select",
					  "pselect",
					  "kevent",
					  "event_base_loop",
					  "event_base_dispatch",
					  "event_dispatch",
					  "uv_run",
					  "ev_run",
					  "ev_loop",
					  "io_uring_wait_cqe",
					  "io_getevents" };
static const char *const receive_calls[] = { "accept",
					     "accept4",
					     "recv",
					     "recvfrom",
					     "recvmsg",
					     "read",
					     "readv",
					     "SSL_read",
					     "BIO_read",
					     "mq_receive",
					     "mq_timedreceive",
					     "msgrcv",
					     "gnutls_record_recv",
					     "bufferevent_read",
					     "evbuffer_read" };
static const char *const send_calls[] = { "send",
					  "sendto",
					  "sendmsg",
					  "write",
					  "writev",
					  "sendfile",
					  "SSL_write",
					  "BIO_write",
					  "mq_send",
					  "msgsnd",
					  "gnutls_record_send",
					  "bufferevent_write" };
static const char *const wait_calls[] = { "pthread_cond_wait",
					  "pthread_cond_timedwait",
					  "sem_wait",
					  "sem_timedwait",
					  "cnd_wait",
					  "cnd_timedwait",
					  "wait",
					  "wait_for",
					  "wait_until",
					  "futex" };
static const char *const signal_calls[] = { "pthread_cond_signal", "pthread_cond_broadcast", "sem_post",
					    "cnd_signal",	   "cnd_broadcast",	     "notify_one",
					    "notify_all",	   "eventfd_write",	     "futex" };
static const char *const tell_calls[] = { "kill",  "tgkill",	    "pthread_kill", "sigqueue", "pthread_sigqueue",
					  "write", "eventfd_write", "send",	    "futex" };
static const char *const lock_calls[] = { "pthread_mutex_lock",
					  "pthread_mutex_trylock",
					  "pthread_mutex_timedlock",
					  "pthread_rwlock_rdlock",
					  "pthread_rwlock_wrlock",
					  "pthread_spin_lock",
					  "sem_wait",
					  "mtx_lock",
					  "std::mutex::lock",
					  "std::timed_mutex::lock",
					  "std::recursive_mutex::lock",
					  "std::shared_mutex::lock",
					  "std::shared_mutex::lock_shared" };
static const char *const unlock_calls[] = { "pthread_mutex_unlock",
					    "pthread_rwlock_unlock",
					    "pthread_spin_unlock",
					    "sem_post",
					    "mtx_unlock",
					    "std::mutex::unlock",
					    "std::timed_mutex::unlock",
					    "std::recursive_mutex::unlock",
					    "std::shared_mutex::unlock",
					    "std::shared_mutex::unlock_shared" };

static const struct {
	const char *const *names;
	size_t n;
} trait_calls[TRAIT_DISPATCH] = {
	[TRAIT_POLL] = { poll_calls, LENGTH(poll_calls) },
	[TRAIT_RECEIVE] = { receive_calls, LENGTH(receive_calls) },
	[TRAIT_SEND] = { send_calls, LENGTH(send_calls) },
	[TRAIT_WAIT] = { wait_calls, LENGTH(wait_calls) },
	[TRAIT_SIGNAL] = { signal_calls, LENGTH(signal_calls) },
	[TRAIT_TELL] = { tell_calls, LENGTH(tell_calls) },
	[TRAIT_LOCK] = { lock_calls, LENGTH(lock_calls) },
	[TRAIT_UNLOCK] = { unlock_calls, LENGTH(unlock_calls) },
};

int name_in(const char *name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(name, list[i]))
			return 1;
	return 0;
}

static const char *last_component(const char *name)
{
	const char *p, *last = name;

	for (p = name; (p = strstr(p, "::")); p += 2)
		last = p + 2;
	return last;
}

void normalise_name(char *out, size_t size, const char *name)
{
	const char *p = last_component(name);
	size_t n = 0;

	for (; *p && n + 1 < size; p++)
		if (isalnum((unsigned char)*p))
			out[n++] = (char)tolower((unsigned char)*p);
	out[n] = 0;
}

int has_word(const char *text, const char *const *words, size_t n)
{
	char lower[128];
	size_t i;

	normalise_name(lower, sizeof lower, text);
	for (i = 0; i < n; i++)
		if (strstr(lower, words[i]))
			return 1;
	return 0;
}

int has_whole_word(const char *name, const char *word)
{
	size_t n = strlen(word);
	const char *p, *last = last_component(name);

	for (p = last; *p; p++) {
		if (strncasecmp(p, word, n) || islower((unsigned char)p[n]))
			continue;
		if (p == last || !isalpha((unsigned char)p[-1]) ||
		    (islower((unsigned char)p[-1]) && isupper((unsigned char)*p)))
			return 1;
	}
	return 0;
}

int sounds_like_request(const char *text)
{
	static const char *const words[] = { "conn", "client", "req",	"session",     "job",	"task",
					     "item", "sock",   "query", "work",	       "msg",	"message",
					     "stmt", "peer",   "txn",	"transaction", "packet" };

	return has_word(text, words, LENGTH(words));
}

int mentions(const char *text, const char *word)
{
	size_t n = strlen(word);
	const char *p;

	for (p = text; n && (p = strstr(p, word)); p++)
		if ((p == text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) &&
		    !(isalnum((unsigned char)p[n]) || p[n] == '_'))
			return 1;
	return 0;
}

int is_method(const struct vprof_facts_function *f)
{
	const char *name = strstr(f->usr, "@F@"), *class = strstr(f->usr, "@S");
	size_t n = strlen(f->usr);

	if (!strcmp(f->lang, "c") || !name || !class || class > name)
		return 0;
	return n < 2 || strcmp(f->usr + n - 2, "#S"); /* a static method has no object */
}

static int is_integer_type(const char *type)
{
	static const char *const words[] = { "int",	"long",	    "short",   "unsigned", "size_t",	"ssize_t",
					     "int32_t", "uint32_t", "int64_t", "uint64_t", "uintptr_t", "intptr_t" };
	size_t i;

	for (i = 0; i < LENGTH(words); i++)
		if (mentions(type, words[i]))
			return 1;
	return 0;
}

static void read_parameters(struct discovery *d, const struct vprof_facts_function *f, struct parameters *out)
{
	struct parameter *list = NULL, *p;
	struct vprof_json *array, *one;
	size_t length;

	out->known = 1;
	if (vprof_json_parse(&array, d->arena, "facts", f->params, strlen(f->params), NULL))
		return;
	for (one = array->first; one; one = one->next) {
		p = vprof_arena_push(d->arena, &list, &out->n, sizeof *p);
		if (!p)
			return;
		p->name = vprof_json_string(one, "name");
		p->type = vprof_json_string(one, "type");
		length = strlen(p->type);
		p->is_pointer = length && (p->type[length - 1] == '*' || strstr(p->type, "*const")) && *p->name;
		p->is_integer = !p->is_pointer && is_integer_type(p->type) && *p->name;
		out->list = list;
	}
}

const struct parameter *parameters_of(struct discovery *d, const struct vprof_facts_function *f, size_t *n)
{
	struct parameters *p = &d->parameters[f - d->facts->functions];

	if (!p->known)
		read_parameters(d, f, p);
	*n = p->list ? p->n : 0;
	return p->list;
}

static int compare_normal(const void *pa, const void *pb, void *data)
{
	const uint32_t *a = pa, *b = pb;
	const char **normal = data;
	int order = strcmp(normal[*a], normal[*b]);

	return order ? order : *a < *b ? -1 : *a > *b;
}

static void index_names(struct discovery *d)
{
	char name[128];
	uint32_t i;

	for (i = 0; i < d->facts->n_functions; i++) {
		normalise_name(name, sizeof name, d->facts->functions[i].name);
		d->normal[i] = vprof_arena_copy(d->arena, name, strlen(name));
		d->by_normal[i] = i;
	}
	qsort_r(d->by_normal, d->facts->n_functions, sizeof *d->by_normal, compare_normal, d->normal);
}

size_t normal_lower_bound(const struct discovery *d, const char *normal)
{
	size_t low = 0, high = d->facts->n_functions, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(d->normal[d->by_normal[middle]], normal) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *where_of(struct discovery *d, const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(d->facts, f->file);
	const char *path = file ? file->path : "?";
	size_t n = strlen(d->facts->root);

	if (n && !strncmp(path, d->facts->root, n) && path[n] == '/')
		path += n + 1;
	return vprof_arena_printf(d->arena, "%s:%d", path, f->line);
}

static int is_unique(struct discovery *d, const struct vprof_facts_function *f, const char *name, const char *suffix)
{
	uint32_t found[16];
	size_t n = vprof_facts_find(d->facts, name, suffix, found, LENGTH(found)), i;

	for (i = 0; i < n && i < LENGTH(found); i++)
		if (d->facts->functions[found[i]].file != f->file)
			return 0;
	return n <= LENGTH(found);
}

const char *public_name(struct discovery *d, const struct vprof_facts_function *f)
{
	const struct vprof_facts_file *file = vprof_facts_file(d->facts, f->file);
	const char *name = strcmp(f->lang, "c") ? f->display : f->name, *slash, *from;

	if (!file || is_unique(d, f, name, NULL))
		return name;
	for (from = file->path + strlen(file->path); (slash = memrchr(file->path, '/', (size_t)(from - file->path)));
	     from = slash)
		if (is_unique(d, f, name, slash + 1))
			return vprof_arena_printf(d->arena, "%s@%s", name, slash + 1);
	return vprof_arena_printf(d->arena, "%s@%s", name, file->path);
}

/* --- traits --- */

static uint32_t caller_index(struct discovery *d, const struct vprof_facts_call *call)
{
	const struct vprof_facts_function *f = vprof_facts_function(d->facts, call->caller);

	return f ? (uint32_t)(f - d->facts->functions) : UINT32_MAX;
}

/* syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, ...), or what the macros stand for: "202", "&word", "(0 | 128)". */
static void mark_futex(struct discovery *d, uint32_t caller, const char *args)
{
	struct vprof_json *array, *one, *arg[3] = { NULL, NULL, NULL };
	const char *op;

	if (vprof_json_parse(&array, d->arena, "facts", args, strlen(args), NULL))
		return;
	for (one = array->first; one && one->index < 3; one = one->next)
		arg[one->index] = one->type == VPROF_JSON_STRING ? one : NULL;
	if (!arg[0] || !arg[2] || (!strstr(arg[0]->string, "futex") && strtol(arg[0]->string, NULL, 10) != SYS_futex))
		return;
	op = arg[2]->string + strspn(arg[2]->string, "( ");
	if (strstr(op, "WAIT") || !strncmp(op, "0 ", 2) || !strcmp(op, "0"))
		d->distance[TRAIT_WAIT][caller] = 0;
	else if (strstr(op, "WAKE") || !strncmp(op, "1 ", 2) || !strcmp(op, "1"))
		d->distance[TRAIT_SIGNAL][caller] = 0;
	else
		d->distance[TRAIT_WAIT][caller] = d->distance[TRAIT_SIGNAL][caller] = 0;
}

/* select(0, NULL, NULL, NULL, &timeout) and poll(NULL, 0, timeout) wait for nothing but the time. */
static int only_sleeps(struct discovery *d, const struct vprof_facts_call *call)
{
	static const char *const none[] = { "0", "NULL", "nullptr" };
	const char *callee = last_component(call->callee);
	struct vprof_json *array;

	if (strcmp(callee, "select") && strcmp(callee, "pselect") && strcmp(callee, "poll") && strcmp(callee, "ppoll"))
		return 0;
	if (vprof_json_parse(&array, d->arena, "facts", call->args, strlen(call->args), NULL))
		return 0;
	return array->first && array->first->type == VPROF_JSON_STRING &&
	       name_in(array->first->string, none, LENGTH(none));
}

int makes(const struct vprof_facts_call *call, enum trait trait)
{
	return name_in(last_component(call->callee), trait_calls[trait].names, trait_calls[trait].n) ||
	       name_in(call->callee, trait_calls[trait].names, trait_calls[trait].n);
}

static void mark_direct_calls(struct discovery *d)
{
	size_t i;
	int t;

	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = caller_index(d, call);

		if (caller == UINT32_MAX || call->callee_function || call->kind == VPROF_CALL_POINTER)
			continue;
		for (t = 0; t < TRAIT_DISPATCH; t++)
			if (makes(call, (enum trait)t) && !(t == TRAIT_POLL && only_sleeps(d, call)))
				d->distance[t][caller] = 0;
		if (!strcmp(call->callee, "syscall"))
			mark_futex(d, caller, call->args);
	}
}

static void spread_attributes(struct discovery *d)
{
	size_t i;
	int t, round;

	for (round = 0; round < DISTANCE_MAX; round++) {
		for (i = 0; i < d->facts->n_calls; i++) {
			const struct vprof_facts_call *call = &d->facts->calls[i];
			uint32_t caller = call->callee_function ? caller_index(d, call) : UINT32_MAX;

			if (caller == UINT32_MAX)
				continue;
			for (t = 0; t < TRAIT_N; t++)
				if (d->distance[t][call->callee_function - 1] == round &&
				    d->distance[t][caller] > round + 1)
					d->distance[t][caller] = (uint8_t)(round + 1);
		}
	}
}

static struct dispatch *table_at(struct discovery *d, const char *variable, const char *signature)
{
	struct dispatch *t;
	size_t i;

	for (i = 0; i < d->n_tables; i++)
		if (!strcmp(d->tables[i].variable, variable) && !strcmp(d->tables[i].signature, signature))
			return &d->tables[i];
	t = vprof_arena_push(d->arena, &d->tables, &d->n_tables, sizeof *t);
	if (t)
		*t = (struct dispatch){ variable, signature, 0, sounds_like_request(signature) };
	return t;
}

/* Variables whose initialisers name several functions of one type. */
static void find_tables(struct discovery *d)
{
	size_t i, n = 0, largest = 0;
	struct dispatch *t;

	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (strcmp(a->how, "initializer") || !a->function || !*a->signature)
			continue;
		t = table_at(d, a->target, a->signature);
		if (t)
			t->n++;
	}
	for (i = 0; i < d->n_tables; i++)
		if (d->tables[i].n >= TABLE_MIN)
			d->tables[n++] = d->tables[i];
	d->n_tables = n;
	/* beside a large table of commands, small tables of operations (open, read, write, ...) tell nothing
	 */
	for (i = 0; i < n; i++)
		if (d->tables[i].takes_request && d->tables[i].n > largest)
			largest = d->tables[i].n;
	for (i = 0; i < n; i++)
		if (d->tables[i].n < largest / 8)
			d->tables[i].takes_request = 0;
}

static void find_dispatchers(struct discovery *d)
{
	size_t i, t;

	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];
		uint32_t caller = call->kind == VPROF_CALL_POINTER ? caller_index(d, call) : UINT32_MAX;

		if (caller == UINT32_MAX || !*call->signature)
			continue;
		for (t = 0; t < d->n_tables; t++) {
			if (strcmp(d->tables[t].signature, call->signature))
				continue;
			if (d->dispatch_call[caller] && d->tables[d->dispatch_table[caller]].n >= d->tables[t].n)
				continue;
			if (d->tables[t].takes_request)
				d->distance[TRAIT_DISPATCH][caller] = 0;
			d->dispatch_call[caller] = (uint32_t)i + 1;
			d->dispatch_table[caller] = (uint32_t)t;
		}
	}
}

/* --- where threads and processes start --- */

static void add_entry(struct discovery *d, enum vprof_entry_kind kind, const struct vprof_facts_function *f,
		      const char *why)
{
	struct vprof_entry_proposal *e;
	const char *name = public_name(d, f), *where = where_of(d, f);
	size_t i;

	for (i = 0; i < d->draft->n_entries; i++)
		if (d->draft->entries[i].kind == kind && !strcmp(d->draft->entries[i].where, where) &&
		    !strcmp(d->draft->entries[i].function, name))
			return;
	e = vprof_arena_push(d->arena, &d->draft->entries, &d->draft->n_entries, sizeof *e);
	if (e)
		*e = (struct vprof_entry_proposal){ kind, name, where, why };
	if (kind != VPROF_ENTRY_PROCESS)
		d->is_entry[f - d->facts->functions] = 1;
}

/* Index of the argument that is the thread's function, or -1; C++ constructors of std::thread and std::async
 * too. */
static int thread_argument(const char *callee)
{
	static const char *const first[] = { "thread",	     "std::thread", "std::thread::thread",
					     "std::jthread", "jthread",	    "std::async",
					     "async" };

	if (!strcmp(callee, "pthread_create"))
		return 2;
	if (!strcmp(callee, "thrd_create"))
		return 1;
	return name_in(callee, first, LENGTH(first)) ? 0 : -1;
}

static void add_thread_arguments(struct discovery *d, const char *callee, int arg)
{
	size_t i;

	for (i = 0; i < d->facts->n_addresses; i++) {
		const struct vprof_facts_address *a = &d->facts->addresses[i];

		if (a->function && !strcmp(a->how, "argument") && !strcmp(a->target, callee) &&
		    (arg == a->arg || arg < 0))
			add_entry(d, VPROF_ENTRY_THREAD, &d->facts->functions[a->function - 1],
				  vprof_arena_printf(d->arena, "its address is given to %s", callee));
	}
}

/* A function that hands one of its own parameters to pthread_create makes threads, too. */
static void add_wrapped_threads(struct discovery *d, const struct vprof_facts_call *call, int arg)
{
	const struct vprof_facts_function *maker = vprof_facts_function(d->facts, call->caller);
	const struct parameter *list;
	struct vprof_json *args, *one;
	size_t n, i;

	if (!maker || vprof_json_parse(&args, d->arena, "facts", call->args, strlen(call->args), NULL))
		return;
	for (one = args->first; one && one->index < (size_t)arg; one = one->next)
		;
	if (!one || one->type != VPROF_JSON_STRING)
		return;
	list = parameters_of(d, maker, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, one->string))
			add_thread_arguments(d, maker->name, (int)i);
}

static void find_entries(struct discovery *d)
{
	size_t i;
	int arg;

	for (i = 0; i < d->facts->n_functions; i++)
		if (!strcmp(d->facts->functions[i].display, "main"))
			add_entry(d, VPROF_ENTRY_MAIN, &d->facts->functions[i], "the program starts here");
	for (i = 0; i < d->facts->n_addresses; i++)
		if (!strcmp(d->facts->addresses[i].how, "argument") &&
		    thread_argument(d->facts->addresses[i].target) >= 0)
			add_thread_arguments(d, d->facts->addresses[i].target,
					     thread_argument(d->facts->addresses[i].target));
	for (i = 0; i < d->facts->n_calls; i++) {
		const struct vprof_facts_call *call = &d->facts->calls[i];

		arg = call->callee_function ? -1 : thread_argument(call->callee);
		if (arg >= 0)
			add_wrapped_threads(d, call, arg);
		if (!call->callee_function && (!strcmp(call->callee, "fork") || !strcmp(call->callee, "vfork")) &&
		    caller_index(d, call) != UINT32_MAX)
			add_entry(d, VPROF_ENTRY_PROCESS, &d->facts->functions[caller_index(d, call)],
				  vprof_arena_printf(d->arena, "it calls %s at line %d", call->callee, call->line));
	}
}

/* --- all of it --- */

static int discovery_init(struct discovery *d, const struct vprof_facts *facts, const struct vprof_callgraph *graph,
			  struct vprof_draft *draft)
{
	size_t n = facts->n_functions + 1;
	int t;

	*d = (struct discovery){ .facts = facts, .graph = graph, .draft = draft, .arena = &draft->arena };
	for (t = 0; t < TRAIT_N; t++) {
		d->distance[t] = vprof_arena_alloc(d->arena, n);
		if (!d->distance[t])
			return -1;
		memset(d->distance[t], FAR, n);
	}
	d->is_entry = vprof_arena_alloc(d->arena, n);
	d->dispatch_call = vprof_arena_alloc(d->arena, n * sizeof *d->dispatch_call);
	d->dispatch_table = vprof_arena_alloc(d->arena, n * sizeof *d->dispatch_table);
	d->normal = vprof_arena_alloc(d->arena, n * sizeof *d->normal);
	d->by_normal = vprof_arena_alloc(d->arena, n * sizeof *d->by_normal);
	d->parameters = vprof_arena_alloc(d->arena, n * sizeof *d->parameters);
	return d->arena->failed ? -1 : 0;
}

int vprof_discover(const struct vprof_facts *facts, const struct vprof_callgraph *graph, struct vprof_draft **out,
		   struct vprof_error *err)
{
	struct vprof_draft *draft = calloc(1, sizeof *draft);
	struct discovery d;
	size_t i;

	*out = NULL;
	if (!draft || discovery_init(&d, facts, graph, draft)) {
		vprof_draft_free(draft);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory while looking for intervals");
	}
	draft->n_functions = facts->n_functions;
	for (i = 0; i < facts->n_files; i++)
		draft->n_files += facts->files[i].in_project != 0;
	index_names(&d);
	mark_direct_calls(&d);
	find_tables(&d);
	find_dispatchers(&d);
	spread_attributes(&d);
	find_entries(&d);
	find_sync(&d);
	find_events(&d);
	find_queues(&d);
	find_intervals(&d);
	if (draft->arena.failed) {
		vprof_draft_free(draft);
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory while looking for intervals");
	}
	*out = draft;
	return 0;
}

void vprof_draft_free(struct vprof_draft *draft)
{
	if (!draft)
		return;
	vprof_arena_release(&draft->arena);
	free(draft);
}
