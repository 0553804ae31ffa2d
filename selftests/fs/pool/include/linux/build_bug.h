/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header in user-space tests. */
#ifndef _LINUX_BUILD_BUG_H
#define _LINUX_BUILD_BUG_H

#include <assert.h>
#include <stddef.h>

#endif
