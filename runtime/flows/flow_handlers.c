/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations with libevent, libev and libuv: these keep a handler and its argument in memory of their own, and give
 * the kernel only the descriptor's number. Of each descriptor the handler is known for input and for output, so that
 * an event that the kernel delivers by a number (flow_events.c) is one of that argument, and of that handler.
 *
 * What another library calls so is passed on untouched. Neither library is linked: nothing of them is used but what
 * their interface promises (event_get_assignment, uv_fileno), of libev the public begin of struct ev_io.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_next.h"
#include "runtime/flows/flow_runtime.h"

#include <string.h>
#include <sys/time.h>

#define PC ((uintptr_t)__builtin_return_address(0))
#define DESCRIPTORS 65536u
#define EV_READ 2 /* libevent's */
#define EV_WRITE 4
#define INPUT 1 /* libev's and libuv's */
#define OUTPUT 2

struct watcher { /* begin of libev's struct ev_io */
	int active, pending, priority;
	void *data;
	void (*call)(void);
	void *next;
	int fd, events;
};

static struct flow_handler handlers[DESCRIPTORS][2];

struct flow_handler flow_handler_of(int fd, bool is_output)
{
	struct flow_handler none = { 0, 0, 0 }, found;
	const struct flow_handler *h;

	if (fd < 0 || (unsigned)fd >= DESCRIPTORS)
		return none;
	h = &handlers[fd][is_output];
	found.call = __atomic_load_n(&h->call, __ATOMIC_ACQUIRE);
	found.what = __atomic_load_n(&h->what, __ATOMIC_ACQUIRE);
	found.library = __atomic_load_n(&h->library, __ATOMIC_ACQUIRE);
	return found.call && __atomic_load_n(&h->call, __ATOMIC_ACQUIRE) == found.call ? found : none;
}

static void set(int fd, bool is_output, struct flow_handler to)
{
	struct flow_handler *h = &handlers[fd][is_output];

	__atomic_store_n(&h->call, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&h->what, to.what, __ATOMIC_RELEASE);
	__atomic_store_n(&h->library, to.library, __ATOMIC_RELEASE);
	__atomic_store_n(&h->call, to.call, __ATOMIC_RELEASE);
}

static void handled(int fd, bool input, bool output, struct flow_handler h, uintptr_t pc, uintptr_t frame)
{
	if (fd < 0 || (unsigned)fd >= DESCRIPTORS || !flow_header || !(input || output))
		return;
	if (input)
		set(fd, false, h);
	if (output)
		set(fd, true, h);
	flow_handler_registered(fd, h.what, pc, frame);
}

static void dropped(int fd, bool input, bool output)
{
	const struct flow_handler none = { 0, 0, 0 };

	if (fd < 0 || (unsigned)fd >= DESCRIPTORS)
		return;
	if (input)
		set(fd, false, none);
	if (output)
		set(fd, true, none);
}

void flow_handlers_drop(int fd)
{
	dropped(fd, true, true);
}

/* Does the function belong to the library of this name? */
static bool is_of(void *function, const char *library)
{
	Dl_info info;

	return function && dladdr(function, &info) && info.dli_fname && strstr(info.dli_fname, library);
}

#define LIBRARY(function, library)                                                                                     \
	__extension__({                                                                                                \
		static int is_of_;                                                                                     \
		int is_ = __atomic_load_n(&is_of_, __ATOMIC_RELAXED);                                                  \
		if (!is_) {                                                                                            \
			is_ = is_of((void *)function, library) ? 1 : -1;                                               \
			__atomic_store_n(&is_of_, is_, __ATOMIC_RELAXED);                                              \
		}                                                                                                      \
		is_ > 0;                                                                                               \
	})

/* ---- libevent ---- */

typedef void event_callback(int fd, short what, void *arg);
int event_add(void *event, const struct timeval *timeout);
int event_del(void *event);
void event_get_assignment(const void *event, void **base, int *fd, short *events, event_callback **call, void **arg);

