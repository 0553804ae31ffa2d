// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the local miosd for a session on an instance and says what to run
 * there.  Who we are, miosd reads from the kernel; what is sent here is only
 * what any process may choose for itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "client.h"

#define ANSWER_SECONDS	40	/* more than miosd gives the other one */

/* As sd_booted(3) looks. */
static bool has_systemd(void)
{
	return !access("/run/systemd/system", F_OK);
}

static int connect_local(char *why, size_t size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX,
				    .sun_path = MIOSD_SOCKET };
	struct timeval tv = { .tv_sec = ANSWER_SECONDS };
	int fd, err;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		err = -errno;
		snprintf(why, size, "no socket: %s%s", strerror(-err),
			 err == -EMFILE ? ": see ulimit -n" : "");
		return err;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	err = -errno;
	close(fd);
	snprintf(why, size, "no miosd runs here (%s): %s", strerror(-err),
		 has_systemd() ? "systemctl start miosd" :
		 "root starts it with \"miosd &\"");
	return err;
}

/* Returns the session's socket. */
static int receive_reply(int fd, char *why, size_t size)
{
	struct mios_reply r;
	struct iovec iov = { .iov_base = &r, .iov_len = sizeof(r) };
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *cmsg;
	int pass = -EPROTO;
	ssize_t n;

	n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	if (n != sizeof(r)) {
		snprintf(why, size, "miosd did not answer: %s may say why",
			 has_systemd() ? "journalctl -u miosd" : "dmesg");
		return -EPROTO;
	}
	r.text[sizeof(r.text) - 1] = '\0';
	snprintf(why, size, "%s", r.text);
	if (r.error)
		return r.error < 0 ? r.error : -EPROTO;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(&pass, CMSG_DATA(cmsg), sizeof(pass));
	else
		snprintf(why, size, "no file descriptor is left: see ulimit -n");
	return pass;
}

/*
 * Asks for a session: a file that the answer can be read from, or -errno and in
 * @why the line to print.
 */
int client_request(int instance, int op, unsigned int cpus, char *why,
		   size_t size)
{
	struct mios_request rq = {
		.magic = MIOS_PROTO_MAGIC,
		.version = MIOS_PROTO_VERSION,
		.op = op,
		.instance = instance,
		.cpus = cpus,
	};
	int fd;

	snprintf(why, size, "cannot talk to miosd");
	fd = connect_local(why, size);
	if (fd < 0)
		return fd;
	/* if that fails it has hung up, and the answer is there already */
	if (send(fd, &rq, sizeof(rq), MSG_NOSIGNAL) != sizeof(rq))
		shutdown(fd, SHUT_WR);
	return fd;
}

/* The answer, waited for if need be; closes @fd. */
int client_reply(int fd, struct mios_link *l, char *why, size_t size)
{
	int session = receive_reply(fd, why, size), err;

	close(fd);
	if (session < 0)
		return session;
	err = link_init(l, session, MIOS_FRAME_MAX);
	if (err)
		close(session);
	return err;
}

/* Both at once. */
int client_connect(int instance, int op, unsigned int cpus,
		   struct mios_link *l, char *why, size_t size)
{
	int fd = client_request(instance, op, cpus, why, size);

	return fd < 0 ? fd : client_reply(fd, l, why, size);
}

static uint64_t ignored_signals(void)
{
	struct sigaction sa;
	uint64_t set = 0;
	int sig;

	for (sig = 1; sig < 32; sig++)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN)
			set |= 1ull << (sig - 1);
	return set;
}

static void describe_tty(struct mios_spec *spec, int tty)
{
	struct termios t;
	struct winsize w;
	int i;

	if (!tcgetattr(tty, &t)) {
		spec->flags |= MIOS_SPEC_TERMIOS;
		spec->iflag = t.c_iflag;
		spec->oflag = t.c_oflag;
		spec->cflag = t.c_cflag;
		spec->lflag = t.c_lflag;
		for (i = 0; i < NCCS && i < MIOS_NCCS; i++)
			spec->cc[i] = t.c_cc[i];
	}
	if (!ioctl(tty, TIOCGWINSZ, &w)) {
		spec->winsize.rows = w.ws_row;
		spec->winsize.cols = w.ws_col;
		spec->winsize.xpixel = w.ws_xpixel;
		spec->winsize.ypixel = w.ws_ypixel;
	}
}

static int add_strings(struct mios_buffer *b, char **list, uint32_t *count)
{
	int err = 0;

	for (*count = 0; !err && list[*count]; (*count)++)
		err = buffer_add(b, list[*count], strlen(list[*count]) + 1);
	return err;
}

static mode_t own_umask(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

/* @tty: a terminal to describe if @flags asks for one. */
int client_send_spec(struct mios_link *l, uint32_t flags, char **argv,
		     char **envp, int tty)
{
	struct mios_spec spec = { .flags = flags };
	struct mios_buffer b = { 0 };
	char cwd[PATH_MAX];
	int err;

	if (!getcwd(cwd, sizeof(cwd)) || *cwd != '/')
		return -ENOTDIR;
	spec.umask = own_umask();
	spec.personality = personality(0xffffffff);
	spec.ignored = ignored_signals();
	if (flags & MIOS_SPEC_TTY)
		describe_tty(&spec, tty);
	err = buffer_add(&b, &spec, sizeof(spec));
	if (!err)
		err = buffer_add(&b, cwd, strlen(cwd) + 1);
	if (!err)
		err = add_strings(&b, argv, &spec.argc);
	if (!err)
		err = add_strings(&b, envp, &spec.envc);
	if (!err && (b.len > MIOS_SPEC_MAX || spec.argc > MIOS_SPEC_WORDS ||
		     spec.envc > MIOS_SPEC_WORDS))
		err = -E2BIG;
	if (!err) {
		memcpy(b.data + b.start, &spec, sizeof(spec));
		err = link_send(l, MIOS_FRAME_SPEC, 0, b.data + b.start, b.len);
	}
	buffer_free(&b);
	return err;
}

/* Why client_send_spec() has failed. */
const char *client_why(int err)
{
	switch (err) {
	case -ENOTDIR:
		return "the working directory is gone";
	case -E2BIG:
		return MIOS_SPEC_TOO_BIG;
	}
	return strerror(-err);
}

/*
 * The signals that are forwarded, as a file; those that our parent told us
 * to ignore stay ignored.
 */
int client_signals(void)
{
	static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
					 SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH,
					 SIGCONT, SIGTSTP };
	struct sigaction sa;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		if (!sigaction(forwarded[i], NULL, &sa) &&
		    sa.sa_handler != SIG_IGN)
			sigaddset(&set, forwarded[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
