// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for the init of an instance that has joined its ring: for those who
 * answer there, miosd and sshd, which it starts last.  From then on "mios
 * exec", "mios console" and ssh find somebody.  A root of its own need not have
 * an sshd.  Called by boot_node().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"
#include "libmios/proto.h"

#define SSH_PORT	22
#define TRY_MS		100

/*
 * From a reserved port: miosd reports whoever comes from another.
 * Return: 0; ECONNREFUSED if nobody listens there; another one if nobody answers.
 */
static int try_port(uint32_t address, unsigned int port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(address),
	};
	struct pollfd pfd = { .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = ETIMEDOUT;

	pfd.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (pfd.fd < 0)
		return errno;
	bindresvport(pfd.fd, NULL);
	if (!connect(pfd.fd, (struct sockaddr *)&to, sizeof(to)))
		err = 0;
	else if (errno == EINPROGRESS && poll(&pfd, 1, 10 * TRY_MS) > 0 &&
		 getsockopt(pfd.fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	close(pfd.fd);
	return err;
}

/* sshd is started after miosd */
static bool both_answer(uint32_t address)
{
	return !try_port(address, SSH_PORT) && !try_port(address, MIOSD_PORT);
}

static bool miosd_answers(uint32_t address)
{
	return !try_port(address, MIOSD_PORT);
}

static bool network_answers(uint32_t address)
{
	const int err = try_port(address, MIOSD_PORT);

	return !err || err == ECONNREFUSED;
}

/* @what has not happened in time, if it has not */
static int wait_until(const struct boot_plan *plan, unsigned int node,
		      bool (*done)(uint32_t address), const char *what)
{
	static const struct timespec pause = { .tv_nsec = TRY_MS * 1000000L };
	int64_t end = mios_now_ms() + plan->timeout_ms;
	struct mios_instance inst;
	uint32_t address;

	if (mios_address(plan->ring, node, &address)) {
		mios_error("mios", "boot %u: %s", node, MIOS_NO_NETWORK);
		return MIOS_EXIT_FAILED;
	}
	while (!done(address)) {
		if (mios_instance_read(node, &inst) ||
		    inst.state != MIOS_STATE_UP) {
			mios_error("mios", "boot %u: it ended while its init "
				   "ran: 'mios log %u' may say why", node,
				   node);
			return MIOS_EXIT_FAILED;
		}
		if (mios_now_ms() > end) {
			mios_error("mios", "boot %u: it is up, but its init "
				   "has not started %s in %u s: "
				   "'mios log %u' may say why", node, what,
				   plan->timeout_ms / 1000, node);
			return MIOS_EXIT_FAILED;
		}
		nanosleep(&pause, NULL);
	}
	return MIOS_EXIT_OK;
}

int boot_wait(const struct boot_plan *plan, unsigned int node, bool own_root)
{
	return own_root ? wait_until(plan, node, miosd_answers, "miosd") :
			  wait_until(plan, node, both_answer, "miosd and sshd");
}

/* Until it has loaded all modules, mios_devices among them. */
int boot_wait_network(const struct boot_plan *plan, unsigned int node)
{
	return wait_until(plan, node, network_answers, "its network");
}
