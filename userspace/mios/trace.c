// SPDX-License-Identifier: GPL-2.0
/*
 * mios trace: events of all instances' kernels in one listing, in the order in
 * which they were.  Each instance records by the time stamp counter, which is one
 * for the machine, into a buffer of its own (an instance of tracefs), so others'
 * tracing is not touched.  It has this process' number, which is the machine's: by
 * that a buffer is known whose trace was killed.  trace_list.c merges them.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "everywhere.h"
#include "subcommands.h"
#include "trace.h"

#define EVENTS_MAX	64
#define ANSWER_MS	120000	/* of a listing: without a line */
#define END_MS		5000
#define KIB_MAX		(1l << 20)
#define SECONDS_MAX	86400
#define FOREVER_S	(1l << 32)

static const char help[] =
"Usage: mios trace [OPTION...] [COMMAND [ARGUMENT...]]\n"
"Records events of the kernels of all instances while COMMAND runs, or until\n"
"it is interrupted, and prints them in one order of time.\n\n"
"  -e, --event EVENT    these, such as mios:mios_call or 'sched:*'; may be given\n"
"                       several times (mios:* and mios_fs:* unless given)\n"
"  -i, --instances LIST on these only, such as 1-3\n"
"      --time SECONDS   no longer than this\n"
"      --buffer KIB     for each CPU (1408): what does not fit is lost, and said\n"
"      --stop           end what traces that were killed have left recording\n"
"  -J, --json           for programs; mios-trace(1) has the names\n"
"  -h, --help           print this\n";

enum { OPT_TIME = 256, OPT_BUFFER, OPT_STOP };

static const struct option options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "instances", required_argument, NULL, 'i' },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "buffer", required_argument, NULL, OPT_BUFFER },
	{ "stop", no_argument, NULL, OPT_STOP },
	{ "json", no_argument, NULL, 'J' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* What runs on each instance.  $1: our PID. */
#define FOLDER		"/sys/kernel/tracing/instances/mios-trace-"
/*
 * Removes what is left, of those that have gone for sure; of the others a word.  One
 * that another instance has may not be found out about: that is no end.
 */
#define REMOVE_LEFT(word) \
	"for d in " FOLDER "*; do\n" \
	"	p=${d##*-}\n" \
	"	case $p in *[!0-9]*|'') continue;; esac\n" \
	"	e=$(LC_ALL=C kill -0 $p 2>&1) && e=$(cat /proc/$p/stat 2> /dev/null)\n" \
	"	case $e in\n" \
	"	*'No such process'*|[0-9]*) ;;\n" \
	"	*) e='(mios)';;\n" \
	"	esac\n" \
	"	case $e in\n" \
	"	*'(mios)'*) " word ";;\n" \
	"	*) rmdir $d;;\n" \
	"	esac\n" \
	"done\n"

/* Then KiB, and the events. */
static const char begin_script[] =
"t=/sys/kernel/tracing d=" FOLDER "$1 kib=$2; shift 2\n"
"[ -d $t/instances ] || { echo its kernel has no tracing >&2; exit 1; }\n"
"own=$d\n" REMOVE_LEFT(":") "d=$own\n"
"mkdir $d || exit\n"
"trap '[ -z \"$bad\" ] || rmdir $d' EXIT; bad=1\n"
"echo 0 > $d/tracing_on && echo x86-tsc > $d/trace_clock &&\n"
"echo $kib > $d/buffer_size_kb || exit\n"
"if [ $# = 0 ]; then\n"
"	for e in $d/events/mios $d/events/mios_fs; do\n"
"		[ ! -d $e ] || echo 1 > $e/enable || exit\n"
"	done\n"
"fi\n"
"for e; do\n"
"	(echo \"$e\" >> $d/set_event) 2> /dev/null ||\n"
"		{ echo \"its kernel has no event $e\" >&2; exit 1; }\n"
"done\n"
"echo 1 > $d/tracing_on && bad=\n";

static const char end_script[] =
"d=" FOLDER "$1\n"
"[ -d $d ] || { echo it does not record any more >&2; exit 1; }\n"
"echo 0 > $d/tracing_on\n"
"cat $d/per_cpu/cpu*/stats | awk '/^(overrun|dropped events):/ { n += $NF }\n"
"	END { print \"lost\", n + 0 }'\n"
"cat $d/trace\n";

/* What had it open was told to end, but may not have yet. */
static const char remove_script[] =
"d=" FOLDER "$1 n=0\n"
"while [ -d $d ] && ! rmdir $d 2> /dev/null; do\n"
"	[ $((n += 1)) -lt 50 ] || { rmdir $d; exit; }\n"
"	sleep 0.1\n"
"done\n";

static const char stop_script[] =
REMOVE_LEFT("echo \"process ${d##*-} may still run mios trace\" >&2");

struct wish {
	char *events[EVENTS_MAX + 1];
	unsigned int nr_events;
	uint64_t instances;	/* 0: all */
	long seconds, kib;
	bool stop, json;
	char **command;		/* NULL: none */
};

/* --- what is asked for --- */

static void take_option(struct wish *w, int c, char **argv)
{
	switch (c) {
	case 'e':
		if (w->nr_events == EVENTS_MAX)
			mios_usage("trace", "more than %d events", EVENTS_MAX);
		w->events[w->nr_events++] = optarg;
		break;
	case 'i':
		if (mios_parse_nodes(optarg, &w->instances))
			mios_usage("trace", "'%.40s' is no list of instances, "
				   "such as 1-3", optarg);
		break;
	case OPT_TIME:
		if (mios_number(optarg, 1, SECONDS_MAX, &w->seconds))
			mios_usage("trace", "--time is a number of seconds");
		break;
	case OPT_BUFFER:
		if (mios_number(optarg, 1, KIB_MAX, &w->kib))
			mios_usage("trace", "--buffer is a number of KiB");
		break;
	case OPT_STOP:
		w->stop = true;
		break;
	case 'J':
		w->json = true;
		break;
	default:
		mios_other_option("trace", help, argv, c, options);
	}
}

static void parse(struct wish *w, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+:e:i:Jh", options, NULL)) != -1)
		take_option(w, c, argv);
	if (optind < argc)
		w->command = argv + optind;
	if (w->stop && (w->command || w->nr_events || w->json))
		mios_usage("trace", "--stop records nothing");
	if (geteuid())
		mios_die(MIOS_EXIT_FAILED, "trace: only root may look at what "
			 "kernels do");
}

/* --- recording --- */

/* A script on all of @list. */
static void script_run(struct unattended *list, unsigned int nr,
		       const char *script, const struct wish *w)
{
	char *argv[EVENTS_MAX + 8] = { "sh", "-c", (char *)script, "trace" };
	char pid[24], kib[24];
	unsigned int n = 4;

	snprintf(pid, sizeof(pid), "%d", getpid());
	snprintf(kib, sizeof(kib), "%ld", w->kib);
	argv[n++] = pid;
	argv[n++] = kib;
	memcpy(argv + n, w->events, w->nr_events * sizeof(*argv));
	argv[n + w->nr_events] = NULL;
	everywhere_run(list, nr, argv, ANSWER_MS);
}

/* Has it worked on all of them?  They can be asked for something else then. */
static bool script_worked(struct unattended *list, unsigned int nr, int *status)
{
	bool worked = true;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		worked &= !everywhere_failed("trace", &list[i], 0, status);
		unattended_free(&list[i]);
		list[i] = (struct unattended){ .instance = list[i].instance };
	}
	return worked;
}

