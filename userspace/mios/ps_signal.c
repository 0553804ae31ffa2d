// SPDX-License-Identifier: GPL-2.0
/*
 * mios ps --signal: signals to processes of all instances, by number, which is the
 * machine's, or by name and user.  On each instance the system's own kill and
 * pkill send them, as the caller, who may there what he may at a login.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "everywhere.h"
#include "ps.h"

#define PIDS_MAX	(PS_PIDS / 2)
#define WHITE		"\n "

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

/* pkill takes a pattern: what has a meaning in one is meant as it stands. */
static void quote(char *to, const char *from)
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

	quote(name, w->command);
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

/* Of the PIDs that were asked for: which are here, as words for kill. */
static unsigned int found(struct unattended *u, char **words)
{
	unsigned int n = 0;
	char *word, *rest = NULL;

	if (buffer_add(&u->out, "", 1))
		mios_die(MIOS_EXIT_FAILED, "ps: no memory left");
	for (word = strtok_r((char *)u->out.data + u->out.start, WHITE, &rest);
	     word && n < PIDS_MAX; word = strtok_r(NULL, WHITE, &rest))
		words[n++] = word;
	words[n] = NULL;
	return n;
}

static void kill_there(const struct ps_wish *w, int instance, char **words,
		       int *status)
{
	struct unattended u = { .instance = instance };

	words[0] = "kill";
	words[1] = "-s";
	words[2] = (char *)w->signal;
	words[3] = "--";
	unattended_run(&u, 1, &words, PS_ANSWER_MS);
	everywhere_failed("ps", &u, 0, status);
	unattended_free(&u);
}

static unsigned int number_of_pids(const char *pids)
{
	unsigned int n = 1;

	for (; *pids; pids++)
		n += *pids == ',';
	return n;
}

/* The same for numbers: each instance is sent those that it has. */
static unsigned int signal_pids(struct ps_wish *w, struct unattended *list,
				unsigned int nr, int *status)
{
	static char *words[PIDS_MAX + 5];
	char *argv[6] = { "ps", "-o", "pid=", "-p", w->pids };
	unsigned int i, n, count = 0;

	everywhere_run(list, nr, argv, PS_ANSWER_MS);
	for (i = 0; i < nr; i++) {
		if (everywhere_failed("ps", &list[i], 1, status))
			continue;
		n = found(&list[i], words + 4);
		if (n)
			kill_there(w, list[i].instance, words, status);
		count += n;
	}
	if (count && count < number_of_pids(w->pids)) {
		mios_error("mios", "ps: some of these processes are not there");
		*status = MIOS_EXIT_FAILED;
	}
	return count;
}

void ps_send(struct ps_wish *w, struct unattended *list, unsigned int nr,
	     int *status)
{
	unsigned int count;

	if (w->pids[0])
		count = signal_pids(w, list, nr, status);
	else if (w->command[0])
		count = signal_command(w, list, nr, status);
	else
		count = signal_user(w, list, nr, status);
	if (!count && *status == MIOS_EXIT_OK) {
		mios_error("mios", "ps: there is no such process");
		*status = MIOS_EXIT_FAILED;
	}
}

