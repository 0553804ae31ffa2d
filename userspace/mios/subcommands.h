/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The subcommands of mios(1), one file each; main.c holds the table.
 */
#ifndef MIOS_SUBCOMMANDS_H
#define MIOS_SUBCOMMANDS_H

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

/* main.c: the command, or an end with the line that there is none */
const struct command *command_find(const char *name);
void print_commands(void);

int cmd_boot(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_kill(int argc, char **argv);
int cmd_restart(int argc, char **argv);
int cmd_wait(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_journal(int argc, char **argv);
int cmd_console(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_reserve(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_pool(int argc, char **argv);
int cmd_numactl(int argc, char **argv);
int cmd_numastat(int argc, char **argv);
int cmd_shm(int argc, char **argv);
int cmd_lend(int argc, char **argv);
int cmd_give(int argc, char **argv);
int cmd_take(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_slurm_conf(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_help(int argc, char **argv);

#endif /* MIOS_SUBCOMMANDS_H */
