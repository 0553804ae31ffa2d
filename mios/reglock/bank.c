// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's face: a bank of one hwspinlock, on a platform device of its own,
 * as only instance 0 has the other one.  Its users cannot be told of a death by
 * the framework: they get the lock, and "inherited" counts how often that was.
 */
#include <linux/hwspinlock.h>
#include <linux/moduleparam.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include <hwspinlock_internal.h>

#include "reglock.h"

static unsigned int base;
module_param(base, uint, 0444);
MODULE_PARM_DESC(base, "number of the hwspinlock (0)");
static unsigned int inherited;
module_param(inherited, uint, 0444);
MODULE_PARM_DESC(inherited, "how often this kernel got it from one that died with it");

static struct mios_reglock *reglock;
static struct platform_device *platform;

static int trylock(struct hwspinlock *lock)
{
	int err = mios_register_try(lock->priv);

	if (err == -EOWNERDEAD)
		inherited++;
	return !err || err == -EOWNERDEAD;
}

static void unlock(struct hwspinlock *lock)
{
	mios_register_unlock(lock->priv);
}

static void relax(struct hwspinlock *lock)
{
	cpu_relax();
}

static const struct hwspinlock_ops ops = {
	.trylock = trylock, .unlock = unlock, .relax = relax,
};

static int probe(struct platform_device *dev)
{
	struct hwspinlock_device *bank;

	bank = devm_kzalloc(&dev->dev, struct_size(bank, lock, 1), GFP_KERNEL);
	if (!bank)
		return -ENOMEM;
	bank->lock[0].priv = &reglock->kernel;
	return devm_hwspin_lock_register(&dev->dev, bank, &ops, base, 1);
}

static struct platform_driver driver = {
	.probe = probe,
	.driver = {
		.name = "mios_reglock",
		.suppress_bind_attrs = true,
	},
};

int mios_reglock_bank_begin(struct mios_reglock *lock)
{
	int err;

	reglock = lock;
	err = platform_driver_register(&driver);
	if (err)
		return err;
	platform = platform_device_register_simple("mios_reglock",
						   PLATFORM_DEVID_NONE, NULL, 0);
	if (!IS_ERR(platform) && device_is_bound(&platform->dev))
		return 0;
	err = IS_ERR(platform) ? PTR_ERR(platform) : -EBUSY;
	if (!IS_ERR(platform))
		platform_device_unregister(platform);
	platform_driver_unregister(&driver);
	return err;
}

void mios_reglock_bank_end(void)
{
	platform_device_unregister(platform);
	platform_driver_unregister(&driver);
}

#ifdef MIOS_INJECT
/*
 * For tests: a word at the end of the shared memory, which kernels add to under
 * the hwspinlock, and to which they are slow to write back what they have read.
 */
static u64 *test_word(void)
{
	return reglock->words + reglock->place.size - sizeof(u64);
}

static int add_under(struct hwspinlock *lock, unsigned int times)
{
	u64 *word = test_word();
	unsigned int i, spin;
	u64 had;
	int err;

	for (i = 0; i < times; i++) {
		err = hwspin_lock_timeout(lock, 2000);
		if (err)
			return err;
		had = READ_ONCE(*word);
		for (spin = 0; spin < 2000; spin++)
			barrier();
		WRITE_ONCE(*word, had + 1);
		hwspin_unlock(lock);
		cond_resched();
	}
	return 0;
}

static int adds_set(const char *text, const struct kernel_param *kp)
{
	struct hwspinlock *lock;
	unsigned int times;
	int err = kstrtouint(text, 0, &times);

	if (err)
		return err;
	lock = hwspin_lock_request_specific(base);
	if (!lock)
		return -ENODEV;
	err = add_under(lock, times);
	hwspin_lock_free(lock);
	return err;
}

/* For a test that kills this instance meanwhile: nobody gives it back. */
static int hold_set(const char *text, const struct kernel_param *kp)
{
	struct hwspinlock *lock = hwspin_lock_request_specific(base);

	return lock ? hwspin_lock_timeout_raw(lock, 5000) : -ENODEV;
}

static int adds_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu\n", reglock ? *test_word() : 0);
}

static const struct kernel_param_ops adds_ops = {
	.set = adds_set, .get = adds_get,
};

static const struct kernel_param_ops hold_ops = { .set = hold_set };

module_param_cb(inject_hold, &hold_ops, NULL, 0200);
MODULE_PARM_DESC(inject_hold, "for tests: take the hwspinlock and keep it");
module_param_cb(inject_adds, &adds_ops, NULL, 0600);
MODULE_PARM_DESC(inject_adds, "for tests: add so often to a shared word under the hwspinlock");
#endif
