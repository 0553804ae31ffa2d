/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few primitives that the portable part of the link (channel.c, layout.c)
 * needs, in two variants: the kernel's, and selftests/unit/channel/os.h with
 * the same include guard for the user-space tests, which is found first there.
 */
#ifndef _MIOS_CHANNEL_OS_H
#define _MIOS_CHANNEL_OS_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/barrier.h>
#include <asm/processor.h>

#include <mios/msg.h>

/* A test damages no other message: a count would be used up by frames. */
#define is_probe(type)	((type) == MIOS_MSG_ECHO)

static inline u32 mios_crc32(const void *data, size_t size)
{
	return ~crc32_le(~0u, data, size);
}

#endif /* _MIOS_CHANNEL_OS_H */
