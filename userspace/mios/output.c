// SPDX-License-Identifier: GPL-2.0
/*
 * What commands that change something say: as they go on, or with --quiet
 * errors alone, or with --json one object at the end.  Errors go to standard
 * error in any case.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "json.h"
#include "libmios/libmios.h"
#include "output.h"

static int saved = -1;			/* standard output, while it is silent */

/* Is @c, from getopt_long(), one of ours? */
bool output_option(struct output *out, int c)
{
	if (c == 'q')
		out->quiet = true;
	else if (c == 'J')
		out->json = true;
	else
		return false;
	return true;
}

/* From now on nothing that is said is seen, by children neither. */
void output_begin(const struct output *out)
{
	int null;

	if (!out->quiet && !out->json)
		return;
	fflush(stdout);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (null < 0 || saved < 0 || dup2(null, STDOUT_FILENO) < 0)
		mios_die(MIOS_EXIT_FAILED, "cannot keep quiet: %m");
	close(null);
}

static void show_outcome(int node, const struct outcome *o)
{
	struct mios_instance inst;

	printf("      {\n         \"instance\": %d,\n         \"done\": %s,\n"
	       "         \"state\": ", node, o->status ? "false" : "true");
	if (mios_instance_read(node, &inst))
		printf("null,\n         \"incarnation\": null");
	else
		printf("\"%s\",\n         \"incarnation\": %u",
		       mios_state_name(inst.state), inst.incarnation);
	printf(",\n         \"seconds\": %.1f,\n         \"error\": ",
	       o->seconds);
	json_string(o->error[0] ? o->error : NULL);
	printf("\n      }");
}

/* With --json: of every node in @nodes what became of it. */
void output_result(const struct output *out, const char *command,
		   uint64_t nodes, const struct outcome *outcomes)
{
	const char *comma = "";
	int i;

	if (!out->json)
		return;
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	json_begin();
	printf(",\n   \"command\": ");
	json_string(command);
	printf(",\n   \"instances\": [");
	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (!(nodes & 1ULL << i))
			continue;
		printf("%s\n", comma);
		show_outcome(i, &outcomes[i]);
		comma = ",";
	}
	printf("%s]", *comma ? "\n   " : "");
	json_end();
}
