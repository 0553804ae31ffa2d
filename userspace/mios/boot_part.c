// SPDX-License-Identifier: GPL-2.0
/*
 * mios boot 1 --cpus=2-3 --memory=1G: a part of this machine that no word of the
 * command line has set aside.  Takes blocks of memory offline, one after another,
 * until there is as much as was asked for, loads mios with a part of them, and makes
 * instance 0 the host.  What does not become a part is online again, also after a
 * signal.  Called by boot.c, when it has all that it boots the part with, and before
 * it looks at what nodes there are.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "check.h"
#include "libmios/libmios.h"
#include "split.h"

#define MEMORY_DIR	"/sys/devices/system/memory"
#define CPU_DIR		"/sys/devices/system/cpu"
#define BLOCKS		65536
#define CPUS		8192
#define BLOCK_SECONDS	15		/* as long as a node is waited for, each */
#define LEAST		(256ULL << 20)
#define KEPT		(256ULL << 20)	/* what instance 0 is to have free */

enum block_state { BLOCK_NONE, BLOCK_OURS, BLOCK_HELD, BLOCK_BELOW };

/* What has been tried. */
static struct {
	uint64_t block, wanted, taken;
	char state[BLOCKS];
	int held, below, runs;
} try;

static volatile sig_atomic_t stopped;

/* SIGPIPE: who reads what is printed may have seen enough. */
static const int caught[] = {
	SIGALRM, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE
};

#define NR_CAUGHT	(sizeof(caught) / sizeof(caught[0]))

static struct sigaction before[NR_CAUGHT];

/* Each ends a write that goes on. */
static void on_signal(int sig)
{
	if (sig != SIGALRM)
		stopped = sig;
}

static void signals_take(void)
{
	struct sigaction act = { };
	size_t i;

	for (i = 0; i < NR_CAUGHT; i++) {
		act.sa_handler = caught[i] == SIGPIPE ? SIG_IGN : on_signal;
		sigaction(caught[i], &act, &before[i]);
		if (before[i].sa_handler == SIG_IGN)	/* nohup */
			sigaction(caught[i], &before[i], NULL);
	}
}

static void signals_return(void)
{
	size_t i;

	for (i = 0; i < NR_CAUGHT; i++)
		sigaction(caught[i], &before[i], NULL);
}

/* Until signals_open(), also for what is run meanwhile: it is not left half done. */
static void signals_hold(sigset_t *mask)
{
	sigset_t held;
	size_t i;

	sigemptyset(&held);
	for (i = 0; i < NR_CAUGHT; i++)
		if (caught[i] != SIGALRM)
			sigaddset(&held, caught[i]);
	sigprocmask(SIG_BLOCK, &held, mask);
}

static void signals_open(const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static bool run_whole(char * const argv[])
{
	sigset_t mask;
	bool done;

	signals_hold(&mask);
	done = boot_run(argv);
	signals_open(&mask);
	return done;
}

static bool block_is(int number, const char *state)
{
	char path[128], now[16];

	snprintf(path, sizeof(path), MEMORY_DIR "/memory%d/state", number);
	return check_read(path, now, sizeof(now)) && !strcmp(now, state);
}

static bool block_write(int number, const char *what)
{
	char path[128];
	bool done;
	int fd;

	snprintf(path, sizeof(path), MEMORY_DIR "/memory%d/state", number);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* Linux tries for ever, until a signal comes. */
	alarm(BLOCK_SECONDS);
	done = write(fd, what, strlen(what)) > 0;
	alarm(0);
	close(fd);
	return done;
}

/* All that has no use any more; what has been removed has no file any more. */
static bool give_back(void)
{
	bool all = true;
	sigset_t mask;
	int i;

	signals_hold(&mask);
	for (i = 0; i < BLOCKS; i++) {
		/* What the module has removed and added again may be it already. */
		if (try.state[i] != BLOCK_OURS || block_write(i, "online") ||
		    block_is(i, "online"))
			continue;
		mios_error("mios", "boot: " MEMORY_DIR "/memory%d stays offline until "
			   "instance 0 boots again", i);
		all = false;
	}
	signals_open(&mask);
	return all;
}

static void end_if_stopped(void)
{
	bool all;

	if (!stopped)
		return;
	all = give_back();
	mios_die(MIOS_EXIT_FAILED, "boot: ended by a signal, its memory is %sonline "
		 "again", all ? "" : "not all ");
}

/*
 * From where on a block can be taken out of the range of RAM that has @base: behind
 * what Linux lists in it, as its own image; UINT64_MAX: it is in none.
 */
static uint64_t usable_from(uint64_t base, uint64_t size)
{
	FILE *file = fopen("/proc/iomem", "re");
	uint64_t start, end, from = UINT64_MAX;
	bool inside = false;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		if (!isspace((unsigned char)line[0])) {
			inside = strstr(line, ": System RAM\n") &&
				 start <= base && base + size - 1 <= end;
			if (inside)
				from = start;
		} else if (inside && end >= from) {
			from = end + 1;
		}
	}
	if (file)
		fclose(file);
	return from;
}

