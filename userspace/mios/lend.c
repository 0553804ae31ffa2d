// SPDX-License-Identifier: GPL-2.0
/*
 * mios lend: how much memory an instance lends to others to swap into, and who
 * has it; the module mios_swap of that instance is told, and tells.  For another
 * instance the same command runs there.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios/client.h"
#include "lend.h"
#include "libmios/libmios.h"
#include "module.h"
#include "subcommands.h"

#define PARAMETERS	"/sys/module/mios_swap/parameters/"

static const char usage[] =
"Usage: mios lend [INSTANCE] [--size SIZE | --off]\n"
"Sets how much memory an instance, this one unless it is named, lends to the\n"
"others to swap into; without an option shows what it lends and has borrowed.\n\n"
"      --size SIZE  so much: 512M, 2G\n"
"      --off        none: what others have in it moves to other lenders\n"
"  -h, --help       print this\n";

/* One of the module's files, as text; false: it is not there. */
bool lend_parameter(const char *name, char *text, size_t size)
{
	char path[128];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	if (len < 0)
		return false;
	text[len] = '\0';
	return true;
}

static int set(const char *size)
{
	int fd, err = 0;

	module_load("lend", "mios_swap");
	fd = open(PARAMETERS "lend", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, size, strlen(size)) < 0)
		err = errno;
	if (fd >= 0)
		close(fd);
	switch (err) {
	case 0:
		return MIOS_EXIT_OK;
	case EACCES:
	case EPERM:
		mios_die(MIOS_EXIT_FAILED, "lend: not permitted: run it as root");
	case EINVAL:
		mios_die(MIOS_EXIT_USAGE, "lend: '%.40s' is no size such as 512M",
			 size);
	case ENOMEM:
		mios_die(MIOS_EXIT_FAILED, "lend: instance %d has no %s of idle "
			 "memory", mios_self(), size);
	case EBUSY:
		mios_die(MIOS_EXIT_FAILED, "lend: no other instance has room for "
			 "what is swapped to this one: 'mios lend %d' shows whose "
			 "it is", mios_self());
	default:
		mios_die(MIOS_EXIT_FAILED, "lend: %s", strerror(err));
	}
}

/* Lines "INSTANCE BYTES [LOST]", as sentences. */
static void show_lines(const char *name, const char *format)
{
	char text[4096], size[32], gone[32], *line, *rest = text;
	uint64_t bytes, lost;
	int instance, nr;

	if (!lend_parameter(name, text, sizeof(text)))
		return;
	while ((line = strsep(&rest, "\n"))) {
		nr = sscanf(line, "%d %" SCNu64 " %" SCNu64, &instance, &bytes,
			    &lost);
		if (nr < 2)
			continue;
		mios_size_text(bytes, size, sizeof(size));
		printf(format, size, instance);
		if (nr == 3 && lost) {
			mios_size_text(lost, gone, sizeof(gone));
			printf(", %s of it lost", gone);
		}
		printf("\n");
	}
}

static int show(void)
{
	char text[32], size[32];

	if (!lend_parameter("lend", text, sizeof(text)))
		strcpy(text, "0");
	mios_size_text(strtoull(text, NULL, 10), size, sizeof(size));
	printf("instance %d lends %s\n", mios_self(), size);
	show_lines("lent", "%s of it to instance %d");
	if (lend_parameter("size", text, sizeof(text)) && strtoull(text, NULL, 10)) {
		mios_size_text(strtoull(text, NULL, 10), size, sizeof(size));
		printf("/dev/mios_swap has %s", size);
		lend_parameter("used", text, sizeof(text));
		mios_size_text(strtoull(text, NULL, 10), size, sizeof(size));
		printf(", %s in use\n", size);
		show_lines("lenders", "%s of it borrowed from instance %d");
	}
	mios_flush_stdout();
	return MIOS_EXIT_OK;
}

static int there(long instance, const char *size)
{
	struct client_command cmd = {
		.who = "mios: lend", .envp = environ, .instance = instance,
	};
	char number[16], *argv[6] = { };

	snprintf(number, sizeof(number), "%ld", instance);
	argv[0] = (char *)"mios";
	argv[1] = (char *)"lend";
	argv[2] = number;
	if (size) {
		argv[3] = (char *)"--size";
		argv[4] = (char *)size;
	}
	mios_no_input();
	cmd.argv = argv;
	return client_run(&cmd);
}

int cmd_lend(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "size", required_argument, NULL, 's' },
		{ "off", no_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *size = NULL;
	long instance = mios_self();
	int c;

	while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		switch (c) {
		case 's':
			size = optarg;
			break;
		case 'o':
			size = "0";
			break;
		default:
			mios_other_option("lend", usage, argv, c, longs);
		}
	if (instance < 0)
		mios_die(MIOS_EXIT_FAILED, "lend: " MIOS_NO_SYSFS);
	if (argc - optind > 1)
		mios_usage("lend", "it takes one instance, what is '%.40s'?",
			   argv[optind + 1]);
	if (optind < argc &&
	    mios_number(argv[optind], 0, MIOS_MAX_INSTANCES - 1, &instance))
		mios_usage("lend", "'%.40s' is no instance: they are numbered "
			   "from 0 to %d", argv[optind], MIOS_MAX_INSTANCES - 1);
	if (instance != mios_self())
		return there(instance, size);
	return size ? set(size) : show();
}
