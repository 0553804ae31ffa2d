// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what docs/abi/sysfs-kernel-mios describes.  Files that this kernel
 * does not have leave their field at zero; a missing state means that there
 * is no such instance.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios.h"

static const char * const state_names[] = {
	[MIOS_STATE_DOWN] = "down",
	[MIOS_STATE_CLAIMED] = "claimed",
	[MIOS_STATE_BOOTING] = "booting",
	[MIOS_STATE_UP] = "up",
	[MIOS_STATE_STOPPING] = "stopping",
	[MIOS_STATE_FENCING] = "fencing",
	[MIOS_STATE_DEAD] = "dead",
	[MIOS_STATE_HELD] = "held",
};

const char *mios_state_name(enum mios_state state)
{
	if ((size_t)state >= sizeof(state_names) / sizeof(state_names[0]))
		return "unknown";
	return state_names[state];
}

/*
 * The folder of the instances, kept open: on an instance the way to /sys leads
 * through the root on instance 0, and what is known here of instance 0's end
 * must not depend on that.
 */
static int top_fd = -1;

static int top_folder(void)
{
	if (top_fd < 0)
		top_fd = open(MIOS_SYSFS, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return top_fd;
}

/* A file of an instance, to read or to poll; -1 and errno. */
int mios_sysfs_open(int id, const char *field)
{
	char path[64];

	snprintf(path, sizeof(path), "instance%d/%s", id, field);
	return openat(top_folder(), path, O_RDONLY | O_CLOEXEC);
}

/* The first line of a file, which is closed; "" if it cannot be read. */
static int take_line(int fd, char *buf, size_t size)
{
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static int read_field(int id, const char *field, char *buf, size_t size)
{
	return take_line(mios_sysfs_open(id, field), buf, size);
}

static long long read_number(int id, const char *field)
{
	char buf[64];

	read_field(id, field, buf, sizeof(buf));
	return strtoll(buf, NULL, 10);
}

/* This kernel's instance number, or -errno. */
int mios_self(void)
{
	char buf[32];
	long id;
	int err;

	err = take_line(openat(top_folder(), "self", O_RDONLY | O_CLOEXEC),
			buf, sizeof(buf));
	/* The module has gone; when it comes again the folder is another. */
	if (err == -ENOENT && top_fd >= 0) {
		close(top_fd);
		top_fd = -1;
	}
	if (err)
		return err;
	err = mios_number(buf, 0, MIOS_MAX_INSTANCES - 1, &id);
	return err ? err : (int)id;
}

static void read_distances(struct mios_instance *inst)
{
	char buf[1024], *word, *save = NULL;

	read_field(inst->id, "distance", buf, sizeof(buf));
	for (word = strtok_r(buf, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (inst->nr_distances == MIOS_MAX_INSTANCES)
			break;
		inst->distance[inst->nr_distances++] = strtoul(word, NULL, 10);
	}
}

const char * const mios_count_names[MIOS_NR_COUNTS] = {
	"bells_rung", "bells_heard", "calls", "calls_served", "faults", "revokes",
	"futex_wakes", "lock_waits",
};

/* Lines of a name and a number; names that are new are left out. */
static void read_counts(struct mios_instance *inst)
{
	int fd = mios_sysfs_open(inst->id, "counts"), i;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned int known = 0;
	uint64_t value;
	char name[32];

	while (file && fscanf(file, "%31s %" SCNu64, name, &value) == 2)
		for (i = 0; i < MIOS_NR_COUNTS; i++)
			if (!strcmp(name, mios_count_names[i])) {
				inst->counts[i] = value;
				known |= 1u << i;
			}
	inst->counted = known == (1u << MIOS_NR_COUNTS) - 1;
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}

bool mios_instance_runs(const struct mios_instance *inst)
{
	return inst->state == MIOS_STATE_UP ||
	       inst->state == MIOS_STATE_STOPPING ||
	       inst->state == MIOS_STATE_FENCING;
}

int mios_instance_read(int id, struct mios_instance *inst)
{
	char buf[256];
	size_t i;
	int err;

	memset(inst, 0, sizeof(*inst));
	inst->id = id;
	err = read_field(id, "state", buf, sizeof(buf));
	if (err)
		return err;
	for (i = 0; i < sizeof(state_names) / sizeof(state_names[0]); i++)
		if (!strcmp(buf, state_names[i]))
			inst->state = i;
	inst->node = read_number(id, "node");
	inst->ring = read_number(id, "ring");
	inst->incarnation = read_number(id, "incarnation");
	inst->cpus = read_number(id, "cpus");
	inst->memory = read_number(id, "memory");
	inst->memory_free = read_number(id, "memory_free");
	inst->cost = read_number(id, "cost");
	inst->uptime = read_number(id, "uptime");
	inst->heartbeat_age = read_number(id, "heartbeat_age");
	read_field(id, "suspect", buf, sizeof(buf));
	inst->suspect = buf[0] >= '0' && buf[0] <= '9' ? atol(buf) : -1;
	inst->sent = read_number(id, "messages_sent");
	inst->received = read_number(id, "messages_received");
	read_counts(inst);
	read_field(id, "load", buf, sizeof(buf));
	sscanf(buf, "%lf %lf %lf %u", &inst->load[0], &inst->load[1],
	       &inst->load[2], &inst->runnable);
	read_field(id, "release", inst->release, sizeof(inst->release));
	read_field(id, "part", inst->part, sizeof(inst->part));
	if (!strcmp(inst->part, "node") || !strcmp(inst->part, "unknown"))
		inst->part[0] = '\0';
	read_distances(inst);
	return 0;
}

/* When the stamps of its log were 0, in ns since 1970; 0: not known. */
int64_t mios_log_start(int id)
{
	return read_number(id, "log_start");
}

/* All instances of the machine, up or not; returns how many, or -errno. */
int mios_instances_read(struct mios_instance *list, int max)
{
	int id, n = 0, err;

	err = mios_self();
	if (err < 0)
		return err;
	for (id = 0; id < MIOS_MAX_INSTANCES && n < max; id++)
		if (!mios_instance_read(id, &list[n]))
			n++;
	return n;
}

/* Who declares deaths: its number; -1: nobody, or it is not known. */
int mios_host(void)
{
	char buf[32];
	long id;

	if (take_line(openat(top_folder(), "host", O_RDONLY | O_CLOEXEC), buf,
		      sizeof(buf)) ||
	    mios_number(buf, 0, MIOS_MAX_INSTANCES - 1, &id))
		return -1;
	return (int)id;
}

/* A number that is a parameter of the module, 0 when there is none. */
static long read_parameter(const char *name)
{
	char path[128], buf[32];

	snprintf(path, sizeof(path), "../../module/mios/parameters/%s", name);
	take_line(openat(top_folder(), path, O_RDONLY | O_CLOEXEC), buf,
		  sizeof(buf));
	return atol(buf);
}

/* Seconds of silence that make an instance suspect, 0: none do. */
long mios_suspect_timeout(void)
{
	return read_parameter("suspect_timeout");
}

/* Is a test to see this broken?  Modules without knobs say no. */
bool mios_injected(const char *name)
{
	char knob[64];

	snprintf(knob, sizeof(knob), "inject_%s", name);
	return read_parameter(knob);
}
