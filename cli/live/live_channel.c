/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages, not a stream: a client cannot send half a request. The socket's name is reached by its folder's descriptor,
 * since the path of a project may be longer than an address may be. */
#define _GNU_SOURCE
#include "cli/live/live_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/files.h"
#include "trace/clock.h"

#define NAME "control"
#define N_WAITING 4
#define PATIENCE_NS UINT64_C(2000000000) /* with one who has connected and asks nothing */

struct vprof_live_channel {
	int folder, listener;
	int client; /* -1: none */
	uint64_t client_ns;
};

static void name_of(struct sockaddr_un *address, int folder)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/" NAME, folder);
}

static int open_folder(const char *vprof_dir)
{
	char *path = vprof_path_join(vprof_dir, "live");
	int fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	free(path);
	return fd;
}

static int listen_at(struct vprof_live_channel *c)
{
	struct sockaddr_un address;

	name_of(&address, c->folder);
	c->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener < 0 || (unlink(address.sun_path) && errno != ENOENT) ||
	    bind(c->listener, (struct sockaddr *)&address, sizeof address))
		return -1;
	/* Nobody can connect before the socket listens. */
	return chmod(address.sun_path, 0600) || listen(c->listener, N_WAITING) ? -1 : 0;
}

int vprof_live_channel_open(struct vprof_live_channel **out, const char *vprof_dir, struct vprof_error *err)
{
	struct vprof_live_channel *c = malloc(sizeof *c);
	char *path = vprof_path_join(vprof_dir, "live");
	int rc = c && path ? vprof_dir_make(path, err) : vprof_error_no_memory(err);

	*out = NULL;
	free(path);
	if (rc) {
		free(c);
		return rc;
	}
	*c = (struct vprof_live_channel){ open_folder(vprof_dir), -1, -1, 0 };
	if (c->folder < 0 || listen_at(c)) {
		rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot make %s/live/" NAME ": %s", vprof_dir,
				     strerror(errno));
		vprof_live_channel_close(c);
		return rc;
	}
	*out = c;
	return VPROF_OK;
}

static void drop_client(struct vprof_live_channel *c)
{
	if (c->client >= 0)
		close(c->client);
	c->client = -1;
}

void vprof_live_channel_close(struct vprof_live_channel *c)
{
	if (!c)
		return;
	drop_client(c);
	if (c->listener >= 0) {
		close(c->listener);
		unlinkat(c->folder, NAME, 0);
	}
	if (c->folder >= 0)
		close(c->folder);
	free(c);
}

/* Of the one at the other end, when it connected or began to listen. */
static int is_user(int fd, uid_t user)
{
	struct ucred peer;
	socklen_t size = sizeof peer;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && size == sizeof peer &&
	       (peer.uid == user || peer.uid == 0);
}

int vprof_live_channel_take(struct vprof_live_channel *c, char text[VPROF_REQUEST_BYTES])
{
	ssize_t n;

	if (c->client < 0) {
		c->client = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		c->client_ns = vprof_clock_monotonic_ns();
		if (c->client >= 0 && !is_user(c->client, geteuid()))
			drop_client(c);
	}
	if (c->client < 0)
		return 0;
	n = recv(c->client, text, VPROF_REQUEST_BYTES, MSG_TRUNC);
	if (n > 0 && n < VPROF_REQUEST_BYTES) {
		text[n] = 0;
		return 1;
	}
	if (n >= 0 || (errno != EAGAIN && errno != EINTR) || vprof_clock_monotonic_ns() - c->client_ns > PATIENCE_NS)
		drop_client(c);
	return 0;
}

void vprof_live_channel_answer(struct vprof_live_channel *c, const char *text)
{
	size_t n = strnlen(text, VPROF_REQUEST_BYTES - 1);

	if (c->client >= 0)
		send(c->client, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	drop_client(c);
}

int vprof_live_request_send(int *fd, const char *vprof_dir, const char *text, struct vprof_error *err)
{
	struct sockaddr_un address;
	int folder = open_folder(vprof_dir), failed = 0;
	size_t n = strlen(text);

	*fd = -1;
	if (n >= VPROF_REQUEST_BYTES) {
		if (folder >= 0)
			close(folder);
		return vprof_error_set(err, VPROF_ERR_INPUT, "its name is too long");
	}
	name_of(&address, folder);
	*fd = folder < 0 ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0 || connect(*fd, (struct sockaddr *)&address, sizeof address))
		failed = errno;
	else if (geteuid() && !is_user(*fd, geteuid()))
		failed = EACCES;
	else if (send(*fd, text, n, MSG_NOSIGNAL) != (ssize_t)n)
		failed = errno;
	if (folder >= 0)
		close(folder);
	if (!failed)
		return VPROF_OK;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (failed == ENOENT || failed == ECONNREFUSED)
		return vprof_error_set(err, VPROF_ERR_MISSING, "the session takes no requests now");
	if (failed == EACCES || failed == EPERM)
		return vprof_error_set(err, VPROF_ERR_FAILED,
				       "the session is another user's: only that user and root "
				       "may change it");
	return vprof_error_set(err, VPROF_ERR_FAILED, "the session cannot be asked: %s", strerror(failed));
}

int vprof_live_request_look(int fd, char text[VPROF_REQUEST_BYTES])
{
	ssize_t n = recv(fd, text, VPROF_REQUEST_BYTES - 1, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return VPROF_ERR_MISSING;
	text[n] = 0;
	return 1;
}
