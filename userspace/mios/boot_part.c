// SPDX-License-Identifier: GPL-2.0
/*
 * mios boot 1 --cpus=2-3 --memory=1G: a part of this machine that no word of the
 * command line has set aside.  Takes blocks of memory offline, one after another,
 * until there is as much as was asked for, loads mios with a part of them, and makes
 * instance 0 the host.  What does not become a part is online again.  Called by
 * boot.c, before it looks at what there is to boot.
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

/* Each ends a write that goes on. */
static void on_signal(int sig)
{
	if (sig != SIGALRM)
		stopped = sig;
}

static void signals(void)
{
	static const int all[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
	const struct sigaction act = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sigaction(all[i], &act, NULL);
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
static void give_back(void)
{
	char path[128];
	int i;

	for (i = 0; i < BLOCKS; i++)
		if (try.state[i] == BLOCK_OURS && !block_write(i, "online")) {
			snprintf(path, sizeof(path), MEMORY_DIR "/memory%d", i);
			mios_error("mios", "boot: %s stays offline until instance "
				   "0 boots again", path);
		}
}

static void end_if_stopped(void)
{
	if (!stopped)
		return;
	give_back();
	mios_die(MIOS_EXIT_FAILED, "boot: ended by a signal, its memory is online again");
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
	char path[128], state[16];

	snprintf(path, sizeof(path), MEMORY_DIR "/memory%d/node%d", number, node);
	if (access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), MEMORY_DIR "/memory%d/state", number);
	return check_read(path, state, sizeof(state)) && !strcmp(state, "online");
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

/* Of the first of them; the module looks at the others. */
static int node_of(const char *cpus)
{
	char path[128], *rest;
	long cpu = strtol(cpus, &rest, 10);
	int node;

	if (rest == cpus || cpu < 0 || cpus[strspn(cpus, "0123456789,-")])
		mios_usage("boot", "--cpus is a list such as 4-7 or 2,6");
	for (node = 0; node < MIOS_MAX_INSTANCES; node++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%ld/node%d", cpu, node);
		if (!access(path, F_OK))
			return node;
	}
	mios_die(MIOS_EXIT_FAILED, "boot: CPU %ld is not online", cpu);
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

/* What parts there are is settled when mios is loaded, and by one word. */
static void must_be_first(int argc, char **argv)
{
	char value[1024];

	if (argc != 1 || strcmp(argv[0], "1"))
		mios_usage("boot", "--cpus and --memory make part 1, of a machine "
			   "without others: mios boot 1 --cpus=4-7 --memory=8G");
	if (geteuid())
		mios_die(MIOS_EXIT_FAILED, "boot: a part is made by root");
	if ((check_word("mios.parts=", value, sizeof(value)) ||
	     check_line("/etc/default/mios", "parts=", value, sizeof(value))) &&
	    value[0])
		mios_die(MIOS_EXIT_FAILED, "boot: this machine has parts, %s: boot one "
			 "of these, or take that word away", value);
	if (!access(MIOS_SYSFS, F_OK))
		mios_die(MIOS_EXIT_FAILED, "boot: mios is loaded, and what parts there "
			 "are is settled then: boot instance 0 without mios.service, "
			 "then --cpus and --memory");
}

/* Called by who has made the part; ends where it could not. */
static void part_load(char *parts)
{
	char * const mios[] = { "modprobe", "mios", parts, NULL };
	char * const out[] = { "rmmod", "mios", NULL };
	char * const host[] = { "mios-host-setup", NULL };
	struct mios_instance inst;

	if (!boot_run(mios)) {
		give_back();
		mios_die(MIOS_EXIT_FAILED, "boot: the module mios does not load: dmesg "
			 "may say why");
	}
	if (mios_instance_read(1, &inst) || !inst.memory) {
		boot_run(out);
		give_back();
		mios_die(MIOS_EXIT_FAILED, "boot: mios can make no part of %s: dmesg "
			 "says why", parts + strlen("parts="));
	}
	if (!boot_run(host))
		mios_die(MIOS_EXIT_FAILED, "boot: part 1 is there, but instance 0 is "
			 "not its host: run mios-host-setup to see why");
}

/* --cpus and --memory; ends with a line where it cannot be. */
void boot_part(const struct boot_options *opt, int argc, char **argv)
{
	char parts[512];
	int node;

	if (!opt->cpus || !opt->memory)
		mios_usage("boot", "--cpus and --memory go together");
	if (opt->dry_run)
		mios_usage("boot", "--dry-run makes no part: leave it out");
	must_be_first(argc, argv);
	node = node_of(opt->cpus);
	try.block = block_size();
	try.wanted = (size_parse(opt->memory) + try.block - 1) / try.block *
		     try.block;
	must_have_room(try.wanted);
	signals();
	printf("taking %" PRIu64 "M of node %d's memory offline, in blocks of %" PRIu64
	       "M\n", try.wanted >> 20, node, try.block >> 20);
	blocks_take(node);
	part_text(opt->cpus, parts, sizeof(parts));
	printf("part 1: %s\n", parts + strlen("parts="));
	end_if_stopped();
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	part_load(parts);
}
