// SPDX-License-Identifier: GPL-2.0
/*
 * mios set: shows and changes the machine's settings, now and for the next
 * start: a change goes to the module first, which may refuse it, then into
 * /etc/mios.conf.  mios-host-setup calls it with --apply.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "flags.h"
#include "libmios/conf.h"
#include "libmios/libmios.h"
#include "pages.h"
#include "set.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios set [NAME]\n"
"       mios set NAME=VALUE...\n"
"       mios set --apply\n"
"Shows the settings of this machine, or the value of one; or changes some, now\n"
"and for the next start (in " CONF_PATH ").\n\n"
"      --apply  let the file hold now; mios.service does it when it starts\n"
"  -h, --help   print this\n";

static const struct setting *find(const char *name)
{
	const struct setting *s = setting_find(name);
	const char *meant;

	if (s)
		return s;
	meant = setting_guess(name);
	if (meant)
		mios_usage("set", "there is no setting '%.40s', did you mean "
			   "'%s'?", name, meant);
	mios_usage("set", "there is no setting '%.40s'", name);
}

/* @only_kept: not if it is not in the file */
static void show_line(const struct setting *s, bool only_kept)
{
	char now[SET_VALUE], kept[SET_VALUE], why[256];
	int ret;

	strcpy(kept, s->fallback ? s->fallback : "-");
	ret = conf_get(CONF_PATH, s->name, kept, sizeof(kept), why,
		       sizeof(why));
	if (ret < 0)
		mios_die(MIOS_EXIT_FAILED, "set: %s", why);
	if (!ret && only_kept)
		return;
	if (setting_live(s, now))
		strcpy(now, "-");
	printf("%-16s %-8s %-13s %s\n", s->name, now, kept, s->help);
}

static void show_all(void)
{
	const struct setting *s = NULL;
	unsigned int i;

	printf("%-16s %-8s %-13s %s\n", "SETTING", "NOW", "AT START", "MEANING");
	while ((s = setting_next(s)))
		show_line(s, false);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		show_line(setting_give(i), true);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		show_line(setting_root(i), true);
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		show_line(setting_init(i), true);
}

static void show_one(const char *name)
{
	const struct setting *s = find(name);
	char value[SET_VALUE];
	int err = setting_now(s, value);

	if (err)
		mios_die(MIOS_EXIT_FAILED, "set %s: %s", name,
			 err == -ENOENT ? MIOS_NO_SYSFS : strerror(-err));
	printf("%s\n", value);
}

/* "NAME=VALUE" taken apart, and looked at. */
static const struct setting *parse(char *word, char **value)
{
	const struct setting *s;

	*value = strchr(word, '=');
	if (!*value)
		mios_usage("set", "'%.40s' is not NAME=VALUE", word);
	*(*value)++ = '\0';
	s = find(word);
	if (strlen(*value) >= SET_VALUE || setting_valid(s, *value))
		mios_usage("set", "%s: '%.40s' is no value for it (%s)",
			   word, *value, s->help);
	return s;
}

static const char *why_not(int err)
{
	if (err == -EACCES || err == -EPERM)
		return "not permitted: run it as root";
	if (err == -ENOSPC)
		return "the pool has no 2 MiB left in one piece: remove files";
	return strerror(-err);
}

static int change(const struct setting *s, const char *value)
{
	char why[512];
	int err;

	err = setting_change(s, value);
	/* Without the module it is for the next start alone. */
	if (err == -ENODEV) {
		mios_error("mios", "set %s: there is no " SHARED_DIR ": it holds "
			   "when there is", s->name);
	} else if (err && err != -ENOENT) {
		mios_error("mios", "set %s: %s", s->name, why_not(err));
		return 1;
	}
	if (!set_file_change(s->name, value, why, sizeof(why)))
		return 0;
	mios_error("mios", "set %s: it will not last: %s", s->name, why);
	return 1;
}

static int change_all(int argc, char **argv)
{
	const struct setting *s[64];
	char *value[64];
	int i, failed = 0;

	if (argc > 64)
		mios_usage("set", "more settings than there are");
	/* All are looked at before one is changed. */
	for (i = 0; i < argc; i++)
		s[i] = parse(argv[i], &value[i]);
	if (mios_self() > 0)
		mios_die(MIOS_EXIT_FAILED, "set: this is instance %d: the "
			 "settings are instance 0's", mios_self());
	for (i = 0; i < argc; i++)
		failed += change(s[i], value[i]);
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}

/* What is wrong is told, and the rest applied. */
static int apply_one(void *failed, const char *name, const char *value,
		     unsigned int line)
{
	const struct setting *s = setting_find(name);
	int err;

	if (!s)
		return 0;	/* another program's */
	err = setting_valid(s, value);
	if (!err)
		err = setting_change(s, value);
	/* mios-host-setup says it again when there is a /mios. */
	if (!err || err == -ENODEV)
		return 0;
	mios_error("mios", "set: " CONF_PATH ", line %u: %s = %.40s: %s", line,
		   name, value, err == -EINVAL ? "no value for it" :
		   err == -ENOENT ? MIOS_NO_SYSFS : strerror(-err));
	*(int *)failed = 1;
	return 0;
}

static int apply(void)
{
	char why[512];
	int failed = 0, err = 0;

	if (conf_read(CONF_PATH, apply_one, &failed, why, sizeof(why)) < 0) {
		mios_error("mios", "set: %s", why);
		failed = 1;
	} else {
		err = setting_unsaid();
	}
	if (err) {
		mios_error("mios", "set: what no line says: %s", strerror(-err));
		failed = 1;
	}
	return failed ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}

int cmd_set(int argc, char **argv)
{
	bool all = false;
	const struct flag flags[] = { { "apply", 0, &all }, { } };

	flags_take("set", usage, argc, argv, flags);
	argc -= optind;
	argv += optind;
	if (all && argc)
		mios_usage("set", "--apply takes no settings");
	if (all)
		return apply();
	if (argc > 1 || (argc && strchr(argv[0], '=')))
		return change_all(argc, argv);
	if (argc)
		show_one(argv[0]);
	else
		show_all();
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}
