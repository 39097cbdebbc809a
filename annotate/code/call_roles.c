/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/code/call_roles.h"

#include "annotate/code/identifiers.h"

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
} role_calls[VPROF_ROLE_DISPATCH] = {
	[VPROF_ROLE_POLL] = { poll_calls, VPROF_LENGTH(poll_calls) },
	[VPROF_ROLE_RECEIVE] = { receive_calls, VPROF_LENGTH(receive_calls) },
	[VPROF_ROLE_SEND] = { send_calls, VPROF_LENGTH(send_calls) },
	[VPROF_ROLE_WAIT] = { wait_calls, VPROF_LENGTH(wait_calls) },
	[VPROF_ROLE_SIGNAL] = { signal_calls, VPROF_LENGTH(signal_calls) },
	[VPROF_ROLE_TELL] = { tell_calls, VPROF_LENGTH(tell_calls) },
	[VPROF_ROLE_LOCK] = { lock_calls, VPROF_LENGTH(lock_calls) },
	[VPROF_ROLE_UNLOCK] = { unlock_calls, VPROF_LENGTH(unlock_calls) },
};

int vprof_call_has_role(const struct vprof_facts_call *call, enum vprof_call_role role)
{
	return vprof_name_in(vprof_name_last(call->callee), role_calls[role].names, role_calls[role].n) ||
	       vprof_name_in(call->callee, role_calls[role].names, role_calls[role].n);
}
