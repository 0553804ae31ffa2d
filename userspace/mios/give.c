// SPDX-License-Identifier: GPL-2.0
/*
 * mios give and mios take: PCI functions between instance 0 and the others.  The
 * module mios_devices does it (docs/devices.md); here instance 0's driver is sent
 * away and called back, and a person is told what stands in the way.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "libmios/client.h"
#include "libmios/libmios.h"
#include "module.h"
#include "pci.h"
#include "subcommands.h"

#define DRIVER		"/sys/bus/pci/drivers/mios_devices/"
#define PATH_LEN	128
#define WHY		256

static const char give_usage[] =
"Usage: mios give [INSTANCE ADDRESS] [--json]\n"
"Gives a PCI function, such as 03:00.0 of lspci, from instance 0 to another one,\n"
"whose own drivers then have it; without arguments shows what has been given.\n\n"
"  -J, --json           for programs; mios-give(1) has the names\n"
"  -h, --help           print this\n";

static const char take_usage[] =
"Usage: mios take ADDRESS [--force | --check]\n"
"Takes a PCI function back to instance 0, whose driver has it then.\n\n"
"      --force          also if the instance uses it\n"
"      --check          do nothing: does this instance use it?\n"
"  -h, --help           print this\n";

/* --- what the kernel shows and takes --- */

static bool read_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(text, size, file);

	if (file)
		fclose(file);
	if (got)
		text[strcspn(text, "\n")] = '\0';
	return got;
}

/* 0, or -errno. */
static int write_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static void device_path(char path[PATH_LEN], const char *address,
			const char *file)
{
	snprintf(path, PATH_LEN, PCI_DEVICES "%s/%s", address, file);
}

static int device_write(const char *address, const char *file, const char *text)
{
	char path[PATH_LEN];

	device_path(path, address, file);
	return write_line(path, text);
}

/* Whose it is; 0: instance 0 keeps it for others; -1: it is an ordinary one. */
static int owner(const char *address)
{
	char path[PATH_LEN], text[16];

	device_path(path, address, "mios_instance");
	return read_line(path, text, sizeof(text)) ? atoi(text) : -1;
}

/* --- whose driver has it --- */

static void to_own_driver(const char *address)
{
	char path[PATH_LEN];

	device_path(path, address, "driver/unbind");
	write_line(path, address);
	device_write(address, "driver_override", "\n");
	write_line("/sys/bus/pci/drivers_probe", address);
}

/* Before its driver is sent away: the module itself says what it cannot take. */
static void check_can_be_given(const char *address)
{
	size_t n = strlen(address);
	char why[WHY];
	int err = write_line(DRIVER "check", address);

	if (err == -EOPNOTSUPP && read_line(DRIVER "check", why, WHY) &&
	    !strncmp(why, address, n))
		mios_die(MIOS_EXIT_FAILED, "give: %s cannot be given: %s",
			 address, why + n + 1);
	if (err)
		mios_die(MIOS_EXIT_FAILED, "give: %s: %s", address,
			 err == -EACCES ? "not permitted: run it as root" :
			 strerror(-err));
}

static void to_our_driver(const char *address)
{
	char path[PATH_LEN];
	int err;

	check_can_be_given(address);
	device_write(address, "driver_override", "mios_devices");
	device_path(path, address, "driver/unbind");
	write_line(path, address);	/* it may have none */
	err = write_line(DRIVER "bind", address);
	if (!err)
		return;
	to_own_driver(address);
	mios_die(MIOS_EXIT_FAILED, "give: %s cannot be given: %s", address,
		 strerror(-err));
}

/* --- mios give --- */

static const char *give_error(int err)
{
	switch (-err) {
	case ENOTCONN:
	case EHOSTDOWN:
		return "it is not up: mios boot starts it";
	case ESTALE:
		return "it has been booted anew meanwhile: try again";
	case EOPNOTSUPP:
		return "it has no module mios_devices: mios restart brings it";
	case ENXIO:
		return "it does not find there what instance 0 has found";
	case EBUSY:
		return "another one has it: mios take first";
	}
	return strerror(-err);
}

static int give(const char *text, const char *to)
{
	char address[PCI_ADDRESS], path[PATH_LEN], number[16], what[WHY];
	long instance;
	int err;

	if (mios_number(to, 1, MIOS_MAX_INSTANCES - 1, &instance))
		mios_usage("give", "'%.40s' is no instance to give to: they are "
			   "numbered from 1 to %d", to, MIOS_MAX_INSTANCES - 1);
	if (!pci_address(text, address))
		mios_usage("give", "'%.40s' is no PCI address such as 03:00.0",
			   text);
	if (mios_self())
		mios_die(MIOS_EXIT_FAILED, "give: run it on instance 0, which has "
			 "the devices");
	device_path(path, address, "");
	if (access(path, F_OK))
		mios_die(MIOS_EXIT_FAILED, "give: there is no %s: lspci lists "
			 "them", address);
	if (owner(address) > 0)
		mios_die(MIOS_EXIT_FAILED, "give: instance %d has %s: mios take "
			 "first", owner(address), address);
	if (pci_in_use(address, what, sizeof(what)))
		mios_die(MIOS_EXIT_FAILED, "give: %s", what);
	module_load("give", "mios_devices");
	if (owner(address) < 0)
		to_our_driver(address);
	snprintf(number, sizeof(number), "%ld", instance);
	err = device_write(address, "mios_instance", number);
	if (!err)
		return MIOS_EXIT_OK;
	if (owner(address) == 0)
		to_own_driver(address);
	mios_die(MIOS_EXIT_FAILED, "give: instance %ld does not take %s: %s",
		 instance, address, give_error(err));
}

