// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the settings that /etc/mios.conf may hold, and their values now:
 * parameters of the mios module, but for what only matters at start-up.
 * Called by mios set and mios boot.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmios/conf.h"
#include "libmios/libmios.h"
#include "pages.h"
#include "pci.h"
#include "set.h"

#define PARAMETERS	"/sys/module/mios/parameters/"
#define NUMBER_MAX	86400
#define WORD		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.-"

#define BOOT		"boot"
#define NETWORK		"network"
#define SERVER		"root-server"
#define SHARE		"shm.user"
#define SUCCESSOR	"successor"
/* These have a number behind them: one for each instance. */
#define GIVE		"give."
#define ROOT		"root."
#define INIT		"init."

static const struct setting settings[] = {
	{ BOOT, "all none", "none",
	  "nodes that boot at start-up: all, none, or a list such as 1-3" },
	{ NETWORK, NULL, MIOS_NETWORK,
	  "addresses between instances, A.B.0.0/16, from the next boot of "
	  "instance 0" },
	{ "init", "busybox systemd", "busybox",
	  "first process of instances, from their next boot: busybox or "
	  "systemd" },
	{ SERVER, NULL, "0",
	  "instance that serves the root of those without their own, from their "
	  "next boot" },
	{ SUCCESSOR, "all none", "all",
	  "instances that may be host when instance 0 has died, from their next "
	  "boot: all, none, or a list" },
	{ "shm", "ring private", "ring",
	  "whose /dev/shm is, from the next boot: ring or private" },
	{ SHARE, NULL, "none",
	  "what a user may have in /mios: 4G, or 4G,10000 with that many files, "
	  "or none" },
	{ "hang_policy", "report kill reboot", NULL,
	  "what is done with an instance that hangs: report, kill or reboot" },
	{ "hang_timeout", NULL, NULL,
	  "seconds that a CPU may stand still; 0: nobody looks" },
	{ "hang_reboots", NULL, NULL,
	  "times within ten minutes that one that hangs is booted again" },
	{ "dump_policy", "never ask always", NULL,
	  "whether a crashed instance is kept for a dump: never, ask or always" },
	{ "dump_hold", NULL, NULL,
	  "seconds that it is kept for who does not read; 0: for ever" },
	{ "suspect_timeout", NULL, NULL,
	  "seconds of silence that make an instance suspect; 0: none does" },
	{ "stop_timeout", NULL, NULL,
	  "seconds that instances have when instance 0 ends; 0: none" },
	{ "take_timeout", NULL, NULL,
	  "seconds that moving a node's data may take when it boots" },
	{ }
};

const struct setting *setting_next(const struct setting *before)
{
	before = before ? before + 1 : settings;
	return before->name ? before : NULL;
}

/* Those of one instance are not in the table, where they would be sixty lines. */
struct numbered {
	struct setting each[MIOS_MAX_INSTANCES];
	char names[MIOS_MAX_INSTANCES][16];
};

static const struct setting *numbered(struct numbered *n, const char *prefix,
				      unsigned int instance, const char *help)
{
	struct setting *s = &n->each[instance];

	snprintf(n->names[instance], sizeof(n->names[instance]), "%s%u", prefix,
		 instance);
	s->name = n->names[instance];
	s->fallback = "none";
	s->help = help;
	return s;
}

const struct setting *setting_give(unsigned int instance)
{
	static struct numbered give;

	return numbered(&give, GIVE, instance, "PCI functions that it is given "
			"when it has been booted: 03:00.0,04:00.0, or none");
}

const struct setting *setting_root(unsigned int instance)
{
	static struct numbered root;

	return numbered(&root, ROOT, instance, "file system on such a function "
			"that is its root: " ROOT_FORM);
}

