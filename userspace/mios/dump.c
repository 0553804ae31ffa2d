// SPDX-License-Identifier: GPL-2.0
/*
 * mios dump: writes the memory of an instance that has crashed into a file,
 * before its node is used again, and gives the node back.  Started by a person,
 * or by the kernel when dump_policy is "always".  The kernel lets one
 * reader in at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dump.h"
#include "flags.h"
#include "libmios/libmios.h"
#include "subcommands.h"

#define FOLDER		"/var/crash"
#define REG_IP		16		/* struct user_regs_struct */
#define NOT_FOUND	127		/* status of an exec that failed */

static const char usage[] =
"Usage: mios dump INSTANCE FILE [--elf]\n"
"       mios dump INSTANCE --discard\n"
"Writes the memory of an instance that has crashed into FILE, for gdb or\n"
"crash, and gives its node back.  Nodes are held for this if the module's\n"
"parameter dump_policy is 'ask'; with 'always' it is done without asking.\n"
"Where makedumpfile is installed FILE is compressed and holds what is of the\n"
"kernel, else it is an ELF core file of everything.\n\n"
"  -e, --elf      an ELF core file in any case: gdb reads no other\n"
"  -d, --discard  write nothing, only give the node back\n"
"      --auto     into " FOLDER "; for the kernel to call\n"
"  -h, --help     print this\n";

struct request {
	int instance;
	const char *file;
	bool elf, discard, automatic;
};

static volatile int stop;		/* a signal says so */

static void on_signal(int sig)
{
	stop = 1;
}

static char *automatic_name(const struct dump *d)
{
	time_t now = time(NULL);
	char when[32] = "", *path;

	if (mkdir(FOLDER, 0700) && errno != EEXIST)
		mios_error("mios", "dump: " FOLDER ": %m");
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", gmtime(&now));
	if (asprintf(&path, FOLDER "/mios-%u-%u-%s.vmcore", d->node.instance,
		     d->node.incarnation, when) < 0)
		mios_die(MIOS_EXIT_FAILED, "dump: %m");
	return path;
}

static void cpu_show(const struct mios_dump_cpu *cpu, unsigned int i)
{
	char comm[MIOS_DUMP_COMM + 1] = "";
	char *c;

	if (!(cpu->flags & MIOS_CPU_SAVED)) {
		printf("  CPU %u (APIC id %u): no registers\n", i, cpu->apicid);
		return;
	}
	memcpy(comm, cpu->comm, MIOS_DUMP_COMM);
	for (c = comm; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	printf("  CPU %u (APIC id %u): at %#" PRIx64 ", task %u (%s)%s\n", i,
	       cpu->apicid, (uint64_t)cpu->regs[REG_IP], cpu->pid, comm,
	       cpu->flags & MIOS_CPU_PANICKED ? ", panicked" : "");
}

static void node_show(const struct dump *d)
{
	char size[16];
	unsigned int i;

	mios_size_text(d->memory, size, sizeof(size));
	printf("instance %u, incarnation %u: %s of memory, %u CPUs\n",
	       d->node.instance, d->node.incarnation, size, d->node.nr_cpus);
	for (i = 0; i < d->node.nr_cpus; i++)
		cpu_show(&d->cpus[i], i);
}

/* Opens the node's memory; what is not known of the kernel is said. */
static struct dump *dump_open(int device, const struct request *rq)
{
	static struct dump d;
	unsigned int i;
	int err;

	d.node.instance = rq->instance;
	d.node.flags = rq->automatic ? MIOS_DUMP_LAST : 0;
	d.node.cpus = (uintptr_t)d.cpus;
	d.node.nr_cpus = DUMP_CPUS;
	if (ioctl(device, MIOS_IOC_DUMP, &d.node))
		mios_die(MIOS_EXIT_FAILED, "dump %d: %s", rq->instance,
			 mios_reason(device, errno));
	d.fd = d.node.fd;
	if (d.node.nr_cpus > DUMP_CPUS || d.node.nr_ranges > MIOS_DUMP_RANGES)
		mios_die(MIOS_EXIT_FAILED, "dump %d: mios and its module do "
			 "not fit together", rq->instance);
	for (i = 0; i < d.node.nr_ranges; i++)
		d.memory += d.node.ranges[i].size;
	dump_info_read(&d);
	err = d.note ? dump_maps_find(&d) : -ENOENT;
	if (err || !d.node.page_offset)
		mios_error("mios", "dump %d: the kernel there says too little "
			   "of itself: gdb will find its memory by physical "
			   "addresses only", rq->instance);
	else if (d.more_maps)
		mios_error("mios", "dump %d: some of what vmalloc() gave is "
			   "not named in the file", rq->instance);
	return &d;
}

/* The command that shows it, for a person to paste. */
static void gdb_show(const struct dump *d, const char *path)
{
	unsigned int i, thread = 0;

	for (i = 0; i < d->node.nr_cpus; i++) {
		thread += !!(d->cpus[i].flags & MIOS_CPU_SAVED);
		if (d->cpus[i].flags & MIOS_CPU_PANICKED)
			break;
	}
	printf("gdb -ex 'symbol-file -o %#" PRIx64 " VMLINUX' "
	       "-ex 'core-file %s'", d->offset, path);
	if (i < d->node.nr_cpus && d->cpus[i].flags & MIOS_CPU_SAVED)
		printf(" -ex 'thread %u'", thread);
	printf("\n");
}

static void written_show(const char *path)
{
	char size[16], used[16];
	struct stat st;

	if (stat(path, &st))
		return;
	mios_size_text(st.st_size, size, sizeof(size));
	mios_size_text(st.st_blocks * 512ULL, used, sizeof(used));
	printf("%s: %s, on the disk %s\n", path, size, used);
}

/* 0: @to holds it; -ENOENT: there is no makedumpfile; else it failed. */
static int compress_to(const char *from, const char *to)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		/* Errors; to a person also how far it is. */
		execlp("makedumpfile", "makedumpfile", "-c", "-d", "31",
		       "--message-level", isatty(STDERR_FILENO) ? "5" : "4",
		       from, to, NULL);
		_exit(NOT_FOUND);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return -ENOENT;
	return status ? -EIO : 0;
}

