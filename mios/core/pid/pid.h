/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of other instances, as programs name them: by a PID, which no two
 * instances give.  kill() and /proc/PID/stat of one are asked by the hooks of
 * linux/pid/ and served where it runs, with the identity of who asks.
 */
#ifndef _MIOS_PID_H
#define _MIOS_PID_H

#include <mios/msg.h>

struct cred;

/* who.c */

/**
 * mios_who_get() - on whose behalf is another instance asked?
 * @who: out: current
 *
 * Return: 0; or -EPERM: he means nothing there, as his capabilities are those in
 * a user namespace, or a security module confines him.
 */
int mios_who_get(struct mios_who *who);

/**
 * mios_who_cred() - the credentials of who has asked
 * @who: as another instance says it
 *
 * Return: for override_creds(), to be put; NULL: no memory.
 */
struct cred *mios_who_cred(const struct mios_who *who);

/* The same into @cred, of prepare_kernel_cred(&init_task), that nobody else has. */
void mios_who_fill(struct cred *cred, const struct mios_who *who);

int mios_who_init(void);

/* turn.c */

/**
 * mios_turn_begin() - wait until one may ask an instance for a process
 * @instance: which
 * @privileged: may send signals to anybody
 * @uid: of who asks
 * @timeout_ms: how long
 *
 * Return: 0: until mios_turn_end(); -ETIMEDOUT; -EINTR: killed.
 */
int mios_turn_begin(u32 instance, bool privileged, u32 uid, u32 timeout_ms);

/* By whoever has asked in the end. */
void mios_turn_end(u32 instance, bool privileged);
void mios_turns_init(void);

/* remote.c */
int mios_pid_init(void);
void mios_pid_exit(void);

#endif /* _MIOS_PID_H */
