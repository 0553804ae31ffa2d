// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: server DIRECTORY NAME.  Nodes that add to the same pages, without end and
 * without locks, as a store of keys and values does; until DIRECTORY/stop is
 * there.  Any but node 0 may be killed and started again: it finds what the
 * others have.  Checked all the time: a node's own counts are as it left them;
 * those of others never fall; nothing is as old as DIRECTORY/tick was when this
 * node began.  A page that died with a node raises SIGBUS at everybody and
 * is left alone.  Each says in DIRECTORY/atNAME how far it has got.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>

#include "trial.h"

#define PAGES	24
#define NODES	3
#define ROUNDS	20		/* between two notes in the directory */

/* One node's part of a page: added to one after the other. */
struct part {
	volatile uint64_t begun, done;
};

static sigjmp_buf back;
static uint64_t own[PAGES], seen[PAGES][NODES];
static bool lost[PAGES];
static char path[256];

static void bus(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	siglongjmp(back, 1);
}

static const char *in(const char *directory, const char *name, const char *end)
{
	snprintf(path, sizeof(path), "%s/%s%s", directory, name, end);
	return path;
}

static void say(const char *file, uint64_t value)
{
	char new[300];
	FILE *f;

	snprintf(new, sizeof(new), "%s.%d", file, getpid());
	f = fopen(new, "w");
	demand(f && fprintf(f, "%lu\n", value) > 0 && !fclose(f) &&
	       !rename(new, file), "directory");
}

static uint64_t told(const char *file)
{
	unsigned long value = 0;
	FILE *f = fopen(file, "r");

	if (f) {
		if (fscanf(f, "%lu", &value) != 1)
			value = 0;
		fclose(f);
	}
	return value;
}

static void add(struct part *part, int page)
{
	int self = mios_dsm_node();

	demand(part[self].begun == own[page] && part[self].done == own[page],
	       "what this node has counted is not there");
	own[page]++;
	part[self].begun = own[page];
	__atomic_store_n(&part[self].done, own[page], __ATOMIC_SEQ_CST);
	for (int i = 0; i < NODES; i++) {
		uint64_t done = part[i].done, begun = part[i].begun;

		demand(begun >= done, "a later store is here, an earlier one not");
		demand(done >= seen[page][i], "a count has fallen");
		seen[page][i] = done;
	}
}

static void visit(char *base, int page)
{
	struct part *part = (struct part *)(base + page * PAGE);

	if (lost[page])
		return;
	if (sigsetjmp(back, 1))
		lost[page] = true;
	else
		add(part, page);
}

/* What a life before had counted goes on: one store may have been its last. */
static void take_over(char *base, int page)
{
	struct part *part = (struct part *)(base + page * PAGE) +
		mios_dsm_node();

	if (sigsetjmp(back, 1)) {
		lost[page] = true;
		return;
	}
	own[page] = part->begun;
	demand(own[page] - part->done <= 1, "the dead one's stores");
	part->done = own[page];
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = bus };
	volatile uint64_t *tick;
	uint64_t least, pages = 0;
	char *base;

	demand(argc == 3, "usage");
	least = told(in(argv[1], "tick", ""));
	demand(!mios_dsm_start(), "start");
	sigaction(SIGBUS, &action, NULL);
	if (!mios_dsm_life()) {
		base = common(0, PAGES * PAGE, MIOS_DSM_STRIPED);
		tick = common(1, PAGE, 0);
		demand(!mios_dsm_barrier(), "barrier");
	} else {
		demand(mios_dsm_barrier() == -EHOSTDOWN, "barrier");
		base = mios_dsm_root()[0];
		tick = mios_dsm_root()[1];
		for (int page = 0; page < PAGES; page++)
			take_over(base, page);
	}
	demand(tick[0] >= least, "old data");
	for (uint64_t i = 0; !tick[1]; i++) {
		/* With wu one copy outlives a death, so each fetches its own again. */
		demand(*(void *volatile *)mios_dsm_root() == base, "root");
		visit(base, i % PAGES);
		if (i % (PAGES * ROUNDS))
			continue;
		if (!mios_dsm_node()) {
			say(in(argv[1], "tick", ""), ++tick[0]);
			tick[1] = !access(in(argv[1], "stop", ""), F_OK);
		}
		say(in(argv[1], "at", argv[2]), i);
	}
	for (int page = 0; page < PAGES; page++)
		pages += lost[page];
	say(in(argv[1], "lost", argv[2]), pages);
	mios_dsm_finish();
	return 0;
}
