/* SPDX-License-Identifier: GPL-2.0 */
/* What mios/inject/inject.h takes from a kernel. */
#ifndef _TEST_GLEX_OS_H
#define _TEST_GLEX_OS_H

#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define try_cmpxchg(p, old, new)					\
	__atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST,	\
				    __ATOMIC_SEQ_CST)

#endif /* _TEST_GLEX_OS_H */
