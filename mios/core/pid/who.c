// SPDX-License-Identifier: GPL-2.0
/* Who asks another instance for something: said here, believed there. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "pid.h"

/* What a security module says of who is not confined by it. */
static mios_lsm_t unconfined;

int mios_who_get(struct mios_who *who)
{
	const struct cred *cred = current_cred();
	mios_lsm_t confined;

	mios_lsm_of_current(&confined);
	if (current_user_ns() != &init_user_ns ||
	    memcmp(&confined, &unconfined, sizeof(confined)))
		return -EPERM;
	who->uid = from_kuid(&init_user_ns, cred->uid);
	who->euid = from_kuid(&init_user_ns, cred->euid);
	who->gid = from_kgid(&init_user_ns, cred->gid);
	who->reserved = 0;
	who->permitted = cred->cap_permitted.val;
	who->effective = cred->cap_effective.val;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(mios_who_get, MIOS);

void mios_who_fill(struct cred *cred, const struct mios_who *who)
{
	cred->uid = make_kuid(&init_user_ns, who->uid);
	cred->suid = cred->uid;
	cred->euid = make_kuid(&init_user_ns, who->euid);
	cred->fsuid = cred->euid;
	cred->gid = make_kgid(&init_user_ns, who->gid);
	cred->sgid = cred->gid;
	cred->egid = cred->gid;
	cred->fsgid = cred->gid;
	cred->cap_permitted.val = who->permitted & CAP_VALID_MASK;
	cred->cap_effective.val = who->effective & CAP_VALID_MASK;
	cap_clear(cred->cap_inheritable);
	cap_clear(cred->cap_ambient);
}
EXPORT_SYMBOL_NS_GPL(mios_who_fill, MIOS);

struct cred *mios_who_cred(const struct mios_who *who)
{
	struct cred *cred = prepare_kernel_cred(&init_task);

	if (cred)
		mios_who_fill(cred, who);
	return cred;
}
EXPORT_SYMBOL_NS_GPL(mios_who_cred, MIOS);

int mios_who_init(void)
{
	struct cred *cred = prepare_kernel_cred(&init_task);

	if (!cred)
		return -ENOMEM;
	mios_lsm_of_cred(cred, &unconfined);
	put_cred(cred);
	return 0;
}