static bool block_online(int number, int node)
{
	char path[128];

	snprintf(path, sizeof(path), MEMORY_DIR "/memory%d/node%d", number, node);
	return !access(path, F_OK) && block_is(number, "online");
}

static void block_try(int number, int node)
{
	const uint64_t base = number * try.block;
	uint64_t from;

	if (!block_online(number, node))
		return;
	from = usable_from(base, try.block);
	if (from == UINT64_MAX)
		return;
	if (base < from) {
		try.state[number] = BLOCK_BELOW;
		try.below++;
	} else if (!block_write(number, "offline")) {
		try.state[number] = BLOCK_HELD;
		try.held++;
	} else {
		try.runs += try.state[number + 1] != BLOCK_OURS;
		try.state[number] = BLOCK_OURS;
		try.taken += try.block;
	}
}

/* From the top, as instance 0's devices reach what is low. */
static void blocks_take(int node)
{
	char text[32];
	int i;

	for (i = BLOCKS - 2; i >= 0 && try.taken < try.wanted && !stopped; i--)
		if (try.runs < SPLIT_RANGES || try.state[i + 1] == BLOCK_OURS)
			block_try(i, node);
	end_if_stopped();
	if (try.taken >= try.wanted)
		return;
	give_back();
	mios_size_text(try.taken, text, sizeof(text));
	mios_die(MIOS_EXIT_FAILED, "boot: of node %d's memory %s can be had in %d "
		 "ranges, in blocks of %" PRIu64 "M: %d blocks hold data that cannot "
		 "move, %d lie below the kernel's image; mios reserve sets memory "
		 "aside", node, text, SPLIT_RANGES, try.block >> 20, try.held,
		 try.below);
}

/* CPUS/SIZE@ADDRESS+..., with what has been taken. */
static void part_text(const char *cpus, char *text, size_t size)
{
	size_t len = snprintf(text, size, "parts=%s", cpus);
	char *c, sep = '/';
	int i, end;

	for (c = text; *c; c++)
		if (*c == ',')
			*c = '+';
	for (i = 0; i < BLOCKS && len < size; i = end + 1) {
		for (end = i; end < BLOCKS && try.state[end] == BLOCK_OURS; end++)
			;
		if (end == i)
			continue;
		len += snprintf(text + len, size - len, "%c%" PRIu64 "M@%#" PRIx64,
				sep, (end - i) * try.block >> 20, i * try.block);
		sep = '+';
	}
}

/* A list such as 4-7 or 2,6; in a part's words with + for the comma, up to a slash. */
static bool cpus_parse(const char *list, bool *cpus)
{
	long first, last;
	char *rest;

	memset(cpus, 0, CPUS);
	for (;; list = rest + 1) {
		if (!isdigit((unsigned char)*list))
			return false;
		first = strtol(list, &rest, 10);
		last = first;
		if (*rest == '-' && isdigit((unsigned char)rest[1]))
			last = strtol(rest + 1, &rest, 10);
		if (first > last || last >= CPUS)
			return false;
		memset(cpus + first, true, last - first + 1);
		if (*rest != ',' && *rest != '+')
			return !*rest || *rest == '/';
	}
}

static int node_of(int cpu)
{
	char path[128], online[8];
	int node;

	if (!cpu)
		mios_die(MIOS_EXIT_FAILED, "boot: CPU 0 stays instance 0's: leave it "
			 "out of --cpus");
	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
	if (!check_read(path, online, sizeof(online)) || online[0] != '1')
		mios_die(MIOS_EXIT_FAILED, "boot: CPU %d is not online", cpu);
	for (node = 0; node < MIOS_MAX_INSTANCES; node++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/node%d", cpu, node);
		if (!access(path, F_OK))
			return node;
	}
	mios_die(MIOS_EXIT_FAILED, "boot: CPU %d is of no node", cpu);
}

/* Looked at before any memory is; the module has the last word. */
static int cpus_node(const char *list)
{
	static bool cpus[CPUS];
	int cpu, node = -1;

	if (strpbrk(list, "+/") || !cpus_parse(list, cpus))
		mios_usage("boot", "--cpus is a list such as 4-7 or 2,6");
	for (cpu = 0; cpu < CPUS; cpu++) {
		if (!cpus[cpu])
			continue;
		if (node >= 0 && node_of(cpu) != node)
			mios_die(MIOS_EXIT_FAILED, "boot: CPU %d is not of node %d, as "
				 "others of --cpus are", cpu, node);
		node = node_of(cpu);
	}
	return node;
}

static uint64_t size_parse(const char *text)
{
	char *rest;
	uint64_t size = strtoull(text, &rest, 10);
	int shift = *rest == 'M' ? 20 : *rest == 'G' ? 30 : 0;

	if (!isdigit((unsigned char)*text) || !shift || rest[1] ||
	    size > 1ULL << (62 - shift) || size << shift < LEAST)
		mios_usage("boot", "--memory is a size such as 8G, at least %lluM",
			   LEAST >> 20);
	return size << shift;
}

