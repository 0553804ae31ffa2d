/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the DSM engine asks of the world around it: integer types, three
 * string primitives and an assertion at compile time.  Every file of the
 * engine reads it, and only here would another world differ: a kernel, or a
 * test, which may supply its own under the same guard.
 */
#ifndef DSM_OS_H
#define DSM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/*
 * A freestanding compiler may call these three on its own account, so
 * whoever links the engine has them; declared here, no library needed.
 */
void *memcpy(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);

#ifndef EINVAL
#define EINVAL	22
#define ENOSPC	28
#define ENODATA	61
#define EPROTO	71
#endif

#ifndef static_assert
#define static_assert(cond, ...) \
	_Static_assert(cond, #cond)
#endif

#endif /* DSM_OS_H */
