// SPDX-License-Identifier: GPL-2.0
/*
 * Messages by a socket that another process of the team has: that one gets a copy
 * of the whole of it, in one block of the window, whose data is in one piece.
 *
 *     msghdr | iovec | address | ancillary data | data
 *
 * Descriptors in ancillary data have to be those of that process; what it receives,
 * it has.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "files.h"

#define ALIGNED		15ul

struct message {
	struct msghdr head;
	struct iovec data;
	char parts[];
};

static void *part(char **at, size_t size)
{
	void *p = *at;

	*at += (size + ALIGNED) & ~ALIGNED;
	return size ? p : NULL;
}

/*
 * Within the kernel's own limits, to which it shortens an address.  False: it is not,
 * or not there; then errno.
 */
static bool read_head(struct msghdr *head, const struct msghdr *m)
{
	errno = EFAULT;
	if (!memory_read(head, m, sizeof(*head)))
		return false;
	errno = EMSGSIZE;
	if (head->msg_iovlen > IOV_MAX)
		return false;
	errno = EINVAL;
	if (head->msg_controllen > INT_MAX || head->msg_namelen > INT_MAX)
		return false;
	if (head->msg_namelen > sizeof(struct sockaddr_storage))
		head->msg_namelen = sizeof(struct sockaddr_storage);
	return true;
}

/* As @head, a copy of @m; but what it points to is in the block.  NULL and errno. */
static struct message *create(struct msghdr *head, const struct msghdr *m)
{
	struct message *copy;
	ssize_t size;
	char *at;

	if (!read_head(head, m))
		return NULL;
	size = pieces_size(head->msg_iov, head->msg_iovlen);
	if (size < 0)
		return NULL;
	copy = mios_omp_alloc(sizeof(*copy) + head->msg_namelen +
			      head->msg_controllen + 2 * ALIGNED + size);
	if (!copy) {
		errno = ENOMEM;
		return NULL;
	}
	at = copy->parts;
	copy->head = *head;
	copy->head.msg_iov = &copy->data;
	copy->head.msg_iovlen = 1;
	copy->head.msg_name = part(&at, head->msg_name ? head->msg_namelen : 0);
	copy->head.msg_control = part(&at, head->msg_control ?
				      head->msg_controllen : 0);
	copy->data = (struct iovec){ at, size };
	return copy;
}

/* No descriptor that the process of @fd does not have. */
static bool may_go(int fd, struct msghdr *m)
{
	struct cmsghdr *c;
	size_t n, i;
	int one;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    c->cmsg_len < CMSG_LEN(0))
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(one);
		for (i = 0; i < n; i++) {
			memcpy(&one, CMSG_DATA(c) + i * sizeof(one), sizeof(one));
			if (files_place(one) != files_place(fd))
				return false;
		}
	}
	return true;
}

static ssize_t ask_message(long number, int fd, struct message *copy, int flags)
{
	return ask_for(fd, (struct asked){ .number = number,
			   .args = { fd, (long)&copy->head, flags } });
}

static bool fill(struct message *copy, const struct msghdr *m)
{
	return (!copy->head.msg_name ||
		memory_read(copy->head.msg_name, m->msg_name, m->msg_namelen)) &&
	       (!copy->head.msg_control ||
		memory_read(copy->head.msg_control, m->msg_control,
			    m->msg_controllen)) &&
	       pieces_gather(copy->data.iov_base, m->msg_iov, m->msg_iovlen,
			     copy->data.iov_len);
}

static ssize_t send_copy(int fd, const struct msghdr *m, struct message *copy,
			 int flags)
{
	errno = EFAULT;
	if (!fill(copy, m))
		return -1;
	errno = EOPNOTSUPP;
	if (copy->head.msg_control && !may_go(fd, &copy->head))
		return -1;
	return ask_message(SYS_sendmsg, fd, copy, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct message *copy;
	struct msghdr head;
	ssize_t done;

	if (files_here(fd))
		return REAL(sendmsg)(fd, m, flags);
	copy = create(&head, m);
	if (!copy)
		return -1;
	done = send_copy(fd, &head, copy, flags);
	mios_omp_free(copy);
	return done;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What has come, to where it belongs. */
static bool give(const struct message *copy, struct msghdr *m, size_t done)
{
	struct msghdr head = copy->head;

	head.msg_name = m->msg_name;
	head.msg_control = m->msg_control;
	head.msg_iov = m->msg_iov;
	head.msg_iovlen = m->msg_iovlen;
	if (copy->head.msg_name &&
	    !memory_write(m->msg_name, copy->head.msg_name,
			  least(m->msg_namelen, head.msg_namelen)))
		return false;
	if (copy->head.msg_control &&
	    !memory_write(m->msg_control, copy->head.msg_control,
			  head.msg_controllen))
		return false;
	*m = head;
	return pieces_scatter(m->msg_iov, m->msg_iovlen, copy->data.iov_base,
			      least(done, copy->data.iov_len));
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct message *copy;
	struct msghdr head;
	ssize_t done;

	if (files_here(fd))
		return REAL(recvmsg)(fd, m, flags);
	copy = create(&head, m);
	if (!copy)
		return -1;
	done = ask_message(SYS_recvmsg, fd, copy, flags);
	if (done >= 0 && !give(copy, m, done)) {
		errno = EFAULT;
		done = -1;
	}
	mios_omp_free(copy);
	return done;
}
