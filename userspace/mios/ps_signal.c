// SPDX-License-Identifier: GPL-2.0
/*
 * mios ps --signal: signals to processes of all instances, by number, which is the
 * machine's, or by name and user.  On each instance a shell's own kill and the
 * system's pkill send them, as the caller, who may there what he may at a login.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "everywhere.h"
#include "ps.h"

/*
 * What runs on each instance.  $1: the signal, then the PIDs.  A number is looked
 * for and sent the signal at once, as it may soon be another process'.  Of one of
 * another instance there is no such file, and a thread's is no process'.
 */
static const char kill_script[] =
"s=$1; shift\n"
"for p; do\n"
"	[ -r /proc/$p/status ] || continue\n"
"	while read -r k t; do [ \"$k\" != Tgid: ] || break; done < /proc/$p/status\n"
"	[ \"$t\" = $p ] || continue\n"
"	echo $p\n"
"	e=$(kill -s $s $p 2>&1) || echo \"$p: ${e##*: }\" >&2\n"
"done\n";

const char *ps_signal(const char *text)
{
	const char *name = strncasecmp(text, "SIG", 3) ? text : text + 3;
	long number;
	int i;

	for (i = 1; i < NSIG; i++)
		if (sigabbrev_np(i) && !strcasecmp(sigabbrev_np(i), name))
			return sigabbrev_np(i);
	if (mios_number(text, 1, NSIG - 1, &number))
		mios_usage("ps", "'%.40s' is no signal: kill -l lists them", text);
	return text;
}

/* What has a meaning in a pattern is meant as it stands. */
void ps_quote(char *to, const char *from)
{
	for (; *from; from++) {
		if (strchr("\\^$.|?*+()[]{}", *from))
			*to++ = '\\';
		*to++ = *from;
	}
	*to = '\0';
}

/* How many have got it: -e says a line of each. */
static unsigned int pkill(struct unattended *list, unsigned int nr, char **argv,
			  int *status)
{
	unsigned int i, count = 0;
	size_t at;

	everywhere_run(list, nr, argv, PS_ANSWER_MS);
	for (i = 0; i < nr; i++) {
		everywhere_failed("ps", &list[i], 1, status);
		for (at = 0; at < list[i].out.len; at++)
			count += list[i].out.data[list[i].out.start + at] == '\n';
	}
	return count;
}

/* Those of a program that has a name. */
static unsigned int signal_command(struct ps_wish *w, struct unattended *list,
				   unsigned int nr, int *status)
{
	char name[2 * PS_NAME], user[24];
	char *argv[10] = { "pkill", "--signal", (char *)w->signal, "-e", "-x",
			   "--", name };

	ps_quote(name, w->command);
	if (w->by_user) {
		snprintf(user, sizeof(user), "%u", w->user);
		argv[5] = "-u";
		argv[6] = user;
		argv[7] = "--";
		argv[8] = name;
	}
	return pkill(list, nr, argv, status);
}

/*
 * Here pkill is this process' child: with -A it leaves out what it was started by,
 * so who ends all that is his goes on, and his login, too.
 */
static unsigned int signal_user_here(const struct ps_wish *w, int *status)
{
	char line[256];
	unsigned int count = 0;
	FILE *said;

	snprintf(line, sizeof(line), "LC_ALL=C pkill --signal %s -e -A -u %u 2>&1",
		 w->signal, w->user);
	said = popen(line, "r");
	if (!said)
		mios_die(MIOS_EXIT_FAILED, "ps: cannot run pkill: %m");
	while (fgets(line, sizeof(line), said)) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, " killed (pid ")) {
			count++;
			continue;
		}
		mios_utf8(line);
		mios_error("mios", "ps: instance %d: %s", mios_self(), line);
		*status = MIOS_EXIT_FAILED;
	}
	pclose(said);		/* 1 if there is none: count says so */
	return count;
}

/*
 * All that a user has, but there for the supervisor of pkill's own session, which
 * is its parent.  Here last, as it may end what we write to.
 */
static unsigned int signal_user(struct ps_wish *w, struct unattended *list,
				unsigned int nr, int *status)
{
	char user[24];
	char *argv[8] = { "pkill", "--signal", (char *)w->signal, "-e", "-A",
			  "-u", user };
	unsigned int i, count, others = 0;

	snprintf(user, sizeof(user), "%u", w->user);
	for (i = 0; i < nr; i++)
		if (list[i].instance != mios_self())
			list[others++].instance = list[i].instance;
	count = pkill(list, others, argv, status);
	if (others < nr)
		count += signal_user_here(w, status);
	return count;
}

/* Which they had, and others have not. */
static void mark_found(struct ps_wish *w, struct unattended *u)
{
	char *word, *rest = NULL;

	if (buffer_add(&u->out, "", 1))
		mios_die(MIOS_EXIT_FAILED, "ps: no memory left");
	for (word = strtok_r((char *)u->out.data + u->out.start, "\n", &rest);
	     word; word = strtok_r(NULL, "\n", &rest))
		ps_mark(w, atol(word));
}

/* The same for numbers: each instance takes those that it has. */
static void signal_pids(struct ps_wish *w, struct unattended *list,
			unsigned int nr, int *status)
{
	static char numbers[PS_PIDS][PS_DIGITS];
	static char *argv[PS_PIDS + 6] = { "sh", "-c", (char *)kill_script, "ps" };
	unsigned int i;

	argv[4] = (char *)w->signal;
	for (i = 0; i < w->nr_pids; i++) {
		snprintf(numbers[i], sizeof(numbers[i]), "%ld", w->pids[i].pid);
		argv[5 + i] = numbers[i];
	}
	everywhere_run(list, nr, argv, PS_ANSWER_MS);
	for (i = 0; i < nr; i++) {
		everywhere_failed("ps", &list[i], 0, status);
		mark_found(w, &list[i]);
	}
	ps_missing(w, status);
}

void ps_send(struct ps_wish *w, struct unattended *list, unsigned int nr,
	     int *status)
{
	unsigned int count;

	if (w->nr_pids) {
		signal_pids(w, list, nr, status);
		return;
	}
	if (w->command[0])
		count = signal_command(w, list, nr, status);
	else
		count = signal_user(w, list, nr, status);
	if (!count && *status == MIOS_EXIT_OK) {
		mios_error("mios", "ps: there is no such process");
		*status = MIOS_EXIT_FAILED;
	}
}
