/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vapp.h"

static int send_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return -1;
		bytes += sent;
		n -= (size_t)sent;
	}
	return 0;
}

static int receive_all(int fd, char *bytes, size_t n)
{
	while (n) {
		ssize_t got = recv(fd, bytes, n, 0);

		if (got <= 0)
			return -1;
		bytes += got;
		n -= (size_t)got;
	}
	return 0;
}

int vapp_send(int fd, const char *bytes, uint32_t n, int parts)
{
	char whole[sizeof n + MESSAGE_MAX];

	if (n > MESSAGE_MAX)
		return -1;
	memcpy(whole, &n, sizeof n);
	memcpy(whole + sizeof n, bytes, n);
	if (parts > 1)
		return send_all(fd, whole, sizeof n) || send_all(fd, whole + sizeof n, n) ? -1 : 0;
	return send_all(fd, whole, sizeof n + n);
}

int vapp_receive(int fd, char bytes[MESSAGE_MAX])
{
	uint32_t n;

	if (receive_all(fd, (char *)&n, sizeof n) || n > MESSAGE_MAX || receive_all(fd, bytes, n))
		return -1;
	return (int)n;
}

int vapp_connect(const struct vapp_server *server)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(server->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = server->address;
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int vapp_port(int fd)
{
	struct sockaddr_in own;
	socklen_t size = sizeof own;

	return getsockname(fd, (struct sockaddr *)&own, &size) ? -1 : ntohs(own.sin_port);
}

uint64_t vapp_draw(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}
