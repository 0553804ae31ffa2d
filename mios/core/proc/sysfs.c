// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/mios: what is known of every instance, the same on all of them
 * (docs/abi/sysfs-kernel-mios).  Each file asks the link when it is read; a
 * change of state wakes who polls the state file.  No lock of its own.
 */
#include <linux/kobject.h>
#include <linux/nodemask.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "../link/link.h"
#include "../part/part.h"
#include "sysfs.h"

struct entry {
	struct kobject kobj;
	u32 instance;
};

struct entry_attribute {
	struct attribute attr;
	ssize_t (*show)(const struct mios_info *info, char *buf);
};

static struct kobject *top;
static struct entry *entries[MIOS_MAX_INSTANCES];

static const char *state_name(u32 state)
{
	static const char * const names[] = {
		[MIOS_STATE_DOWN] = "down",
		[MIOS_STATE_CLAIMED] = "claimed",
		[MIOS_STATE_BOOTING] = "booting",
		[MIOS_STATE_UP] = "up",
		[MIOS_STATE_STOPPING] = "stopping",
		[MIOS_STATE_FENCING] = "fencing",
		[MIOS_STATE_DEAD] = "dead",
		[MIOS_STATE_HELD] = "held",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

static bool up(const struct mios_info *info)
{
	return info->state == MIOS_STATE_UP ||
	       info->state == MIOS_STATE_STOPPING;
}

#define ENTRY_SHOW(file, format, ...)					\
static ssize_t file##_show(const struct mios_info *info, char *buf)	\
{									\
	return sysfs_emit(buf, format "\n", __VA_ARGS__);		\
}									\
static struct entry_attribute file##_attr = {				\
	.attr = { .name = #file, .mode = 0444 },			\
	.show = file##_show,						\
}

ENTRY_SHOW(state, "%s", state_name(info->state));
ENTRY_SHOW(node, "%u", info->node);
ENTRY_SHOW(ring, "%d", info->ring);
ENTRY_SHOW(incarnation, "%u", info->incarnation);
ENTRY_SHOW(cpus, "%u", info->nr_cpus);
ENTRY_SHOW(memory, "%llu", info->memory);
ENTRY_SHOW(memory_free, "%llu", info->memory_free);
ENTRY_SHOW(cost, "%llu", info->cost);
ENTRY_SHOW(uptime, "%llu", up(info) ? div_u64(info->uptime_ms, 1000) : 0);
ENTRY_SHOW(heartbeat_age, "%lld", up(info) ? info->beat_age_ms : -1);
ENTRY_SHOW(load, "%u.%02u %u.%02u %u.%02u %u",
	   info->load[0] / 100, info->load[0] % 100,
	   info->load[1] / 100, info->load[1] % 100,
	   info->load[2] / 100, info->load[2] % 100, info->nr_running);
ENTRY_SHOW(messages_sent, "%llu", info->sent);
ENTRY_SHOW(messages_received, "%llu", info->received);
ENTRY_SHOW(release, "%s", info->release);
ENTRY_SHOW(next, "%d", info->next < MIOS_MAX_INSTANCES ?
	   (int)info->next : -1);

static ssize_t apic_ids_show(const struct mios_info *info, char *buf)
{
	u32 count = min(info->nr_apicids, MIOS_AREA_CPUS);
	ssize_t at = 0;
	u32 i;

	for (i = 0; i < count; i++)
		at += sysfs_emit_at(buf, at, "%s%u", i ? "," : "",
				    info->apicid[i]);
	return at + sysfs_emit_at(buf, at, "\n");
}

static struct entry_attribute apic_ids_attr = {
	.attr = { .name = "apic_ids", .mode = 0444 },
	.show = apic_ids_show,
};

/* Many values, as node<N>/vmstat has them: each with its name. */
static ssize_t counts_show(const struct mios_info *info, char *buf)
{
	static const char * const names[MIOS_COUNTS] = {
		[MIOS_COUNT_BELLS_RUNG] = "bells_rung",
		[MIOS_COUNT_BELLS_HEARD] = "bells_heard",
		[MIOS_COUNT_CALLS] = "calls",
		[MIOS_COUNT_CALLS_SERVED] = "calls_served",
		[MIOS_COUNT_FAULTS] = "faults",
		[MIOS_COUNT_REVOKES] = "revokes",
		[MIOS_COUNT_FUTEX_WAKES] = "futex_wakes",
		[MIOS_COUNT_LOCK_WAITS] = "lock_waits",
	};
	ssize_t at = 0;
	u32 what;

	if (!info->counted)
		return sysfs_emit(buf, "unknown\n");
	for (what = 0; what < MIOS_COUNTS; what++)
		at += sysfs_emit_at(buf, at, "%s %llu\n", names[what],
				    info->counts[what]);
	return at;
}

static struct entry_attribute counts_attr = {
	.attr = { .name = "counts", .mode = 0444 },
	.show = counts_show,
};

static ssize_t pool_show(const struct mios_info *info, char *buf)
{
	if (!info->pool.size)
		return sysfs_emit(buf, "none\n");
	return sysfs_emit(buf, "%llu@%#llx\n", info->pool.size,
			  info->pool.base);
}

static struct entry_attribute pool_attr = {
	.attr = { .name = "pool", .mode = 0444 },
	.show = pool_show,
};

/* Only instance 0 knows how the firmware and its operator number them. */
static ssize_t part_show(const struct mios_info *info, char *buf)
{
	if (mios_link_self())
		return sysfs_emit(buf, "unknown\n");
	return mios_part_show(info->instance, buf);
}

static struct entry_attribute part_attr = {
	.attr = { .name = "part", .mode = 0444 },
	.show = part_show,
};

static ssize_t log_start_show(const struct mios_info *info, char *buf)
{
	if (!info->log_start)
		return sysfs_emit(buf, "unknown\n");
	return sysfs_emit(buf, "%llu\n", info->log_start);
}

static struct entry_attribute log_start_attr = {
	.attr = { .name = "log_start", .mode = 0444 },
	.show = log_start_show,
};

static ssize_t suspect_show(const struct mios_info *info, char *buf)
{
	if (!info->silent_ms)
		return sysfs_emit(buf, "no\n");
	return sysfs_emit(buf, "%u\n", info->silent_ms / 1000);
}

static struct entry_attribute suspect_attr = {
	.attr = { .name = "suspect", .mode = 0444 },
	.show = suspect_show,
};

static ssize_t distance_show(const struct mios_info *info, char *buf)
{
	ssize_t at = 0;
	u32 i;

	for (i = 0; i < mios_link_nr(); i++)
		at += sysfs_emit_at(buf, at, "%s%u", i ? " " : "",
				    mios_link_distance(info->node, i));
	return at + sysfs_emit_at(buf, at, "\n");
}

static struct entry_attribute distance_attr = {
	.attr = { .name = "distance", .mode = 0444 },
	.show = distance_show,
};

static struct attribute *entry_attrs[] = {
	&state_attr.attr, &node_attr.attr, &ring_attr.attr,
	&incarnation_attr.attr, &cpus_attr.attr, &apic_ids_attr.attr,
	&memory_attr.attr, &memory_free_attr.attr, &cost_attr.attr,
	&uptime_attr.attr, &heartbeat_age_attr.attr, &suspect_attr.attr,
	&load_attr.attr, &pool_attr.attr, &part_attr.attr,
	&release_attr.attr, &distance_attr.attr, &next_attr.attr,
	&log_start_attr.attr, &messages_sent_attr.attr,
	&messages_received_attr.attr, &counts_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(entry);

static ssize_t entry_show(struct kobject *kobj, struct attribute *attr,
			  char *buf)
{
	struct entry *entry = container_of(kobj, struct entry, kobj);
	struct mios_info *info = kmalloc(sizeof(*info), GFP_KERNEL);
	ssize_t ret;

	if (!info)
		return -ENOMEM;
	ret = mios_link_info(entry->instance, info);
	if (!ret)
		ret = container_of(attr, struct entry_attribute, attr)->
			show(info, buf);
	kfree(info);
	return ret;
}

static void entry_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct entry, kobj));
}