const struct setting *setting_init(unsigned int instance)
{
	static struct numbered init;

	init.each[instance].choices = "busybox systemd none";
	return numbered(&init, INIT, instance, "its first process, from its next "
			"boot: busybox or systemd, or none for what init says");
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

const struct setting *setting_find(const char *name)
{
	static const struct {
		const char *prefix;
		const struct setting *(*get)(unsigned int instance);
	} each[] = {
		{ GIVE, setting_give }, { ROOT, setting_root },
		{ INIT, setting_init },
	};
	const struct setting *s = NULL;
	long instance;
	size_t i;

	while ((s = setting_next(s)))
		if (!strcmp(s->name, name))
			return s;
	for (i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		if (starts(name, each[i].prefix) &&
		    !mios_number(name + strlen(each[i].prefix), 1,
				 MIOS_MAX_INSTANCES - 1, &instance))
			return each[i].get(instance);
	return NULL;
}

static const char *name_of(const void *table, size_t i)
{
	return ((const struct setting *)table)[i].name;
}

const char *setting_guess(const char *name)
{
	return mios_guess(name, strlen(name), name_of, settings);
}

/* Is @value one of the @words, between blanks? */
static bool is_word(const char *words, const char *value)
{
	const size_t len = strlen(value);

	for (; words; words = strchr(words, ' ')) {
		words += *words == ' ';
		if (!strncmp(words, value, len) &&
		    (words[len] == ' ' || !words[len]))
			return len != 0;
	}
	return false;
}

static int addresses_valid(const char *value)
{
	char text[SET_VALUE], address[PCI_ADDRESS], *word, *rest = text;

	if (!strcmp(value, "none"))
		return 0;
	snprintf(text, sizeof(text), "%s", value);
	while ((word = strsep(&rest, ",")))
		if (!pci_address(word, address))
			return -EINVAL;
	return 0;
}

/* What the initrd hands to findfs and mount. */
static int root_valid(const char *value)
{
	static const char * const forms[] = { "/dev/", "LABEL=", "UUID=" };
	size_t i, n;

	if (!strcmp(value, "none"))
		return 0;
	for (i = 0; i < 3; i++) {
		n = strlen(forms[i]);
		if (starts(value, forms[i]) && value[n] &&
		    strspn(value + n, WORD) == strlen(value + n))
			return 0;
	}
	return -EINVAL;
}

/* 0, or -EINVAL. */
int setting_valid(const struct setting *s, const char *value)
{
	struct pool_share share;
	uint64_t nodes;
	uint32_t net;
	long number;

	if (starts(s->name, GIVE))
		return addresses_valid(value);
	if (starts(s->name, ROOT))
		return root_valid(value);
	if (!strcmp(s->name, SHARE))
		return share_parse(value, &share);
	if (!strcmp(s->name, NETWORK))
		return mios_network_parse(value, &net);
	if (s->choices && is_word(s->choices, value))
		return 0;
	if ((!strcmp(s->name, BOOT) || !strcmp(s->name, SUCCESSOR)) &&
	    !mios_parse_nodes(value, &nodes) &&
	    !(nodes & 1))
		return 0;
	if (!s->choices &&
	    !mios_number(value, 0, strcmp(s->name, SERVER) ? NUMBER_MAX :
			 MIOS_MAX_INSTANCES - 1, &number))
		return 0;
	return -EINVAL;
}

static int open_parameter(const struct setting *s, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), PARAMETERS "%s", s->name);
	return open(path, flags | O_CLOEXEC);
}

/* What the machine says of it, SET_VALUE bytes: 0, or -errno: nothing. */
int setting_live(const struct setting *s, char *value)
{
	ssize_t got;
	int fd;

	if (!strcmp(s->name, SHARE))
		return share_now(value, SET_VALUE);
	if (s->fallback)
		return -ENOENT;
	fd = open_parameter(s, O_RDONLY);
	if (fd < 0)
		return -errno;
	got = read(fd, value, SET_VALUE - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	if (got < 0)
		return got;
	value[got] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return 0;
}

/* What holds now, SET_VALUE bytes: 0, or -errno where there is no module. */
int setting_now(const struct setting *s, char *value)
{
	int err = setting_live(s, value);
	char why[256];

	if (!err || !s->fallback)
		return err;
	snprintf(value, SET_VALUE, "%s", s->fallback);
	err = conf_get(CONF_PATH, s->name, value, SET_VALUE, why, sizeof(why));
	return err < 0 ? err : 0;
}

/* Nothing to do for what only matters at start-up.  -ENODEV: there is no /mios. */
int setting_change(const struct setting *s, const char *value)
{
	int fd, err = 0;

	if (!strcmp(s->name, SHARE))
		return share_change(value);
	if (s->fallback)
		return 0;
	fd = open_parameter(s, O_WRONLY);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* 1: all; 0: @nodes; -errno, which has been told. */
static int list_of(const char *name, uint64_t *nodes)
{
	const struct setting *s = setting_find(name);
	char value[SET_VALUE], why[256];
	int ret;

	*nodes = 0;
	snprintf(value, sizeof(value), "%s", s->fallback);
	ret = conf_get(CONF_PATH, s->name, value, sizeof(value), why,
		       sizeof(why));
	if (ret < 0) {
		mios_error("mios", "boot: %s", why);
		return ret;
	}
	if (setting_valid(s, value)) {
		mios_error("mios", "boot: " CONF_PATH ", line %d: %s: '%.40s' "
			   "is not all, none or a list such as 1-3", ret, name,
			   value);
		return -EINVAL;
	}
	if (!strcmp(value, "all"))
		return 1;
	if (strcmp(value, "none"))
		mios_parse_nodes(value, nodes);
	return 0;
}

/*
 * miosfs keeps it, and a pool outlives kernels: where no line says what a user may
 * have now it is what none says.
 */
int setting_unsaid(void)
{
	const struct setting *s = setting_find(SHARE);
	char value[SET_VALUE], why[256];
	int ret = conf_get(CONF_PATH, SHARE, value, sizeof(value), why,
			   sizeof(why));

	if (ret)
		return ret < 0 ? ret : 0;
	ret = setting_change(s, s->fallback);
	return ret == -ENODEV ? 0 : ret;
}

int setting_boot(uint64_t *nodes)
{
	return list_of(BOOT, nodes);
}

/* 1: it may; 0; -errno, which has been told. */
int setting_successor(unsigned int instance)
{
	uint64_t nodes;
	int ret = list_of(SUCCESSOR, &nodes);

	return ret ? ret : nodes >> instance & 1;
}
