// SPDX-License-Identifier: GPL-2.0
/*
 * What mount(8) is asked for, when it mounts and afterwards.
 */
#include "options.h"

enum {
	OPT_POOL, OPT_SIZE, OPT_FILES, OPT_POLICY, OPT_HUGE, OPT_MODE, OPT_FORMAT,
	OPT_MAKE
};

/* What a remount may say. */
#define OPTS_REMOUNT	(BIT(OPT_SIZE) | BIT(OPT_FILES) | BIT(OPT_POLICY) | \
			 BIT(OPT_HUGE) | BIT(OPT_MODE))

const struct fs_parameter_spec mios_parameters[] = {
	fsparam_string("pool", OPT_POOL),
	fsparam_string("size", OPT_SIZE),
	fsparam_string("nr_inodes", OPT_FILES),
	fsparam_string("policy", OPT_POLICY),
	fsparam_string("huge", OPT_HUGE),
	fsparam_u32oct("mode", OPT_MODE),
	fsparam_flag("format", OPT_FORMAT),
	fsparam_flag("make", OPT_MAKE),
	{}
};

static int option_pool(struct fs_context *fc, const char *text)
{
	struct mios_options *o = fc->fs_private;
	struct mios_pool_place *place = &o->place[o->nr];
	char *rest;

	if (o->nr == MIOS_POOL_SECTIONS)
		return invalfc(fc, "pool=: too often");
	place->size = memparse(text, &rest);
	if (*rest != '@')
		return invalfc(fc, "pool=SIZE@ADDRESS, such as pool=64M@0x20000000");
	place->base = memparse(rest + 1, &rest);
	o->nr++;
	return *rest ? invalfc(fc, "pool=SIZE@ADDRESS, and nothing behind it") :
		0;
}

/* As for tmpfs; but no page lies beyond a file's end, and so "always" is no more. */
static int option_huge(struct fs_context *fc, const char *text)
{
	static const char *const words[] = {
		[MIOS_HUGE_ADVISE] = "advise",
		[MIOS_HUGE_NEVER] = "never",
		[MIOS_HUGE_SIZE] = "within_size",
	};
	struct mios_options *o = fc->fs_private;
	int huge = match_string(words, ARRAY_SIZE(words), text);

	if (!strcmp(text, "always"))
		huge = MIOS_HUGE_SIZE;
	if (huge < 0)
		return invalfc(fc, "huge=: never, advise, within_size or always");
	if (huge != MIOS_HUGE_NEVER && !MIOS_LARGE_ENTRIES)
		return invalfc(fc, "huge=%s: this kernel maps no large pages, huge=never it is",
			       text);
	o->huge = huge;
	return 0;
}

int mios_option(struct fs_context *fc, struct fs_parameter *param)
{
	struct mios_options *o = fc->fs_private;
	struct fs_parse_result result;
	int opt = fs_parse(fc, mios_parameters, param, &result);
	char *rest;

	if (opt < 0)
		return opt;
	if (fc->purpose == FS_CONTEXT_FOR_RECONFIGURE &&
	    !(BIT(opt) & OPTS_REMOUNT))
		return invalfc(fc, "%s is for a mount, not for a remount",
			       param->key);
	o->given |= BIT(opt);
	switch (opt) {
	case OPT_POOL:
		return option_pool(fc, param->string);
	case OPT_SIZE:
		o->limit = memparse(param->string, &rest) >> PAGE_SHIFT;
		return *rest || !o->limit ?
			invalfc(fc, "size=SIZE, such as size=1G") : 0;
	case OPT_FILES:
		o->files = memparse(param->string, &rest);
		return *rest || rest == param->string ?
			invalfc(fc, "nr_inodes=NUMBER, such as nr_inodes=10k, 0: any") : 0;
	case OPT_POLICY:
		if (!mios_policy_parse(param->string, &o->policy))
			return 0;
		return invalfc(fc, "policy=: local, preferred:NODE, bind: or interleave:NODES");
	case OPT_HUGE:
		return option_huge(fc, param->string);
	case OPT_MODE:
		o->mode = result.uint_32 & 07777;
		return 0;
	case OPT_FORMAT:
		o->format = true;
		return 0;
	case OPT_MAKE:
		o->make = true;
		return 0;
	}
	return opt;
}

/* A line of fstab that was written for a tmpfs is fine if it says what is so. */
int mios_mode_check(struct fs_context *fc, struct inode *root)
{
	const struct mios_options *o = fc->fs_private;
	umode_t mode = root->i_mode & 07777;

	if (!(o->given & BIT(OPT_MODE)) || o->mode == mode)
		return 0;
	return invalfc(fc, "mode=%o: it has %o, which chmod changes", o->mode,
		       mode);
}

/* Of all that this instance has mounted of it: /dev/shm is a part of /mios. */
int mios_remount(struct fs_context *fc)
{
	const struct mios_options *o = fc->fs_private;
	struct mios_mount *m = fc->root->d_sb->s_fs_info;
	u64 policy = o->policy;
	int err = mios_inode_look(d_inode(fc->root));

	if (!err)
		err = mios_mode_check(fc, d_inode(fc->root));
	if (err)
		return err;
	if (o->given & BIT(OPT_POLICY)) {
		if (mios_policy_fit(m, &policy))
			return invalfc(fc, "policy=: a node of it has no part of the pool");
		WRITE_ONCE(m->policy, policy);
	}
	if (o->given & BIT(OPT_HUGE))
		WRITE_ONCE(m->huge, o->huge);
	if (o->given & BIT(OPT_SIZE))
		WRITE_ONCE(m->fs.limit, o->limit);
	if (o->given & BIT(OPT_FILES))
		WRITE_ONCE(m->fs.files, o->files);
	return 0;
}
