/* SPDX-License-Identifier: GPL-2.0 */
/* The subcommands of mios-lock, each in a file of its own. */
#ifndef _MIOS_LOCK_COMMANDS_H
#define _MIOS_LOCK_COMMANDS_H

/* An exit status. */
int cmd_sim(int argc, char **argv);

#endif /* _MIOS_LOCK_COMMANDS_H */
