// SPDX-License-Identifier: GPL-2.0
/*
 * How two miosds meet: the one that was called sends a challenge, the caller
 * says on whose behalf it comes and proves with the machine's key that it is
 * root's, and the called one proves the same before anything of the user's
 * goes to it.  Every socket here has time-outs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "miosd.h"

/* Two sides, so that neither's proof can be given back to it. */
#define CALLER	'c'
#define CALLED	's'

static int read_all(int fd, void *data, size_t len)
{
	char *p = data;
	ssize_t n;

	while (len) {
		n = recv(fd, p, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		p += n;
		len -= n;
	}
	return 0;
}

static int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= n;
	}
	return 0;
}

/* The hello and the lists behind it, as they go over the wire. */
static int pack(const struct caller *c, struct mios_buffer *b)
{
	const struct mios_hello *h = &c->hello;
	int err;

	err = buffer_add(b, h, sizeof(*h));
	if (!err)
		err = buffer_add(b, c->groups, h->nr_groups *
				 sizeof(*c->groups));
	if (!err)
		err = buffer_add(b, c->limits, h->nr_limits *
				 sizeof(*c->limits));
	return err;
}

/* With the key of this machine, over the other side's number. */
static int send_hello(int fd, const unsigned char *key,
		      const struct mios_challenge *challenge,
		      const struct caller *c)
{
	uint8_t code[MIOS_CODE_LEN];
	struct mios_buffer b = { 0 };
	int err;

	err = pack(c, &b);
	if (!err)
		err = auth_code(key, CALLER, challenge->nonce, b.data, b.len,
				code);
	if (!err)
		err = buffer_add(&b, code, sizeof(code));
	if (!err)
		err = write_all(fd, b.data, b.len);
	buffer_free(&b);
	return err;
}

/* Does the other side know the key, too? */
static int check_welcome(int fd, const unsigned char *key,
			 const struct caller *c)
{
	uint8_t code[MIOS_CODE_LEN], want[MIOS_CODE_LEN];
	int err;

	err = read_all(fd, code, sizeof(code));
	if (!err)
		err = auth_code(key, CALLED, c->hello.nonce, NULL, 0, want);
	if (!err && !auth_same(code, want))
		err = -EKEYREJECTED;
	return err;
}

/* The caller's side; on failure @why holds the line for the user. */
int hello_send(int fd, int instance, struct caller *c, char *why, size_t size)
{
	struct mios_challenge challenge;
	unsigned char key[MIOS_KEY_LEN];
	int err;

	err = mios_key_read(key);
	if (err) {
		snprintf(why, size, "%s", mios_key_error(err));
		return err;
	}
	snprintf(why, size, "miosd on instance %d hung up: its log there says "
		 "why", instance);
	err = read_all(fd, &challenge, sizeof(challenge));
	if (!err && (challenge.magic != MIOS_PROTO_MAGIC ||
		     challenge.version != MIOS_PROTO_VERSION)) {
		snprintf(why, size, "miosd on instance %d speaks another "
			 "version: install the same release on both sides",
			 instance);
		err = -EPROTONOSUPPORT;
	}
	if (!err)
		err = auth_nonce(c->hello.nonce);
	if (!err)
		err = send_hello(fd, key, &challenge, c);
	if (!err)
		err = check_welcome(fd, key, c);
	if (err == -EAGAIN)
		snprintf(why, size, "miosd on instance %d does not answer",
			 instance);
	if (err == -EKEYREJECTED)
		snprintf(why, size, "what answers on instance %d does not know "
			 "this machine's key: it is not root's miosd",
			 instance);
	explicit_bzero(key, sizeof(key));
	return err;
}

static int check_numbers(const struct mios_hello *h)
{
	if (h->magic != MIOS_PROTO_MAGIC || h->version != MIOS_PROTO_VERSION)
		return -EPROTONOSUPPORT;
	if (h->nr_groups > MIOS_MAX_GROUPS ||
	    h->nr_limits > MIOS_MAX_LIMITS || h->cpus > MAX_CPUS ||
	    h->uid == (uid_t)-1 || h->gid == (gid_t)-1 ||
	    h->nice < -20 || h->nice > 19 ||
	    h->oom_score_adj < -1000 || h->oom_score_adj > 1000)
		return -EPROTO;
	return 0;
}

static int read_lists(int fd, struct caller *c)
{
	size_t len = c->hello.nr_groups * sizeof(*c->groups);
	int err;

	c->groups = malloc(len + 1);
	if (!c->groups)
		return -ENOMEM;
	err = read_all(fd, c->groups, len);
	return err ? err : read_all(fd, c->limits, c->hello.nr_limits *
				    sizeof(*c->limits));
}

/* Checks the proof over what was read, then gives ours. */
static int check_hello(int fd, const unsigned char *key,
		       const struct mios_challenge *challenge,
		       const struct caller *c)
{
	uint8_t code[MIOS_CODE_LEN], want[MIOS_CODE_LEN];
	struct mios_buffer b = { 0 };
	int err;

	err = read_all(fd, code, sizeof(code));
	if (!err)
		err = pack(c, &b);
	if (!err)
		err = auth_code(key, CALLER, challenge->nonce, b.data, b.len,
				want);
	buffer_free(&b);
	if (!err && !auth_same(code, want))
		err = -EKEYREJECTED;
	if (!err)
		err = auth_code(key, CALLED, c->hello.nonce, NULL, 0, code);
	return err ? err : write_all(fd, code, sizeof(code));
}

/* The called side: nothing is done for who cannot prove that it is root's. */
int hello_receive(int fd, struct caller *c)
{
	struct mios_challenge challenge = { .magic = MIOS_PROTO_MAGIC,
					    .version = MIOS_PROTO_VERSION };
	unsigned char key[MIOS_KEY_LEN];
	int err;

	memset(c, 0, sizeof(*c));
	err = mios_key_read(key);
	if (err) {
		fprintf(stderr, "miosd: %s\n", mios_key_error(err));
		return err;
	}
	err = auth_nonce(challenge.nonce);
	if (!err)
		err = write_all(fd, &challenge, sizeof(challenge));
	if (!err)
		err = read_all(fd, &c->hello, sizeof(c->hello));
	if (!err)
		err = check_numbers(&c->hello);
	if (!err)
		err = read_lists(fd, c);
	if (!err)
		err = check_hello(fd, key, &challenge, c);
	explicit_bzero(key, sizeof(key));
	return err;
}
