/* SPDX-License-Identifier: GPL-2.0 */
/* Who a member of the team is, for programs that do something where the last is. */
#ifndef OMP_MEMBERS_H
#define OMP_MEMBERS_H

#include <omp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>

static int members;

static inline bool is_last(void)
{
	return omp_get_thread_num() == members - 1;
}

/* On all instances: a PID alone may be there twice. */
static inline std::string process(void)
{
	struct utsname name;

	uname(&name);
	return name.nodename + std::to_string(getpid());
}

#endif /* OMP_MEMBERS_H */