static const struct sysfs_ops entry_ops = { .show = entry_show };

static const struct kobj_type entry_type = {
	.release = entry_release,
	.sysfs_ops = &entry_ops,
	.default_groups = entry_groups,
};

static ssize_t self_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%u\n", mios_link_self());
}

static struct kobj_attribute self_attr = __ATTR_RO(self);

static ssize_t host_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	u32 host = mios_link_host_now();

	if (host == MIOS_NO_INSTANCE)
		return sysfs_emit(buf, "none\n");
	return sysfs_emit(buf, "%u\n", host);
}

static struct kobj_attribute host_attr = __ATTR_RO(host);

static int sysfs_event(struct notifier_block *nb, unsigned long event,
		       void *data)
{
	const struct mios_change *change = data;
	const char *file = event == MIOS_EVENT_SUSPECT ? "suspect" : "state";

	if (change->instance < MIOS_MAX_INSTANCES && entries[change->instance])
		sysfs_notify(&entries[change->instance]->kobj, NULL, file);
	return NOTIFY_DONE;
}

static struct notifier_block sysfs_nb = { .notifier_call = sysfs_event };

static int entry_add(u32 instance)
{
	struct entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	int err;

	if (!entry)
		return -ENOMEM;
	entry->instance = instance;
	err = kobject_init_and_add(&entry->kobj, &entry_type, top,
				   "instance%u", instance);
	if (err) {
		kobject_put(&entry->kobj);
		return err;
	}
	entries[instance] = entry;
	return 0;
}

int mios_sysfs_init(void)
{
	int err;
	u32 i;

	top = kobject_create_and_add("mios", kernel_kobj);
	if (!top)
		return -ENOMEM;
	err = sysfs_create_file(top, &self_attr.attr) ?:
	      sysfs_create_file(top, &host_attr.attr);
	for (i = 0; i < mios_link_nr() && !err; i++)
		err = entry_add(i);
	if (!err)
		err = mios_link_register(&sysfs_nb);
	if (err)
		mios_sysfs_exit();
	return err;
}

void mios_sysfs_exit(void)
{
	u32 i;

	mios_link_unregister(&sysfs_nb);
	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (entries[i])
			kobject_put(&entries[i]->kobj);
		entries[i] = NULL;
	}
	kobject_put(top);
}
