/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command's parts as its main() knows them, one file each.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

int cmd_litmus(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_tables(int argc, char **argv);

#endif /* COMMANDS_H */
