// SPDX-License-Identifier: GPL-2.0
/*
 * mios-dsm tables: the engine's states and messages as it has them and how
 * large they are, for the tests that compare docs/dsm.md with the code.
 */
#include <stdio.h>
#include <string.h>

#include "../../libmios/cli.h"
#include "commands.h"
#include "../../../mios/dsm/engine.h"
#include "../../../mios/dsm/dsm_link.h"

int cmd_tables(int argc, char **argv)
{
	static const char *const access[] = { "none", "read", "write" };

	if (argc == 2 && !strcmp(argv[1], "states")) {
		for (int i = 0; i < DSM_STATES; i++)
			printf("%s %s\n", dsm_state_name[i],
			       access[dsm_access_of[i]]);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "messages")) {
		for (int i = 0; i < DSM_MSGS; i++)
			printf("%s\n", dsm_msg_name[i]);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "sizes")) {
		printf("frame %zu\nmessage %zu\nwrite %zu\nowner %zu\n",
		       sizeof(struct dsm_frame), sizeof(struct dsm_msg),
		       sizeof(struct dsm_write), sizeof(struct dsm_probowner));
		return 0;
	}
	return cli_error("tables: 'states', 'messages' or 'sizes' expected");
}
