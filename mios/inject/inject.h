/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Breaking a guarantee on purpose, for the test that must fail then.  A knob is
 * declared once, where its guarantee is kept, and is a variable there:
 *
 *	MIOS_INJECT_SWITCH(name, text)	bool inject_name: until it is off
 *	MIOS_INJECT_TIMES(name, text)	int, for mios_inject(name): so often
 *	MIOS_INJECT_VALUE(name, text)	unsigned int inject_name: how much
 *	MIOS_INJECT_UNIT(name)		a switch that only unit tests have
 *
 * In modules that were built with MIOS_INJECT=1 each is a parameter of that
 * name, at /sys/module/MODULE/parameters/; unit tests, in user space, find it by
 * its name (selftests/unit/inject.h).  In every other build a knob is the
 * constant 0, and nothing of it remains.
 */
#ifndef _MIOS_INJECT_H
#define _MIOS_INJECT_H

#define MIOS_INJECT_SWITCH(name, text)	MIOS_INJECT_KNOB(bool, name, text)
#define MIOS_INJECT_TIMES(name, text)	\
	MIOS_INJECT_KNOB(int, name, text ": times, -1 for always")
#define MIOS_INJECT_VALUE(name, text)	MIOS_INJECT_KNOB(uint, name, text)

#ifndef MIOS_INJECT

#define MIOS_INJECT_KNOB(type, name, text)				\
	enum { inject_##name = 0 }

#define MIOS_INJECT_UNIT(name)						\
	MIOS_INJECT_KNOB(bool, name, "")

#elif defined(__KERNEL__)

#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

#define MIOS_INJECT_KNOB(type, name, text)				\
	static type inject_##name __maybe_unused;			\
	module_param(inject_##name, type, 0600);			\
	MODULE_PARM_DESC(inject_##name, "for tests: " text)

#define MIOS_INJECT_UNIT(name)						\
	enum { inject_##name = 0 }

#else

/**
 * struct mios_injection - a knob of a unit test
 * @name:	its name
 * @knob:	a bool, or an int that counts
 * @size:	of that
 */
struct mios_injection {
	const char *name;
	void *knob;
	size_t size;
};

#define MIOS_INJECT_KNOB(type, name, text)				\
	static type inject_##name;					\
	static const struct mios_injection injection_##name		\
	__attribute__((used, section("injections"), aligned(8))) = {	\
		#name, &inject_##name, sizeof(inject_##name)		\
	}

#define MIOS_INJECT_UNIT(name)						\
	MIOS_INJECT_KNOB(bool, name, "")

#endif

#ifdef MIOS_INJECT
/* Is it to happen once more?  One of those who ask at once takes each time. */
static inline bool mios_inject_take(int *times)
{
	int left = READ_ONCE(*times);

	while (left > 0 && !try_cmpxchg(times, &left, left - 1))
		;
	return left;
}

#define mios_inject(name)	mios_inject_take(&inject_##name)
#else
#define mios_inject(name)	((bool)inject_##name)
#endif

#endif /* _MIOS_INJECT_H */
