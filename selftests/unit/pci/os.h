/* SPDX-License-Identifier: GPL-2.0 */
/* The user-space variant of mios/core/pci/os.h: the same guard, included first. */
#ifndef _MIOS_PCI_OS_H
#define _MIOS_PCI_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define try_cmpxchg(p, old, new)					\
	__atomic_compare_exchange_n((p), (old), (new), false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#endif /* _MIOS_PCI_OS_H */
