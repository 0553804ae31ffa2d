// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm run: starts a program on several nodes, each a process of this
 * host, waits for all, and says how it went.  runtime/start.c is the other
 * end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../libmios/cli.h"
#include "commands.h"
#include "discover.h"
#include "hosts.h"
#include "key.h"
#include "procs.h"
#include "results/progress.h"
#include "results/record.h"
#include "results/results.h"
#include "../runtime/window_layout.h"
#include "../runtime/start.h"
#include "connections.h"
#include "wire.h"

static const char help[] =
"usage: mios-dsm run [options] PROGRAM [ARGUMENT...]\n"
"  -n, --nodes N   nodes, 1 to 16 (4)\n"
"  --memory MIB    of the window (128)\n"
"  --resident MIB  of it that each node keeps in memory, if it can (all)\n"
"  --own-faults    threads serve their own faults: sooner, but system calls get\n"
"                  EFAULT for pages that are not here, and no thread may block SIGBUS\n"
"  --protocol P    wi (the default), wu, wu+, wu-seq or auto, see docs/dsm.md\n"
"  --transport T   frames go through memory (the default) or sockets\n"
"  --interface IF  nodes are on one Ethernet: run this on each, on one of them\n"
"                  with -n, which tells the others how many there are, --memory\n"
"                  and --protocol\n"
"  --node K        or tell each its number, from 0, and the rest alike\n"
"  --key FILE      who lacks this key cannot join, read or change anything on the\n"
"                  Ethernet; mios-dsm key makes one; - for standard input\n"
"  --trust-wire    without a key: who is on it can\n"
"  --hosts H[:IF],... or --hostfile FILE: a node on each of these, started from\n"
"                  here; FILE has HOST [INTERFACE] on each line; without --key\n"
"                  they get one of this run's by the agent\n"
"  --agent COMMAND that runs a command on a host (ssh)\n"
"  --cluster N     if several share the wire: the same on each (0)\n"
"  --json FILE     what each node did, - for standard output\n"
"  --record FILE   how it went, for mios-dsm report\n"
"  --quiet         no line now and then on a terminal, no table at the end\n"
"Exit status: 0 if all nodes ended in order, else that of the first that did\n"
"not: 128 and its number for a signal, 1 without mios_dsm_finish(), 127 if\n"
"PROGRAM cannot be run; 2 for a mistake here.\n";

/* With more a page and a stamp for causal order are no message of the link. */
#define UPDATE_NODES	15

#define LOOK		5000	/* us, while a record is made */
#define REST		50000	/* us, while others may ask */

struct run {
	u64 nodes, mib, resident;
	u64 node;
	struct wire wire;
	bool nodes_told, node_told, cluster_told, mib_told, protocol_told;
	struct leader leader;	/* of no cluster, if it has no nodes */
	struct hosts hosts;
	bool own;			/* --own-faults */
	bool watched;			/* ends when its input does */
	const char *json, *record;
	struct record record_of;
	struct progress progress;
	bool quiet, help;
	char **program;
	struct stats_head *head;
	struct node_stats *stats;
	int stats_fd;
	int protocol, transport;
	struct connections connections;
	struct procs procs;
};

static const char *const protocols[] = { "wi", "wu", "wu+", "wu-seq", "auto",
	NULL };
static const char *const transports[] = { "memory", "sockets", NULL };

enum {
	MEMORY = 256, RESIDENT, JSON, RECORD, QUIET, INTERFACE, NODE, CLUSTER,
	PROTOCOL, TRANSPORT, HOSTS, HOSTFILE, AGENT, WATCHED, KEY, TRUST_WIRE, OWN,
};