static const struct column columns[] = {
	{ "ADDRESS", "address", 0, SCOLS_JSON_STRING },
	{ "INSTANCE", "instance", SCOLS_FL_RIGHT, SCOLS_JSON_NUMBER },
	{ "VENDOR", "vendor", 0, SCOLS_JSON_STRING },
	{ "DEVICE", "device", 0, SCOLS_JSON_STRING },
	{ "CLASS", "class", 0, SCOLS_JSON_STRING },
	{ }
};

static void show_one(struct libscols_table *t, const char *address)
{
	static const char * const files[] = { "vendor", "device", "class" };
	struct libscols_line *line = table_add_line(t);
	char path[PATH_LEN], text[32];
	unsigned int i;

	cell_set(line, 0, address);
	cell_set_number(line, 1, owner(address));
	for (i = 0; i < 3; i++) {
		device_path(path, address, files[i]);
		cell_set(line, 2 + i, read_line(path, text, sizeof(text)) ?
			 text : "?");
	}
}

static int show(bool json)
{
	struct libscols_table *t = table_create("devices", columns, json);
	char address[PCI_ADDRESS];
	struct dirent *entry;
	DIR *dir = opendir(DRIVER);

	while (dir && (entry = readdir(dir)))
		if (pci_address(entry->d_name, address))
			show_one(t, address);
	if (dir)
		closedir(dir);
	table_show(t, json);
	return MIOS_EXIT_OK;
}

int cmd_give(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, ":Jh", longs, NULL)) != -1)
		switch (c) {
		case 'J':
			json = true;
			break;
		default:
			mios_other_option("give", give_usage, argv, c, longs);
		}
	if (mios_self() < 0)
		mios_die(MIOS_EXIT_FAILED, "give: " MIOS_NO_SYSFS);
	if (argc == optind)
		return show(json);
	if (json || argc - optind != 2)
		mios_usage("give", "it takes an instance and a PCI address, or "
			   "nothing, to show what has been given");
	return give(argv[optind + 1], argv[optind]);
}

/* --- mios take --- */

static int check(const char *address)
{
	char what[WHY];

	if (!pci_in_use(address, what, sizeof(what)))
		return MIOS_EXIT_OK;
	mios_error("mios", "take: instance %d: %s", mios_self(), what);
	return MIOS_EXIT_FAILED;
}

/* Its instance's own word; nothing is asked of one that is about to end. */
static bool is_free(int instance, const char *address)
{
	struct client_command cmd = {
		.who = "mios: take", .envp = environ, .instance = instance,
		.argv = (char *[]){ (char *)"mios", (char *)"take",
				    (char *)"--check", (char *)address, NULL },
	};

	mios_no_input();
	return client_run(&cmd) == MIOS_EXIT_OK;
}

static int take(const char *address, bool force)
{
	int instance = owner(address), err;

	if (instance < 0)
		mios_die(MIOS_EXIT_FAILED, "take: nobody was given %s: 'mios give' "
			 "shows what has been", address);
	if (instance && !force && !is_free(instance, address))
		return MIOS_EXIT_FAILED;
	err = device_write(address, "mios_instance", "0");
	if (err)
		mios_die(MIOS_EXIT_FAILED, "take: instance %d does not let go of "
			 "%s: %s", instance, address,
			 err == -EACCES ? "not permitted: run it as root" :
			 strerror(-err));
	to_own_driver(address);
	return MIOS_EXIT_OK;
}

int cmd_take(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "force", no_argument, NULL, 'f' },
		{ "check", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	bool force = false, only_check = false;
	char address[PCI_ADDRESS];
	int c;

	while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		switch (c) {
		case 'f':
			force = true;
			break;
		case 'c':
			only_check = true;
			break;
		default:
			mios_other_option("take", take_usage, argv, c, longs);
		}
	if (mios_self() < 0)
		mios_die(MIOS_EXIT_FAILED, "take: " MIOS_NO_SYSFS);
	if (force && only_check)
		mios_usage("take", "--force or --check, not both");
	if (argc - optind != 1)
		mios_usage("take", "it takes one PCI address: 'mios give' shows "
			   "what has been given");
	if (!pci_address(argv[optind], address))
		mios_usage("take", "'%.40s' is no PCI address such as 03:00.0",
			   argv[optind]);
	if (only_check)
		return check(address);
	if (mios_self())
		mios_die(MIOS_EXIT_FAILED, "take: run it on instance 0, to which "
			 "it goes back");
	return take(address, force);
}
