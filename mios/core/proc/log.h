/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading the log of an instance, alive or dead: called by mios/core/start/,
 * which maps the log ring of each instance that it starts.
 */
#ifndef _MIOS_PROC_LOG_H
#define _MIOS_PROC_LOG_H

#include <linux/types.h>

struct mios_log;
struct mios_log_source;

/**
 * mios_log_create() - begin to follow the log of one incarnation
 * @log: its mapped ring, valid until mios_log_retire()
 * @size: bytes mapped at @log; bounds everything that is read
 */
struct mios_log_source *mios_log_create(const struct mios_log *log,
					size_t size);

/**
 * mios_log_retire() - save a copy: the ring's memory may go afterwards
 * @source: of an incarnation that will write no more
 *
 * Readers then find the end of the log after the last byte.  0 or -ENOMEM;
 * even after -ENOMEM the ring is not touched again (and the log is lost).
 */
int mios_log_retire(struct mios_log_source *source);

/**
 * mios_log_drop() - give up the reference of mios_log_create()
 * @source: retired; files that are open keep it alive
 */
void mios_log_drop(struct mios_log_source *source);

/**
 * mios_log_open() - a file to read the log from its oldest byte
 * @source: which log
 * @flags: MIOS_STREAM_FOLLOW or 0
 */
struct file *mios_log_open(struct mios_log_source *source, u32 flags);

#endif /* _MIOS_PROC_LOG_H */
