// SPDX-License-Identifier: GPL-2.0
/*
 * The addresses that the instances have among themselves: A.B.RING.INSTANCE+1,
 * where A.B.0.0/16 is "network" of /etc/mios.conf.  mios-host-setup writes the
 * one that this boot of instance 0 goes by, and each instance's init that of
 * its own boot.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmios.h"

/* Sixteen bits that some machine may have: not "this", loop or multicast. */
int mios_network_parse(const char *text, uint32_t *net)
{
	char address[INET_ADDRSTRLEN];
	size_t len = strcspn(text, "/");
	struct in_addr in;
	uint32_t a;

	if (len >= sizeof(address) || strcmp(text + len, "/16"))
		return -EINVAL;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(AF_INET, address, &in) != 1)
		return -EINVAL;
	a = ntohl(in.s_addr);
	if (a & 0xffff || !(a >> 24) || a >> 24 == 127 || a >> 24 >= 224)
		return -EINVAL;
	*net = a;
	return 0;
}

/* As text, MIOS_NETWORK_LEN bytes. */
int mios_network_text(char *text)
{
	int fd = open(MIOS_NETWORK_PATH, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	uint32_t net;

	snprintf(text, MIOS_NETWORK_LEN, "%s", MIOS_NETWORK);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	got = read(fd, text, MIOS_NETWORK_LEN - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	if (got < 0)
		return got;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return mios_network_parse(text, &net);
}

/* Of an instance as a member of a ring, or -errno if @net is not known. */
int mios_address(int ring, int instance, uint32_t *address)
{
	char text[MIOS_NETWORK_LEN];
	uint32_t net;
	int err;

	err = mios_network_text(text);
	if (err)
		return err;
	mios_network_parse(text, &net);
	*address = net | (uint32_t)ring << 8 | (instance + 1);
	return 0;
}
