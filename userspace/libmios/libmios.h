/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libmios: what several programs of userspace/ need.  Functions return 0 or
 * -errno and print nothing, except where a command of mios(1) could only
 * print and end: those are said to end.
 */
#ifndef LIBMIOS_H
#define LIBMIOS_H

#include <linux/mios.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MIOS_VERSION		"1.0"

/* Exit statuses of the commands. */
#define MIOS_EXIT_OK		0
#define MIOS_EXIT_FAILED	1	/* tried, did not work */
#define MIOS_EXIT_USAGE		2	/* not understood, nothing was tried */

/* say.c APIs: */
void mios_error(const char *who, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void mios_errors_to(char *to, size_t size);
void mios_die(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
void mios_usage(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
struct option;
void mios_bad_option(const char *command, char **argv, int c,
		     const struct option *options) __attribute__((noreturn));
void mios_flush_stdout(void);
void mios_help(const char *usage) __attribute__((noreturn));
void mios_other_option(const char *command, const char *usage, char **argv,
		       int c, const struct option *options)
	__attribute__((noreturn));

/* guess.c APIs: */
const char *mios_guess(const char *typed, size_t len,
		       const char *(*next)(const void *context, size_t i),
		       const void *context);

/* nodes.c APIs: numbers and lists as people type them */
int mios_number(const char *text, long min, long max, long *value);
int mios_parse_nodes(const char *text, uint64_t *nodes);
int mios_parse_target(const char *command, int argc, char **argv);
int mios_parse_targets(const char *command, int argc, char **argv,
		       uint64_t *nodes);
int mios_parse_instances(const char *command, int argc, char **argv,
			 uint64_t *nodes);

/* device.c APIs: */
int mios_device_open(void);
const char *mios_reason(int fd, int err);
uint64_t mios_reason_frame(int fd);
int mios_stream_try(const char *command, int instance, unsigned int flags,
		    unsigned long request);
int mios_stream_open(const char *command, int instance, unsigned int flags,
		     unsigned long request);

/* process.c APIs: */
void mios_streams_open(void);
void mios_no_input(void);
bool mios_ends(int sig);
int mios_end_with(pid_t parent, int sig);

/* network.c APIs: addresses in the host's byte order */
#define MIOS_NETWORK		"10.77.0.0/16"
#define MIOS_NETWORK_PATH	"/run/mios/network"
#define MIOS_NETWORK_LEN	sizeof("255.255.0.0/16\n")
#define MIOS_NO_NETWORK		MIOS_NETWORK_PATH " holds no network such as " \
				"10.77.0.0/16: remove it and run " \
				"mios-host-setup, on an instance boot it again"

int mios_network_parse(const char *text, uint32_t *net);
int mios_network_text(char *text);
int mios_address(int ring, int instance, uint32_t *address);

/* units.c APIs: */
int64_t mios_now_ms(void);
int mios_copy_out(int fd);
void mios_cut(char *to, size_t size, const char *from);
int mios_letter(const char *text, size_t left);
void mios_utf8(char *text);
void mios_put_visible(const char *text, size_t len);
void mios_size_text(uint64_t bytes, char *buf, size_t size);
void mios_time_text(uint64_t seconds, char *buf, size_t size);

/* sysfs.c APIs: */
#define MIOS_SYSFS	"/sys/kernel/mios"
#define MIOS_NO_SYSFS	MIOS_SYSFS " is missing: is the mios module loaded " \
			"on this kernel? (modprobe mios)"

/* What an instance does together with others: instance<N>/counts. */
#define MIOS_NR_COUNTS	8
extern const char * const mios_count_names[MIOS_NR_COUNTS];

struct mios_instance {
	int id;
	enum mios_state state;
	int node;
	int ring;			/* -1: none */
	unsigned int incarnation;
	unsigned int cpus;
	uint64_t memory;		/* bytes */
	uint64_t memory_free;
	uint64_t cost;
	uint64_t uptime;		/* seconds */
	long heartbeat_age;		/* ms, -1 if not up */
	long suspect;			/* seconds of silence, -1: is not */
	uint64_t sent, received;	/* messages, to it from here and back */
	bool counted;			/* counts are known */
	uint64_t counts[MIOS_NR_COUNTS];	/* by mios_count_names */
	double load[3];
	unsigned int runnable;
	char release[65];
	char part[512];			/* "": a whole node, or not known */
	unsigned int nr_distances;
	unsigned int distance[MIOS_MAX_INSTANCES];
};

const char *mios_state_name(enum mios_state state);
int mios_self(void);
int mios_instance_read(int id, struct mios_instance *inst);

/* May its kernel still run?  Until it has been fenced nothing is taken from it. */
bool mios_instance_runs(const struct mios_instance *inst);
int64_t mios_log_start(int id);
int mios_sysfs_open(int id, const char *field);
int mios_instances_read(struct mios_instance *list, int max);
int mios_host(void);
long mios_suspect_timeout(void);
bool mios_injected(const char *name);

/* shm.c APIs: */
#define MIOS_SHM	"/dev/shm"

bool mios_shm_is_shared(void);

#endif /* LIBMIOS_H */
