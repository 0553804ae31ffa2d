// SPDX-License-Identifier: GPL-2.0
/*
 * The beginning and the end of a program's node.  Called by the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "window_layout.h"
#include "local.h"
#include "mios_dsm.h"
#include "seal.h"
#include "start.h"

#define NEAR_ZERO	65536

struct node node_self;

static struct node_stats own_stats;
static bool begun, started, child;

/* What mios-dsm run has told. */
struct told {
	unsigned int nodes, self, pages, protocol, resident, own;
	int stats;
	struct connection to[NODE_NODES];
};

/* A number, and the sign behind it. */
static bool number(const char **at, long low, long high, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(*at, &end, 10);
	if (errno || end == *at || *value < low || *value > high ||
	    (*end && *end != ':'))
		return false;
	*at = *end ? end + 1 : end;
	return true;
}

/* The program's children have no business with it. */
static bool descriptor(const char **at, int *fd)
{
	long value;

	if (!number(at, -1, 1 << 20, &value))
		return false;
	*fd = value;
	return value < 0 || !fcntl(value, F_SETFD, FD_CLOEXEC);
}

static bool told_parse(struct told *t, const char *at)
{
	long nodes, self, pages, protocol, resident, own, fd;

	if (!number(&at, 1, NODE_NODES, &nodes) ||
	    !number(&at, 0, nodes - 1, &self) ||
	    !number(&at, 2 * LAYOUT_OWN, DSM_LIFE_MAX, &pages) ||
	    !number(&at, DSM_WI, LAYOUT_AUTO, &protocol) ||
	    !number(&at, 0, DSM_LIFE_MAX, &resident) ||
	    !number(&at, 0, 1, &own) ||
	    !number(&at, -1, 1 << 20, &fd))
		return false;
	*t = (struct told){ .nodes = nodes, .self = self, .pages = pages,
			    .protocol = protocol, .resident = resident,
			    .own = own, .stats = fd };
	for (long i = 0; i < nodes; i++)
		if (!descriptor(&at, &t->to[i].socket) ||
		    !descriptor(&at, &t->to[i].rings) ||
		    !descriptor(&at, &t->to[i].event))
			return false;
	return !*at;
}

static int stats_open(struct node *n, const struct told *t)
{
	const struct stats_head *head;
	void *at;

	static_assert(STATS_NODES == NODE_NODES, "one for each");
	n->stats = &own_stats;
	if (t->stats < 0)
		return 0;
	at = mmap(NULL, stats_size(t->nodes, t->pages), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_NORESERVE, t->stats, 0);
	if (at == MAP_FAILED) {
		fprintf(stderr, "mios-dsm: no memory for what node %u counts: %s\n",
			n->self, strerror(errno));
		return -errno;
	}
	close(t->stats);
	head = at;
	if (head->magic != STATS_MAGIC || head->version != STATS_VERSION) {
		fprintf(stderr, "mios-dsm: the program has libmios-dsm of another version than mios-dsm run\n");
		return -EPROTO;
	}
	n->stats = stats_node(at, n->self);
	n->page_stats = stats_pages(at, n->self, t->pages);
	stats_begin(n);
	return 0;
}

/* From a file without a name: not in the environment, which outlives this. */
static bool secret_read(int fd, struct seal_secret *secret)
{
	bool good = pread(fd, secret, sizeof(*secret), 0) == sizeof(*secret);

	close(fd);
	return good;
}

static int transport_start(struct node *n, const struct told *t)
{
	const char *wire = secure_getenv(START_WIRE);
	long cluster, life, sockets;
	struct seal_secret secret;
	struct transport_wire w;
	int fd, err;

	if (!wire)
		return transport_local(&n->transport, t->nodes, t->self,
				       t->to);
	if (!number(&wire, 0, 0xffff, &cluster) ||
	    !number(&wire, 0, 0xffff, &life) ||
	    !number(&wire, 0, 1, &sockets) || !descriptor(&wire, &fd) ||
	    !*wire || (fd >= 0 && !secret_read(fd, &secret))) {
		fprintf(stderr, "mios-dsm: $%s is not what mios-dsm run sets\n",
			START_WIRE);
		return -EINVAL;
	}
	w = (struct transport_wire){
		.cluster = cluster, .life = life, .rings = !sockets,
		.secret = fd < 0 ? NULL : &secret, .interface = wire,
	};
	err = transport_ethernet(&n->transport, t->nodes, t->self, t->pages,
				 t->protocol, &w);
	explicit_bzero(&secret, sizeof(secret));
	return err;
}