struct assignment {
	int fd;
	short events;
	event_callback *call;
	void *arg;
};

static bool assignment_of(const void *event, struct assignment *a)
{
	static void *found;
	void (*get)(const void *, void **, int *, short *, event_callback **, void **) =
		(__typeof__(&event_get_assignment))flow_next(&found, "event_get_assignment", NULL);
	void *base;

	if (!get || !event)
		return false;
	get(event, &base, &a->fd, &a->events, &a->call, &a->arg);
	return true;
}

FLOW_EXPORT int event_add(void *event, const struct timeval *timeout)
{
	int (*next)(void *, const struct timeval *) = NEXT(event_add);
	struct assignment a;

	if (!next)
		return -1;
	if (LIBRARY(next, "libevent") && assignment_of(event, &a))
		handled(a.fd, a.events & EV_READ, a.events & EV_WRITE,
			(struct flow_handler){ (uintptr_t)a.arg, (uintptr_t)a.call, VPROF_FLOW_LIBEVENT }, PC,
			FLOW_FRAME);
	return next(event, timeout);
}

FLOW_EXPORT int event_del(void *event)
{
	int (*next)(void *) = NEXT(event_del);
	struct assignment a;

	if (!next)
		return -1;
	if (LIBRARY(next, "libevent") && assignment_of(event, &a))
		dropped(a.fd, a.events & EV_READ, a.events & EV_WRITE);
	return next(event);
}

/* ---- libev ---- */

void ev_io_start(void *loop, struct watcher *w);
void ev_io_stop(void *loop, struct watcher *w);

FLOW_EXPORT void ev_io_start(void *loop, struct watcher *w)
{
	void (*next)(void *, struct watcher *) = NEXT(ev_io_start);

	if (!next)
		return;
	if (LIBRARY(next, "libev.so"))
		handled(w->fd, w->events & INPUT, w->events & OUTPUT,
			(struct flow_handler){ (uintptr_t)w, (uintptr_t)w->call, VPROF_FLOW_LIBEV }, PC, FLOW_FRAME);
	next(loop, w);
}

FLOW_EXPORT void ev_io_stop(void *loop, struct watcher *w)
{
	void (*next)(void *, struct watcher *) = NEXT(ev_io_stop);

	if (!next)
		return;
	if (LIBRARY(next, "libev.so"))
		dropped(w->fd, w->events & INPUT, w->events & OUTPUT);
	next(loop, w);
}

/* ---- libuv ---- */

int uv_poll_start(void *handle, int events, void (*call)(void));
int uv_poll_stop(void *handle);
int uv_fileno(const void *handle, int *fd);

static int descriptor_of(const void *handle)
{
	static void *found;
	int (*get)(const void *, int *) = (__typeof__(&uv_fileno))flow_next(&found, "uv_fileno", NULL);
	int fd = -1;

	return get && handle && !get(handle, &fd) ? fd : -1;
}

FLOW_EXPORT int uv_poll_start(void *handle, int events, void (*call)(void))
{
	int (*next)(void *, int, void (*)(void)) = NEXT(uv_poll_start);

	if (!next)
		return -1;
	if (LIBRARY(next, "libuv")) {
		dropped(descriptor_of(handle), !(events & INPUT), !(events & OUTPUT));
		handled(descriptor_of(handle), events & INPUT, events & OUTPUT,
			(struct flow_handler){ (uintptr_t)handle, (uintptr_t)call, VPROF_FLOW_LIBUV }, PC, FLOW_FRAME);
	}
	return next(handle, events, call);
}

FLOW_EXPORT int uv_poll_stop(void *handle)
{
	int (*next)(void *) = NEXT(uv_poll_stop);

	if (!next)
		return -1;
	if (LIBRARY(next, "libuv"))
		dropped(descriptor_of(handle), true, true);
	return next(handle);
}