/* One that says what to do, not what to call it. */
static bool option_take(struct run *r, int c, const char *value)
{
	switch (c) {
	case 'n':
		r->nodes_told = true;
		return cli_number("-n", value, 1, NODE_NODES, &r->nodes);
	case MEMORY:
		r->mib_told = true;
		return cli_number("--memory", value, 1, 1 << 20, &r->mib);
	case RESIDENT:
		return cli_number("--resident", value, 1, 1 << 20,
				  &r->resident);
	case NODE:
		r->node_told = true;
		return cli_number("--node", value, 0, NODE_NODES - 1, &r->node);
	case CLUSTER:
		r->cluster_told = true;
		return cli_number("--cluster", value, 0, 0xffff,
				  &r->wire.cluster);
	case PROTOCOL:
		r->protocol_told = true;
		return cli_choice("run: --protocol", value, protocols,
				  &r->protocol);
	case HOSTS:
		return hosts_list(&r->hosts, optarg);
	case HOSTFILE:
		return hosts_file(&r->hosts, value);
	case TRANSPORT:
		return cli_choice("run: --transport", value, transports,
				  &r->transport);
	}
	r->own |= c == OWN;
	r->watched |= c == WATCHED;
	r->wire.trust |= c == TRUST_WIRE;
	r->quiet |= c == QUIET;
	r->help |= c == 'h';
	return c != '?';
}

static bool parse(struct run *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "nodes", required_argument, NULL, 'n' },
		{ "memory", required_argument, NULL, MEMORY },
		{ "resident", required_argument, NULL, RESIDENT },
		{ "own-faults", no_argument, NULL, OWN },
		{ "interface", required_argument, NULL, INTERFACE },
		{ "node", required_argument, NULL, NODE },
		{ "cluster", required_argument, NULL, CLUSTER },
		{ "protocol", required_argument, NULL, PROTOCOL },
		{ "transport", required_argument, NULL, TRANSPORT },
		{ "record", required_argument, NULL, RECORD },
		{ "hosts", required_argument, NULL, HOSTS },
		{ "hostfile", required_argument, NULL, HOSTFILE },
		{ "agent", required_argument, NULL, AGENT },
		{ "watched", no_argument, NULL, WATCHED },
		{ "key", required_argument, NULL, KEY },
		{ "trust-wire", no_argument, NULL, TRUST_WIRE },
		{ "json", required_argument, NULL, JSON },
		{ "quiet", no_argument, NULL, QUIET },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "+hn:", options, NULL)) >= 0) {
		if (c == INTERFACE)
			r->wire.interface = optarg;
		else if (c == KEY)
			r->wire.key = optarg;
		else if (c == AGENT)
			r->hosts.agent = optarg;
		else if (c == RECORD)
			r->record = optarg;
		else if (c == JSON)
			r->json = optarg;
		else if (!option_take(r, c, optarg))
			return false;
	}
	r->program = argv + optind;
	if (r->hosts.agent && !r->hosts.nr) {
		cli_error("run: --agent is for --hosts");
		return false;
	}
	if (!r->help && !*r->program)
		cli_error("run: no program; try mios-dsm run --help");
	return r->help || *r->program;
}

static bool stats_prepare(struct run *r)
{
	u64 size = stats_size(r->nodes, r->mib * 256);
	struct stats_head *head;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	r->stats_fd = memfd_create(STATS_NAME, MFD_CLOEXEC);
	if (r->stats_fd < 0 || ftruncate(r->stats_fd, size))
		return false;
	head = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, r->stats_fd, 0);
	if (head == MAP_FAILED)
		return false;
	*head = (struct stats_head){
		.version = STATS_VERSION, .nodes = r->nodes, .first = r->procs.first,
		.end = r->procs.end, .pages = r->mib * 256, .protocol = r->protocol,
		.begin = now.tv_sec * 1000000000ULL + now.tv_nsec,
	};
	/* Who finds that finds all of it. */
	__atomic_store_n(&head->magic, STATS_MAGIC, __ATOMIC_RELEASE);
	r->head = head;
	r->stats = stats_node(head, 0);
	return true;
}

/* Ways between the nodes, and memory for what they count. */
static int prepare(struct run *r)
{
	int err;

	if (!stats_prepare(r))
		return cli_error("run: %s", strerror(errno));
	connections_clear(&r->connections);
	err = r->wire.interface ? 0 :
		connections_make(&r->connections, r->nodes, !r->transport);
	return err ? cli_error("run: %s", strerror(-err)) : 0;
}

