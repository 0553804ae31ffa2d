/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What miosd and its clients say to each other.  All numbers are in host
 * order: every instance is the same x86 machine.
 *
 *   client --unix--> miosd          struct mios_request
 *   client <--unix-- miosd          struct mios_reply (+ the session's fd)
 *   miosd  <--tcp--- remote miosd   struct mios_challenge
 *   miosd  --tcp---> remote miosd   struct mios_hello, gid list,
 *                                   limits, code
 *   miosd  <--tcp--- remote miosd   code
 *   client <-unix-> miosd <-tcp-> remote miosd   frames
 *
 * The hello is written by root's miosd, as the codes prove (see auth.c), and
 * says who the caller is; frames come from the caller and are believed only
 * in what gives no rights.
 *
 * Frames of a session, in order: SPEC once from the client, then DATA, EOF
 * and CREDIT for the streams 0, 1, 2 (a sender never has more than its
 * credit under way, so neither side ever waits for the other to read),
 * SIGNAL and WINSIZE from the client, SIGNALLED for each SIGNAL, STARTED,
 * STOPPED and at last EXIT or FAIL from the session.  One that is to go on
 * without its caller says DETACHED for STARTED, and that is its last frame.
 * A side that sees anything else hangs up.
 */
#ifndef LIBMIOS_PROTO_H
#define LIBMIOS_PROTO_H

#include <assert.h>
#include <linux/mios.h>
#include <stdint.h>

#define MIOSD_SOCKET		"/run/mios/miosd.sock"
#define MIOSD_HOSTFILE		"/run/mios/hostfile"
#define MIOSD_DEVICE		"mios0"
/*
 * Below 1024, where only root can sit, and below 512: clients that call from a
 * reserved port, the kernel's NFS client among them, take one from there on, and
 * keep it for as long as they are connected.
 */
#define MIOSD_PORT		301

#define MIOS_PROTO_MAGIC	0x4d494f58u	/* "MIOX" */
#define MIOS_PROTO_VERSION	3
#define MIOS_TEXT_LEN		240

enum mios_op {
	MIOS_OP_EXEC = 1,
	MIOS_OP_TOP,
};

struct mios_request {
	uint32_t magic;
	uint16_t version;
	uint16_t op;
	uint32_t instance;
	uint32_t cpus;		/* CPUs of its own that the task wants, or 0 */
};

struct mios_reply {
	int32_t error;		/* 0, or -errno and a line in text */
	char text[MIOS_TEXT_LEN];
};

#define MIOS_NONCE_LEN		32
#define MIOS_CODE_LEN		32		/* HMAC-SHA-256 */

struct mios_challenge {
	uint32_t magic;
	uint16_t version;
	uint16_t zero;
	uint8_t nonce[MIOS_NONCE_LEN];
};

#define MIOS_NR_RLIMITS		16
#define MIOS_MAX_GROUPS		65536

#define MIOS_HELLO_NO_NEW_PRIVS	(1u << 0)

/**
 * struct mios_hello - on whose behalf; followed by nr_groups uint32_t and
 * nr_limits struct mios_limits
 * @cap_inheritable, @cap_ambient, @cap_bounding: never more than the caller's
 * @rlimits: soft and hard, by resource number
 */
struct mios_hello {
	uint32_t magic;
	uint16_t version;
	uint16_t op;
	uint32_t instance;	/* of the caller */
	uint32_t pid;		/* of the caller, for people */
	uint32_t uid;
	uint32_t gid;
	uint32_t nr_groups;
	uint32_t flags;		/* MIOS_HELLO_* */
	int32_t nice;
	int32_t oom_score_adj;
	uint32_t loginuid;
	uint32_t cpus;		/* as in struct mios_request */
	uint32_t nr_limits;
	uint32_t zero;
	uint64_t cap_inheritable;
	uint64_t cap_ambient;
	uint64_t cap_bounding;
	uint64_t rlimits[MIOS_NR_RLIMITS][2];
	uint8_t nonce[MIOS_NONCE_LEN];	/* for the answer's code */
};

static_assert(sizeof(struct mios_hello) == 368, "wire format");

#define MIOS_MAX_LIMITS		8
#define MIOS_NO_LIMIT		UINT64_MAX

/**
 * struct mios_limits - a control group on the caller's path, outermost first
 * @group: names it on the caller's instance, for one boot
 * @cpu_quota, @cpu_period: microseconds
 */
struct mios_limits {
	uint64_t group;
	uint64_t memory_max;
	uint64_t memory_high;
	uint64_t pids_max;
	uint64_t cpu_quota, cpu_period;
};

static_assert(sizeof(struct mios_limits) == 48, "wire format");

enum mios_frame_type {
	MIOS_FRAME_SPEC = 1,	/* struct mios_spec, strings */
	MIOS_FRAME_DATA,
	MIOS_FRAME_EOF,
	MIOS_FRAME_CREDIT,	/* uint32_t: so many bytes more */
	MIOS_FRAME_SIGNAL,	/* uint32_t */
	MIOS_FRAME_WINSIZE,	/* struct mios_winsize */
	MIOS_FRAME_STARTED,	/* struct mios_started */
	MIOS_FRAME_STOPPED,	/* uint32_t: signal */
	MIOS_FRAME_EXIT,	/* struct mios_exit */
	MIOS_FRAME_FAIL,	/* struct mios_fail */
	MIOS_FRAME_TASK,	/* struct mios_task */
	MIOS_FRAME_SIGNALLED,	/* uint32_t: it has got there */
	MIOS_FRAME_DETACHED,	/* struct mios_started */
};

struct mios_frame {
	uint32_t len;		/* bytes after this head */
	uint8_t type;
	uint8_t stream;		/* 0, 1, 2 */
	uint16_t zero;
};

#define MIOS_FRAME_MAX		65536		/* except SPEC */
#define MIOS_SPEC_MAX		(4u << 20)
/* Arguments, and variables: exec(2) has 6 MiB, 9 bytes for the shortest. */
#define MIOS_SPEC_WORDS		699050u
#define MIOS_WINDOW		262144u		/* first credit */

struct mios_winsize {
	uint16_t rows, cols, xpixel, ypixel;
};

#define MIOS_SPEC_TTY		(1u << 0)	/* streams 0, 1 are a pty */
#define MIOS_SPEC_STDERR	(1u << 1)	/* with TTY: 2 is apart */
#define MIOS_SPEC_LINGER	(1u << 2)	/* until its last process ends */
#define MIOS_SPEC_TERMIOS	(1u << 3)	/* iflag... are given */
#define MIOS_SPEC_STDIN		(1u << 4)	/* with TTY: 0 is apart */
#define MIOS_SPEC_HOME		(1u << 5)	/* a login: without its directory, / */
#define MIOS_SPEC_DETACH	(1u << 6)	/* no streams, and no caller once it runs */
#define MIOS_NCCS		32

/**
 * struct mios_spec - what to run; followed by nul-ended strings: the working
 * directory, argc arguments, envc variables
 */
struct mios_spec {
	uint32_t flags;		/* MIOS_SPEC_* */
	uint32_t argc;
	uint32_t envc;
	uint32_t umask;
	uint32_t personality;
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t cc[MIOS_NCCS];
	struct mios_winsize winsize;
	uint32_t zero;
	uint64_t ignored;	/* signals, bit n-1 */
};

static_assert(sizeof(struct mios_spec) == 88, "wire format");

#define MIOS_SPEC_TOO_BIG	"arguments and environment are longer than " \
				"4 MiB, or more than 699050 words"

#define MIOS_CPU_WORDS		16		/* 1024 CPUs per instance */

struct mios_started {
	uint32_t pid;
	uint32_t nr_cpus;	/* bound to so many, 0: not bound */
	uint64_t cpus[MIOS_CPU_WORDS];
};

struct mios_exit {
	uint32_t code;		/* exit status, if signal is 0 */
	uint32_t signal;
	uint32_t core;
};

struct mios_fail {
	uint32_t code;		/* exit status for the client: 125..127 */
	char text[MIOS_TEXT_LEN];
};

/*
 * A session, as mios top shows it; one that lingers, as launchers' daemons
 * do, is shown process by process.
 */
struct mios_task {
	uint32_t uid;
	uint32_t pid;
	uint32_t from;		/* instance of the caller */
	uint32_t processes;
	uint64_t cpu_usec;
	uint64_t seconds;	/* since its start */
	uint64_t rss;		/* bytes */
	uint64_t cpus[MIOS_CPU_WORDS];
	char command[32];
};

#endif /* LIBMIOS_PROTO_H */