static bool have_makedumpfile(void)
{
	return !system("command -v makedumpfile > /dev/null 2>&1");
}

static void core_write(const struct dump *d, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		mios_die(MIOS_EXIT_FAILED, "dump %u: %s: %m", d->node.instance,
			 path);
	err = dump_core_write(d, fd, &stop);
	if (close(fd) && !err)
		err = -errno;
	if (!err)
		return;
	unlink(path);
	mios_die(MIOS_EXIT_FAILED, "dump %u: %s: %s%s", d->node.instance,
		 path, err == -ESTALE ? "the node has been given back" :
		 strerror(-err), err == -ESTALE ||
		 d->node.flags & MIOS_DUMP_LAST ? "" : " (the node is held: "
		 "try again, or --discard)");
}

static void give_back(int device, int instance)
{
	struct mios_dump all = {
		.instance = instance,
		.flags = MIOS_DUMP_DISCARD,
	};

	if (ioctl(device, MIOS_IOC_DUMP, &all))
		mios_die(MIOS_EXIT_FAILED, "dump %d: %s", instance,
			 mios_reason(device, errno));
	printf("instance %d: its node is back\n", instance);
}

/* The node is back before makedumpfile begins, which takes its time. */
static void dump_write(int device, struct dump *d, const struct request *rq)
{
	bool small = !rq->elf && have_makedumpfile();
	const char *path = rq->file ?: automatic_name(d);
	char *whole;

	if (asprintf(&whole, "%s%s", path, small ? ".whole" : "") < 0)
		mios_die(MIOS_EXIT_FAILED, "dump: %m");
	if (!access(path, F_OK))
		mios_die(MIOS_EXIT_FAILED, "dump %d: %s: there is such a file "
			 "already", rq->instance, path);
	node_show(d);
	core_write(d, whole);
	close(d->fd);
	if (!rq->automatic)
		give_back(device, rq->instance);
	if (small && !compress_to(whole, path)) {
		unlink(whole);
		written_show(path);
		printf("crash VMLINUX %s\n", path);
		return;
	}
	if (small) {
		mios_error("mios", "dump %d: makedumpfile failed: %s is not "
			   "compressed", rq->instance, path);
		if (rename(whole, path))
			mios_die(MIOS_EXIT_FAILED, "dump: %s: %m", whole);
	}
	written_show(path);
	gdb_show(d, path);
}

static void arguments(int argc, char **argv, struct request *rq)
{
	const struct flag flags[] = {
		{ "elf", 'e', &rq->elf }, { "discard", 'd', &rq->discard },
		{ "auto", 0, &rq->automatic }, { }
	};

	flags_take("dump", usage, argc, argv, flags);
	rq->instance = mios_parse_target("dump", argc > optind,
					 argv + optind);
	rq->file = argc - optind > 1 ? argv[optind + 1] : NULL;
	if (argc - optind > 2 ||
	    !!rq->file + rq->discard + rq->automatic != 1)
		mios_usage("dump", "into which file? As in 'mios dump %d "
			   "/var/tmp/it', or --discard", rq->instance);
}

int cmd_dump(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct request rq = { };
	int device;

	arguments(argc, argv, &rq);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	device = mios_device_open();
	if (rq.discard)
		give_back(device, rq.instance);
	else
		dump_write(device, dump_open(device, &rq), &rq);
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}