/* In the child: keeps its own descriptors, tells the program which. */
static void become(void *run, u64 self)
{
	struct run *r = run;
	char text[80 + 3 * 12 * NODE_NODES], wire[WIRE_TEXT];
	int n = snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64 ":%" PRIu64
			 ":%d:%" PRIu64 ":%d:%d", r->nodes, self,
			 r->mib * 256, r->protocol, r->resident * 256, r->own,
			 r->stats_fd);

	fcntl(r->stats_fd, F_SETFD, 0);
	connections_keep(&r->connections, r->nodes, self, text + n,
			 sizeof(text) - n);
	setenv(START_VARIABLE, text, 1);
	if (r->watched)		/* what comes in there is not the program's */
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	unsetenv(START_WIRE);
	if (r->wire.interface) {
		wire_text(&r->wire, r->transport, wire);
		setenv(START_WIRE, wire, 1);
	}
	execvp(*r->program, r->program);
	cli_error("run: '%s': %s", *r->program, strerror(errno));
	_exit(127);
}

/* Who started us is gone, and so are we; wait_all() sees the rest. */
static void watch(struct run *r)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (!r->watched || poll(&p, 1, 0) < 1 || read(p.fd, &byte, 1) > 0)
		return;
	r->watched = false;
	procs_kill(&r->procs);
}

/* Nobody looks at a file while it grows. */
static bool progress_wanted(const struct run *r)
{
	return !r->quiet && isatty(STDERR_FILENO);
}

/* Until something may have happened. */
static void rest(struct run *r)
{
	struct pollfd p = { .fd = r->wire.ether.fd, .events = POLLIN };

	watch(r);
	if (r->record)
		record_look(&r->record_of, r->head, r->head);
	if (progress_wanted(r))
		progress_look(&r->progress, r->head, r->head, r->procs.left);
	if (!r->leader.askers) {
		usleep(r->record ? LOOK : REST);
		return;
	}
	poll(&p, 1, (r->record ? LOOK : REST) / 1000);
	discover_answer(&r->leader);
}

static void wait_all(struct run *r)
{
	while (r->procs.left) {
		bool look = r->record || r->watched || r->leader.askers ||
			progress_wanted(r);
		u64 before = r->procs.left;

		procs_wait(&r->procs, r->stats, look);
		if (look && r->procs.left == before)
			rest(r);
	}
}

/* Of a node, as far as mios-dsm run knows. */
static struct ether_note note_of(const struct run *r)
{
	return (struct ether_note){
		.magic = ETHER_MAGIC, .version = ETHER_VERSION,
		.cluster = r->wire.cluster, .life = r->wire.life,
		.nodes = r->nodes, .node = r->node, .mtu = ETHER_MTU_LEAST,
		.pages = r->mib * 256, .protocol = r->protocol,
	};
}

/* The bootstrap node tells what the others do not know. */
static int discover(struct run *r)
{
	struct ether_note self = note_of(r);
	int err;

	if (r->nodes_told) {
		r->leader.ether = &r->wire.ether;
		r->leader.self = self;
		return discover_lead(&r->leader);
	}
	err = discover_ask(&r->wire.ether, &self);
	r->nodes = self.nodes;
	r->node = self.node;
	r->mib = self.pages / 256;
	r->protocol = self.protocol;
	return err;
}

/* Options that do not go together; 0 or 2. */
static int wire_options(const struct run *r)
{
	if (r->protocol != DSM_WI && r->nodes > UPDATE_NODES)
		return cli_error("run: protocols with updates have at most %d nodes",
				 UPDATE_NODES);
	if (!r->wire.interface && (r->node_told || r->cluster_told))
		return cli_error("run: --node and --cluster are for --interface");
	if (!r->wire.interface)
		return 0;
	if (!r->nodes_told && !r->node_told &&
	    (r->mib_told || r->protocol_told))
		return cli_error("run: --memory and --protocol are the bootstrap node's, which has -n");
	if (r->node >= r->nodes)
		return cli_error("run: --node %" PRIu64 " of -n %" PRIu64,
				 r->node, r->nodes);
	if (strlen(r->wire.interface) >= ETHER_NAME)
		return cli_error("run: '%s' is no name of an interface",
				 r->wire.interface);
	return 0;
}

