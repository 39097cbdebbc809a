/* SPDX-License-Identifier: GPL-3.0-or-later */
/* backend LISTENER TIER [PORT]: serves one connection of the listening socket; asks the tier behind it at PORT. Never
 * built with probes. */
#define _POSIX_C_SOURCE 200809L
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "message.h"
#include "plant.h"

static int connect_to(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof at))
		exit(1);
	return fd;
}

int main(int argc, char **argv)
{
	int tier = argc > 2 ? atoi(argv[2]) : 0, next = argc > 3 ? connect_to(atoi(argv[3])) : -1;
	int fd = argc > 2 ? accept(atoi(argv[1]), NULL, NULL) : -1;
	struct message m;

	if (fd < 0 || tier < 0 || tier >= N_TIERS)
		return 1;
	while (recv(fd, &m, sizeof m, MSG_WAITALL) == sizeof m) {
		struct timespec ts = { 0, (long)m.ns[tier] };

		m.in[tier] = PLANT_NOW();
		nanosleep(&ts, NULL);
		if (next >= 0) {
			m.asked[tier] = PLANT_NOW();
			if (send(next, &m, sizeof m, MSG_NOSIGNAL) != sizeof m ||
			    recv(next, &m, sizeof m, MSG_WAITALL) != sizeof m)
				return 1;
			m.answered[tier] = PLANT_NOW();
		}
		m.out[tier] = PLANT_NOW();
		if (send(fd, &m, sizeof m, MSG_NOSIGNAL) != sizeof m)
			return 1;
	}
	return 0;
}