/* What came in while nobody waited for it is over with that. */
static void forget(const sigset_t *signals)
{
	static const struct timespec now = { };

	while (sigtimedwait(signals, NULL, &now) > 0)
		;
}

static void buffers_remove(struct unattended *list, unsigned int nr,
			   const struct wish *w, const sigset_t *signals,
			   int *status)
{
	forget(signals);
	script_run(list, nr, remove_script, w);
	if (!script_worked(list, nr, status))
		mios_error("mios", "trace: what is left records on: mios trace "
			   "--stop removes it");
}

static pid_t command_start(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(argv[0], argv);
		mios_die(127, "trace: %s: %m", argv[0]);
	}
	if (pid < 0)
		mios_error("mios", "trace: no process for %s: %m", argv[0]);
	return pid;
}

static int64_t left_ms(int64_t deadline)
{
	const int64_t left = deadline - mios_now_ms();

	return left > 0 ? left : 0;
}

/*
 * Until the command has ended, the time is over, or another signal comes: whether it
 * has ended.  It may be stopped and go on, and other children of ours may end.
 */
static bool command_wait(pid_t pid, const sigset_t *signals, int64_t deadline,
			 int *status)
{
	struct timespec left;
	int64_t ms;
	int got;

	for (;;) {
		if (pid && waitpid(pid, status, WNOHANG) == pid)
			return true;
		ms = left_ms(deadline);
		left = (struct timespec){ .tv_sec = ms / 1000,
					  .tv_nsec = ms % 1000 * 1000000 };
		got = sigtimedwait(signals, NULL, &left);
		if (got > 0 ? got != SIGCHLD : errno != EINTR)
			return pid && waitpid(pid, status, WNOHANG) == pid;
	}
}

