/* SPDX-License-Identifier: GPL-2.0 */
/* module.c: kernel modules that a command needs. */
#ifndef MIOS_MODULE_H
#define MIOS_MODULE_H

/* Loads it if need be; where it does not load @command ends with a line. */
void module_load(const char *command, const char *module);

#endif /* MIOS_MODULE_H */