/*
 * What cannot work says why; then back to the instruction, which ends the process
 * as it would have without.  A pointer that another node has stored leads to
 * where that one has its own memory; nobody takes one near zero for that.
 */
static void crashed(int signo, siginfo_t *info, void *context)
{
	u64 at = (uintptr_t)info->si_addr;
	bool shared = window_has(&node_self.window, at, 1);

	(void)context;
	/* Somebody sent it: no instruction would raise it again. */
	if (info->si_code <= 0)
		raise(signo);
	else if (shared && child)
		dprintf(STDERR_FILENO, "mios-dsm: a child of node %u touches shared memory, which it does not have: fork() copies none\n",
			node_self.self);
	else if (shared && !started)
		dprintf(STDERR_FILENO, "mios-dsm: node %u touches shared memory, which is gone since mios_dsm_finish()\n",
			node_self.self);
	else if (!shared && node_self.nodes > 1 &&
		 info->si_code == SEGV_MAPERR && at >= NEAR_ZERO)
		dprintf(STDERR_FILENO, "mios-dsm: node %u has no memory at %#llx: is that another node's private pointer, found in shared memory?\n",
			node_self.self, (unsigned long long)at);
}

/* Not if the program wants to know itself. */
static int crashes_watch(void)
{
	struct sigaction act = {
		.sa_sigaction = crashed,
		.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK,
	}, old;

	if (sigaction(SIGSEGV, NULL, &old))
		return -errno;
	if (old.sa_handler != SIG_DFL)
		return 0;
	return sigaction(SIGSEGV, &act, NULL) ? -errno : 0;
}

/*
 * A child of the program is no node; the peers must see when we end.  Once: in
 * a child's child, and after the end, the numbers are those of other files.
 */
static void forked(void)
{
	if (!started)
		return;
	started = false;
	child = true;
	for (u32 i = 0; i < node_self.transport.fds; i++)
		if (node_self.transport.fd[i] >= 0)
			close(node_self.transport.fd[i]);
	close(node_self.window.uffd);
}

int mios_dsm_start(void)
{
	struct told t = { .nodes = 1, .pages = START_PAGES, .stats = -1,
			  .to = { { -1, -1, -1 } } };
	const char *text = secure_getenv(START_VARIABLE);
	struct node *n = &node_self;
	int err;

	if (begun) {
		fprintf(stderr, "mios-dsm: a process is a node once, and this one has been\n");
		return -EBUSY;
	}
	begun = true;
	if (text && !told_parse(&t, text)) {
		fprintf(stderr, "mios-dsm: $%s is not what mios-dsm run sets\n",
			START_VARIABLE);
		return -EINVAL;
	}
	unsetenv(START_VARIABLE);
	n->nodes = t.nodes;
	n->self = t.self;
	n->adapts = t.protocol == LAYOUT_AUTO;
	n->protocol = n->adapts ? DSM_WUSEQ : t.protocol;
	err = stats_open(n, &t);
	if (!err)
		err = transport_start(n, &t);
	unsetenv(START_WIRE);
	if (!err)
		err = node_start(n, t.pages, t.resident, t.own);
	if (err)
		return err;
	started = true;
	if (!n->self && t.own)
		fprintf(stderr, "mios-dsm: system calls get EFAULT for shared memory that is not here: --own-faults\n");
	else if (!n->self && !n->window.system_calls)
		fprintf(stderr, "mios-dsm: system calls get EFAULT for shared memory: no permission to open /dev/userfaultfd\n");
	err = crashes_watch();
	return err ? err : -pthread_atfork(NULL, NULL, forked);
}

int mios_dsm_finish(void)
{
	int err;

	if (!started)
		return -EINVAL;
	err = mios_dsm_barrier();
	node_finish(&node_self);
	node_self.stats->finished = true;
	started = false;
	return err;
}