/* It has a moment for it, also where it was stopped; then there is no choice. */
static int command_end(pid_t pid)
{
	sigset_t chld;
	int status;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	kill(pid, SIGTERM);
	kill(pid, SIGCONT);
	if (command_wait(pid, &chld, mios_now_ms() + END_MS, &status))
		return status;
	kill(pid, SIGKILL);
	if (command_wait(pid, &chld, mios_now_ms() + END_MS, &status))
		return status;
	mios_error("mios", "trace: process %d does not end", pid);
	return SIGKILL;
}

/* Until the command ends, the time is over, or a signal comes: it is recorded. */
static int wait_while(const struct wish *w, const sigset_t *signals)
{
	const int64_t deadline = mios_now_ms() + (w->seconds ?: FOREVER_S) * 1000;
	pid_t pid = w->command ? command_start(w->command) : 0;
	int status;

	if (pid < 0)
		return MIOS_EXIT_FAILED;
	if (!command_wait(pid, signals, deadline, &status)) {
		if (!pid)
			return MIOS_EXIT_OK;
		status = command_end(pid);	/* a terminal has told it, too */
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- the listing --- */

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

/* What the counter counts in a microsecond, from a time that has passed. */
static double rate_of(uint64_t tsc, double us)
{
	poll(NULL, 0, 20);
	return (__rdtsc() - tsc) / (now_us() - us);
}

/* On a disk, where there is one: /tmp may be memory. */
static FILE *file_open(void)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/mios-trace.XXXXXX",
		 dir && *dir ? dir : "/var/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	unlink(path);
	return fdopen(fd, "w+");
}

/* Files without names, as a listing may be longer than there is memory. */
static void files_open(const struct unattended *list, unsigned int nr,
		       struct trace_file *files)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		files[i] = (struct trace_file){ .instance = list[i].instance,
						.file = file_open() };
		if (!files[i].file)
			mios_die(MIOS_EXIT_FAILED, "trace: no file for a listing: "
				 "%m (TMPDIR says where, or /var/tmp)");
	}
}

/* Of those that have failed what has come, but for half a line. */
static void files_fill(struct unattended *list, unsigned int nr,
		       struct trace_file *files, const struct wish *w, int *status)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		list[i].to = files[i].file;
	script_run(list, nr, end_script, w);
	for (i = 0; i < nr; i++) {
		files[i].whole = !list[i].error && !list[i].status;
		if (!list[i].error && fflush(files[i].file)) {
			mios_error("mios", "trace: instance %d: %m",
				   list[i].instance);
			*status = MIOS_EXIT_FAILED;
			files[i].whole = false;
		}
		rewind(files[i].file);
	}
}

static int record(const struct wish *w, struct unattended *list, unsigned int nr,
		  struct trace_file *files, const sigset_t *signals, int *status)
{
	struct trace_span span = { .begin = __rdtsc() };
	double us = now_us();
	int ended;

	ended = wait_while(w, signals);
	span.end = __rdtsc();
	span.rate = rate_of(span.begin, us);
	forget(signals);
	files_fill(list, nr, files, w, status);
	script_worked(list, nr, status);
	buffers_remove(list, nr, w, signals, status);
	/* Nothing is left to be put in order. */
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	trace_list(files, nr, &span, w->json, status);
	return ended;
}

/* What ends a trace in order, but for what we are told to ignore. */
static void signals_block(sigset_t *signals)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction sa;
	unsigned int i;

	signal(SIGCHLD, SIG_DFL);	/* ignored, none would come */
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigaction(ends[i], NULL, &sa) && sa.sa_handler != SIG_IGN)
			sigaddset(signals, ends[i]);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

int cmd_trace(int argc, char **argv)
{
	static struct unattended list[MIOS_MAX_INSTANCES];
	static struct trace_file files[MIOS_MAX_INSTANCES];
	struct wish w = { .kib = 1408 };
	int status = MIOS_EXIT_OK, ended = MIOS_EXIT_OK;
	unsigned int nr;
	sigset_t signals;

	parse(&w, argc, argv);
	/* Before anything records: it is ended in order, whatever comes. */
	signals_block(&signals);
	nr = everywhere_choose("trace", w.instances, list, &status);
	if (w.stop) {
		script_run(list, nr, stop_script, &w);
		script_worked(list, nr, &status);
		return status;
	}
	/* All that were asked for, or none: what is missing is not seen. */
	if (status != MIOS_EXIT_OK)
		mios_die(MIOS_EXIT_FAILED, "trace: nothing is recorded: name "
			 "those that can by --instances");
	files_open(list, nr, files);
	script_run(list, nr, begin_script, &w);
	if (script_worked(list, nr, &status))
		ended = record(&w, list, nr, files, &signals, &status);
	else
		buffers_remove(list, nr, &w, &signals, &status);
	return ended ? ended : status;
}
