// SPDX-License-Identifier: GPL-2.0
/*
 * Which other machines there are: a file that GLEX_MACHINES names, the same on all of
 * them, which nobody but its owner may read since it has the key.
 *
 *	key 64-HEX-DIGITS	who has it may connect
 *	port NUMBER		endpoint N listens at port NUMBER + N
 *	NUMBER ADDRESS		a machine, and where its instance 0 is; instance I is
 *				at the address that is I higher
 *
 * The number of an instance between machines (nic_id) is NICS times that of the
 * machine, and its own.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

static int said(const char *form, ...)
{
	va_list words;

	va_start(words, form);
	fputs("libglex: ", stderr);
	vfprintf(stderr, form, words);
	fputs("\n", stderr);
	va_end(words);
	return -1;
}

static int key_read(struct machines *m, const char *word)
{
	unsigned int byte;
	uint32_t i;

	if (strlen(word) != 2 * KEY_BYTES || strspn(word, "0123456789abcdef") != 2 * KEY_BYTES)
		return -1;
	for (i = 0; i < KEY_BYTES; i++) {
		if (sscanf(word + 2 * i, "%2x", &byte) != 1)
			return -1;
		m->key[i] = byte;
	}
	m->has_key = true;
	return 0;
}

/* A decimal number of at most @most; -1. */
static long number_of(const char *word, long most)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(word, &end, 10);
	return isdigit(*word) && !*end && !errno && number <= (unsigned long)most ?
	       (long)number : -1;
}

static int machine_read(struct machines *m, const char *number, const char *address)
{
	long which = number_of(number, MACHINES - 1);
	struct in_addr at;
	long i;

	if (which < 0 || m->address[which] || inet_pton(AF_INET, address, &at) != 1 ||
	    !at.s_addr)
		return -1;
	m->address[which] = ntohl(at.s_addr);
	for (i = 0; i < MACHINES; i++)
		if (i != which && m->address[i] &&
		    labs((long)m->address[i] - (long)m->address[which]) < NICS)
			return -1;
	return 0;
}

static int line_read(struct machines *m, char *line)
{
	char *rest = NULL, *first, *second;
	long port;

	line[strcspn(line, "#\n")] = 0;
	first = strtok_r(line, " \t", &rest);
	second = strtok_r(NULL, " \t", &rest);
	if (!first)
		return 0;
	if (!second || strtok_r(NULL, " \t", &rest))
		return -1;
	if (!strcmp(first, "key"))
		return key_read(m, second);
	if (strcmp(first, "port"))
		return machine_read(m, first, second);
	port = number_of(second, UINT16_MAX);
	if (port < 1024)
		return -1;
	m->port = port;
	return 0;
}

static int lines_read(struct machines *m, FILE *file, const char *path)
{
	char line[256];
	int number = 0;

	while (fgets(line, sizeof(line), file)) {
		number++;
		if (!strchr(line, '\n') || line_read(m, line))
			return said("%s: line %d: key HEX, port N, or N A.B.C.D, %u from others",
				    path, number, NICS);
	}
	return m->has_key ? 0 : said("%s has no line 'key'", path);
}

uint32_t machines_address(const struct machines *m, uint32_t nic_id)
{
	uint32_t first = nic_id / NICS < MACHINES ? m->address[nic_id / NICS] : 0;

	return first && (first & 0xff) + nic_id % NICS < 0xff ? first + nic_id % NICS : 0;
}

/* Is it an address of this instance's? */
static bool is_own(const struct ifaddrs *all, uint32_t address)
{
	const struct sockaddr_in *in;

	for (; address && all; all = all->ifa_next) {
		in = (const struct sockaddr_in *)all->ifa_addr;
		if (in && in->sin_family == AF_INET && ntohl(in->sin_addr.s_addr) == address)
			return true;
	}
	return false;
}

static int self_find(struct machines *m, uint32_t instance, const char *path)
{
	struct ifaddrs *all;
	uint32_t i;
	int err = -1;

	if (getifaddrs(&all))
		return said("addresses of this instance: %s", strerror(errno));
	for (i = 0; i < MACHINES && err; i++) {
		if (!is_own(all, machines_address(m, i * NICS + instance)))
			continue;
		m->self = i;
		err = 0;
	}
	freeifaddrs(all);
	return err ? said("%s: no machine of it is this one: instance %u has none of the addresses",
			  path, instance) : 0;
}

/* NULL: it says why.  Of instance @instance. */
static struct machines *machines_open(const char *path, uint32_t instance)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct machines *m = calloc(1, sizeof(*m));
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;
	int err;

	if (!file || !m || fstat(fd, &st)) {
		err = said("GLEX_MACHINES=%s: %s", path, strerror(errno));
	} else if (st.st_uid != getuid() || st.st_mode & 077) {
		err = said("%s: it has the key, so nobody but you may read it (chown, chmod 600)",
			   path);
	} else {
		m->port = PORT_DEFAULT;
		err = lines_read(m, file, path);
		if (!err)
			err = self_find(m, instance, path);
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	if (!err)
		return m;
	free(m);
	return NULL;
}

/*
 * Read once, and kept: endpoints outlive the device that they are made by.  NULL: it
 * cannot be used, and has been told.
 */
const struct machines *machines_get(uint32_t instance)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct machines *machines;

	pthread_mutex_lock(&lock);
	if (!machines)
		machines = machines_open(getenv("GLEX_MACHINES"), instance);
	pthread_mutex_unlock(&lock);
	return machines;
}