/* Else what lives there would have nowhere to go. */
static void must_have_room(uint64_t size)
{
	char text[64], have[32];
	uint64_t kib = 0;

	if (check_line("/proc/meminfo", "MemAvailable:", text, sizeof(text)))
		kib = strtoull(text, NULL, 10);
	if (kib << 10 >= size + KEPT)
		return;
	mios_size_text(kib << 10, have, sizeof(have));
	mios_die(MIOS_EXIT_FAILED, "boot: instance 0 has %s of memory that is free or "
		 "can be: it is to keep %lluM", have, KEPT >> 20);
}

static bool is_part_1(const char *list)
{
	static bool wanted[CPUS], there[CPUS];
	struct mios_instance inst;
	char part[1024];

	return !mios_instance_read(1, &inst) && inst.memory &&
	       check_read(MIOS_SYSFS "/instance1/part", part, sizeof(part)) &&
	       cpus_parse(part, there) && cpus_parse(list, wanted) &&
	       !memcmp(wanted, there, sizeof(there));
}

/* What parts there are is settled when mios is loaded, and by one word. */
static void must_be_first(const char *list)
{
	char value[1024];

	if (geteuid())
		mios_die(MIOS_EXIT_FAILED, "boot: a part is made by root");
	if ((check_word("mios.parts=", value, sizeof(value)) ||
	     check_line("/etc/default/mios", "parts=", value, sizeof(value))) &&
	    value[0])
		mios_die(MIOS_EXIT_FAILED, "boot: this machine has parts, %s: boot one "
			 "of these, or take that word away", value);
	if (access(MIOS_SYSFS, F_OK))
		return;
	if (is_part_1(list))
		mios_die(MIOS_EXIT_FAILED, "boot: part 1 with these CPUs is there: boot "
			 "it with 'mios boot 1'");
	mios_die(MIOS_EXIT_FAILED, "boot: mios is loaded, and what parts there are is "
		 "settled then: boot instance 0 without mios.service, then --cpus and "
		 "--memory");
}

/* Ends where it could not be made. */
static void part_load(char *parts)
{
	char * const mios[] = { "modprobe", "mios", parts, NULL };
	char * const out[] = { "rmmod", "mios", NULL };
	char * const host[] = { "mios-host-setup", NULL };
	struct mios_instance inst;
	bool gone;

	if (!run_whole(mios) || access(MIOS_SYSFS, F_OK)) {
		end_if_stopped();
		give_back();
		mios_die(MIOS_EXIT_FAILED, "boot: the module mios does not load: dmesg "
			 "may say why");
	}
	if (mios_instance_read(1, &inst) || !inst.memory) {
		gone = run_whole(out);
		give_back();
		mios_die(MIOS_EXIT_FAILED, "boot: mios can make no part of %s: dmesg "
			 "says why%s", parts + strlen("parts="),
			 gone ? "" : "; rmmod mios before the next try");
	}
	signals_return();
	if (stopped)
		mios_die(MIOS_EXIT_FAILED, "boot: ended by a signal, and part 1 is "
			 "there: mios-host-setup, then 'mios boot 1' boot it");
	if (!boot_run(host))
		mios_die(MIOS_EXIT_FAILED, "boot: part 1 is there, but instance 0 is "
			 "not its host: run mios-host-setup to see why");
}

/* --cpus and --memory: before anything is read that it is to boot with. */
void boot_part_check(const struct boot_options *opt, int argc, char **argv)
{
	if (!opt->cpus || !opt->memory)
		mios_usage("boot", "--cpus and --memory go together");
	if (opt->dry_run)
		mios_usage("boot", "--dry-run makes no part: leave it out");
	if (opt->configured || argc != 1 || strcmp(argv[0], "1"))
		mios_usage("boot", "--cpus and --memory make part 1, of a machine "
			   "without others: mios boot 1 --cpus=4-7 --memory=8G");
	try.block = block_size();
	try.wanted = (size_parse(opt->memory) + try.block - 1) / try.block *
		     try.block;
	cpus_node(opt->cpus);
	must_be_first(opt->cpus);
	must_have_room(try.wanted);
}

/* Makes it, for what is planned; ends with a line where it cannot be. */
void boot_part(const struct boot_plan *plan)
{
	const int node = cpus_node(plan->options.cpus);
	char parts[512];

	boot_plan_fits(plan, 1, try.wanted);
	must_have_room(try.wanted);	/* besides its files */
	signals_take();
	printf("taking %" PRIu64 "M of node %d's memory offline, in blocks of %" PRIu64
	       "M\n", try.wanted >> 20, node, try.block >> 20);
	blocks_take(node);
	part_text(plan->options.cpus, parts, sizeof(parts));
	printf("part 1: %s\n", parts + strlen("parts="));
	end_if_stopped();
	part_load(parts);
}