/* Which nodes run here; those of a wire are there afterwards. */
static int wire_good(struct run *r)
{
	int err = wire_options(r);

	r->procs.end = r->nodes;
	if (err || !r->wire.interface)
		return err;
	err = wire_open(&r->wire);
	if (!err && !r->node_told)
		err = discover(r);
	r->procs.first = r->node;
	r->procs.end = r->node + 1;
	return err;
}

/* Each of them prints its own table. */
static int on_hosts(struct run *r)
{
	char cluster[24], mib[24], resident[24];
	struct hosts_word option[17] = {
		{ "--cluster", 0 }, { cluster, 0 }, { "--memory", 0 }, { mib, 0 },
		{ "--protocol", 0 }, { protocols[r->protocol], 0 },
		{ "--transport", 0 }, { transports[r->transport], 0 },
	}, *at = option + 8;

	if (r->node_told || (r->nodes_told && r->nodes != r->hosts.nr))
		return cli_error("run: --hosts says how many nodes there are, and which is which");
	snprintf(cluster, sizeof(cluster), "%" PRIu64, r->wire.cluster);
	snprintf(mib, sizeof(mib), "%" PRIu64, r->mib);
	snprintf(resident, sizeof(resident), "%" PRIu64, r->resident);
	if (r->resident) {
		*at++ = (struct hosts_word){ "--resident", false };
		*at++ = (struct hosts_word){ resident, false };
	}
	if (r->json) {
		*at++ = (struct hosts_word){ "--json", false };
		*at++ = (struct hosts_word){ r->json, strcmp(r->json, "-") };
	}
	if (r->record) {
		*at++ = (struct hosts_word){ "--record", false };
		*at++ = (struct hosts_word){ r->record, true };
	}
	if (r->own)
		*at++ = (struct hosts_word){ "--own-faults", false };
	if (r->quiet)
		*at++ = (struct hosts_word){ "--quiet", false };
	/* No file of theirs is needed: it is this run's. */
	if (!r->wire.trust && !r->wire.key && !key_draw(r->wire.secret.key))
		return 2;
	r->hosts.key = r->wire.trust ? NULL : r->wire.secret.key;
	r->hosts.interface = r->wire.interface;
	if (!r->hosts.agent)
		r->hosts.agent = "ssh";
	return hosts_run(&r->hosts, option, r->program);
}

/* Before nodes begin; what is written afterwards can be. */
static bool files_good(const struct run *r)
{
	const char *json = r->json && strcmp(r->json, "-") ? r->json : NULL;
	const struct cli_file file[] = {
		{ "--json", json }, { "--record", r->record },
	};

	return cli_create(json) && cli_create(r->record) &&
		cli_files_differ(file, 2);
}

int cmd_run(int argc, char **argv)
{
	static struct run r = { .nodes = 4, .mib = 128 };
	int err;

	/* Some programs leave it ignored to others: nobody could be waited for. */
	signal(SIGCHLD, SIG_DFL);

	if (!parse(&r, argc, argv))
		return 2;
	if (r.help) {
		fputs(help, stdout);
		return 0;
	}
	if (r.mib * 256 < 2 * LAYOUT_OWN)
		return cli_error("--memory: a window has at least %d MiB",
				 2 * LAYOUT_OWN / 256 + 1);
	err = wire_key(&r.wire, r.hosts.nr);
	if (err)
		return err;
	if (r.hosts.nr)
		return on_hosts(&r);
	if (!files_good(&r))
		return 2;
	err = wire_good(&r);
	if (!err)
		err = prepare(&r);
	if (!err)
		err = procs_start(&r.procs, become, &r);
	if (err)
		return err;
	connections_close(&r.connections, r.nodes);
	/* Whoever is late is told so until we end. */
	wait_all(&r);
	if (r.wire.interface)
		wire_end(&r.wire, note_of(&r));
	procs_obey();
	if (!r.quiet)
		nodes_table(stderr, r.procs.first, r.procs.end, r.stats,
			    r.procs.status);
	if (r.json && nodes_json(r.json, r.procs.first, r.procs.end, r.stats,
				 r.procs.status))
		return 2;
	if (r.record && record_write(&r.record_of, r.record, r.head, r.head,
				     *r.program))
		return 2;
	return r.procs.result;
}
