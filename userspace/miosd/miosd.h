/* SPDX-License-Identifier: GPL-2.0 */
/*
 * miosd: remote execution.  The main process listens and reaps; every
 * connection has a process of its own, which either relays between a local
 * caller and another instance or turns into the supervisor of a session.
 */
#ifndef MIOSD_MIOSD_H
#define MIOSD_MIOSD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "libmios/key.h"
#include "libmios/frames.h"
#include "libmios/libmios.h"

#define MAX_SLOTS	4096
#define ROOT_SLOTS	256	/* of them, that no user gets */
#define MAX_SESSIONS_USER 256	/* of one user, root excepted */
#define MAX_RELAYS_USER	512	/* the same, to other instances */
#define MAX_CPUS	(64 * MIOS_CPU_WORDS)
#define CGROUP_PATH	512	/* of miosd's own */

/*
 * One per connection, in memory shared by all of miosd's processes.  The
 * main process writes what is above the line and frees the slot; the
 * connection's process writes the rest, while it is still root.
 */
struct slot {
	pid_t pid;		/* 0: free */
	int peer;		/* instance that it came from */
	unsigned int incarnation;	/* of the peer */
	unsigned int serial;	/* names the cgroup */
	bool ending;		/* reaped, its cgroup is not empty yet */
	int64_t lost_ms;	/* since when the peer is gone, or 0 */
	/* ---- */
	bool identified;	/* uid and relay are known */
	bool relay;		/* to another instance, no session here */
	uid_t uid;
	pid_t task;
	time_t started;		/* CLOCK_MONOTONIC */
	uint64_t cpus[MIOS_CPU_WORDS];
	uint64_t groups[MIOS_MAX_LIMITS];	/* its cgroup is below these */
	unsigned int nr_groups;
};

/*
 * What a session's supervisor says of it, when it is root no more: a page
 * per slot, of which it keeps its own alone.  The reader bounds it.
 */
struct said {
	bool running;		/* the fields below are valid */
	bool launcher;		/* what it starts are tasks each */
	bool detached;		/* its caller's instance may go */
	char command[32];
};

/* A caller, as the kernel of its instance describes it. */
struct caller {
	struct mios_hello hello;
	uint32_t *groups;
	struct mios_limits limits[MIOS_MAX_LIMITS];
};

/* table.c APIs: */
int table_init(void);
struct slot *slot_find(pid_t pid);
struct slot *slot_at(unsigned int index);
struct slot *slot_take(int peer, unsigned int incarnation);
void slot_free(struct slot *s);
unsigned int slots_of_user(uid_t uid, bool relay);
bool slots_full(uid_t uid);
int slot_bind_cpus(struct slot *s, unsigned int count);
struct said *table_detach(const struct slot *own);
bool table_detached(const struct slot *s);
int table_report(struct mios_link *l);

/* listen.c APIs: */
int listen_unix(void);
int listen_device(void);
int accept_peer(int listener, const struct mios_instance *self,
		struct mios_instance *peer);

/* caller.c APIs: */
int caller_identify(int fd, struct caller *c, char *why, size_t size);

/* limits.c APIs: */
int limits_walk(const char *root, char *path, struct mios_limits *list,
		uint32_t *nr);

/* hello.c APIs: */
int hello_send(int fd, int instance, struct caller *c, char *why, size_t size);
int hello_receive(int fd, struct caller *c);

/* auth.c APIs: */
int auth_nonce(uint8_t nonce[MIOS_NONCE_LEN]);
int auth_code(const unsigned char key[MIOS_KEY_LEN], char role,
	      const uint8_t nonce[MIOS_NONCE_LEN], const void *data,
	      size_t len, uint8_t code[MIOS_CODE_LEN]);
bool auth_same(const uint8_t a[MIOS_CODE_LEN], const uint8_t b[MIOS_CODE_LEN]);

/* local.c APIs: */
void local_reply(int fd, int error, const char *text, int pass);
void serve_local(int fd, struct slot *slot);
void serve_peer(int fd, struct slot *slot);

/* relay.c APIs: */
void relay_run(int user, int remote);

/* peer.c APIs: */
void peer_set_timeouts(int fd);
int peer_connect(const struct mios_instance *to, int ring, char *why,
		 size_t size);
int peer_ring(const struct mios_instance *a, const struct mios_instance *b);
int peer_self(struct mios_instance *self);

/* cgroup.c APIs: */
int cgroup_setup(void);
const char *cgroup_mount(void);
int cgroup_of(int proc, char *buf, size_t size);
int cgroup_create(struct slot *s, const struct caller *c, const char **step);
int cgroup_open(const struct slot *s, const char *file, int flags);
int cgroup_remove(const struct slot *s);
bool cgroup_populated(int events_fd);

/* usage.c APIs: */
int usage_send(struct mios_link *l, const struct slot *s, bool launcher,
	       struct mios_task *t);

/* session.c APIs: */
void session_run(int fd, struct slot *slot, struct caller *c);

/* spec.c APIs: */
struct spec {
	struct mios_spec head;
	char *cwd;
	char **argv;
	char **envp;
};

int spec_parse(struct spec *spec, char *data, size_t len, char **words,
	       size_t nr);

/* spawn.c APIs: */
/*
 * What a task is to do, in memory that it shares with its supervisor.  Both
 * have become the caller before the first byte of it is written.
 */
struct errand {
	struct spec spec;	/* points into what follows */
	char tty[64];
	char bytes[MIOS_SPEC_MAX];
	char *words[2 * (MIOS_SPEC_WORDS + 1)];
};

struct task {
	pid_t pid;
	int pidfd;
	int in, out, err;	/* our ends; a pty's in and out are one file */
	int go;			/* a byte here: the errand is complete */
	int report;		/* a failed step, if exec was not reached */
	int events, kill;	/* of its cgroup */
	struct errand *errand;
};

/* errand.c APIs: */
#define SPEC_SECONDS	15	/* for the caller to say what it wants */

int errand_read(struct mios_link *l, struct errand *e);

/* What the caller is told: "cannot STEP: why".  Returns @err. */
int fail_set(struct mios_fail *fail, int code, const char *step, int err);
int task_prepare(struct task *t, const struct caller *c, struct slot *slot,
		 struct mios_fail *fail);
int task_start(struct task *t, struct mios_fail *fail);

/* folder.c APIs: */
char *folder_make(const struct spec *spec);
void folder_remove(const char *path, const struct task *t);

/* become.c APIs: */
int become_nobody(void);
int become_caller(const struct caller *c, bool for_exec, const char **step);

/* ring.c APIs: */
struct ring_view {
	int self;		/* -1: no mios modules */
	int ring;		/* -1: joined none */
	unsigned int nr_watched;
	struct pollfd watched[MIOS_MAX_INSTANCES];
	struct mios_instance instances[MIOS_MAX_INSTANCES];
	int nr_instances;
};

void ring_refresh(struct ring_view *v);
bool ring_has(const struct ring_view *v, int id, unsigned int incarnation);
bool ring_host_died(const struct ring_view *v);

/* reset.c APIs: */
void reset_prepare(void);
void reset_gone(const struct ring_view *v);

/* hostfile.c APIs: */
void hostfile_update(const struct ring_view *v);

/* shm.c APIs: */
void shm_refresh(const struct ring_view *v);

#endif /* MIOSD_MIOSD_H */
