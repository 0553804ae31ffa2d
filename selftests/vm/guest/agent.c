// SPDX-License-Identifier: GPL-2.0
/*
 * Runs commands in the guest for mios-vm, over one virtio-serial port.
 * Started by guest/init, one per port; the other end is selftests/vm/agent.py.
 * A frame is one byte of type, four bytes of length (little endian), data:
 *
 *   host to guest  X command    I input   E end of input   W window   K signal
 *                  N news: random bytes
 *   guest to host  R ready      O output  F error output   S status   H alive
 *
 * X holds "TTY ROWS COLUMNS\0" and then the words, each ended by a NUL, H the
 * guest's own clock in milliseconds.  N comes when the machine has started
 * from a checkpoint: else each such start would draw the same lots.
 * One thread, no lock; a frame that makes no sense ends the agent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX	65536
#define WORDS_MAX	1024
#define ALIVE_SECONDS	2

struct session {
	pid_t pid;		/* 0: no command runs */
	bool tty;
	int in, out, err;	/* -1: closed; a terminal has in == out */
	int status;		/* of waitpid, once the command is dead */
	bool dead;
};

static int port;
static struct session session = { .in = -1, .out = -1, .err = -1 };
static char input[FRAME_MAX + 1];	/* data of the frame being handled */

static void write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n > 0) {
			at += n;
			size -= n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd wait = { .fd = fd, .events = POLLOUT };

			poll(&wait, 1, 1000);
			if (wait.revents & (POLLHUP | POLLERR))
				return;
		} else if (n < 0 && errno != EINTR) {
			return;
		}
	}
}

/* In one piece: a checkpoint is taken between two writes, never within. */
static void send_frame(char type, const void *data, uint32_t size)
{
	static unsigned char frame[5 + FRAME_MAX];
	unsigned char head[5] = { type, size, size >> 8, size >> 16,
				  size >> 24 };

	memcpy(frame, head, sizeof(head));
	memcpy(frame + sizeof(head), data, size);
	write_all(port, frame, sizeof(head) + size);
}

/* Read exactly size bytes; the port blocks, so a short read is the end. */
static bool read_all(void *data, size_t size)
{
	char *at = data;

	while (size) {
		ssize_t n = read(port, at, size);

		if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
			struct pollfd wait = { .fd = port, .events = POLLIN };

			poll(&wait, 1, 1000);
			if (wait.revents & POLLHUP)
				return false;
			continue;
		}
		if (n <= 0)
			return false;
		at += n;
		size -= n;
	}
	return true;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_session(void)
{
	if (session.tty)
		session.in = -1;
	close_fd(&session.in);
	close_fd(&session.out);
	close_fd(&session.err);
	session.pid = 0;
}

static void child(char **words)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (chdir("/root"))
		fprintf(stderr, "agent: /root: %s\n", strerror(errno));
	execvp(words[0], words);
	fprintf(stderr, "agent: %s: %s\n", words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void start_pipes(char **words)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    pipe2(err, O_CLOEXEC))
		exit(1);
	session.pid = fork();
	if (!session.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		setsid();
		child(words);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	session.in = in[1];
	session.out = out[0];
	session.err = err[0];
}

static void start_terminal(char **words, struct winsize *size)
{
	int master;

	session.pid = forkpty(&master, NULL, NULL, size);
	if (!session.pid) {
		setenv("TERM", "xterm", 1);
		child(words);
	}
	fcntl(master, F_SETFD, FD_CLOEXEC);
	session.in = master;
	session.out = master;
}

static void start_command(uint32_t length)
{
	char *words[WORDS_MAX + 1], *at = input, *end = input + length;
	struct winsize size = { 0 };
	int count = 0, tty = 0;

	if (!length || end[-1])
		exit(1);
	sscanf(at, "%d %hu %hu", &tty, &size.ws_row, &size.ws_col);
	for (at += strlen(at) + 1; at < end && count < WORDS_MAX;
	     at += strlen(at) + 1)
		words[count++] = at;
	words[count] = NULL;
	if (!count)
		exit(1);
	session.tty = tty;
	session.dead = false;
	if (tty)
		start_terminal(words, &size);
	else
		start_pipes(words);
	if (session.pid < 0) {
		session.pid = 0;
		send_frame('S', "126", 3);
	}
}

static void set_window(void)
{
	struct winsize size = { 0 };

	sscanf(input, "%hu %hu", &size.ws_row, &size.ws_col);
	if (session.pid && session.tty)
		ioctl(session.in, TIOCSWINSZ, &size);
}

/* Pass on what a command wrote; true when more may come at once. */
static bool pass_output(int *fd, char type)
{
	static char data[FRAME_MAX / 4];
	ssize_t n = *fd < 0 ? 0 : read(*fd, data, sizeof(data));

	if (n > 0) {
		send_frame(type, data, n);
		return true;
	}
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (session.tty && *fd == session.out)
		session.in = -1;
	close_fd(fd);
	return false;
}

/*
 * Input for the command.  While it does not read, its output is passed on, or
 * both sides would wait for each other.
 */
static void feed_input(uint32_t size)
{
	char *at = input;

	while (size && session.in >= 0) {
		ssize_t n = write(session.in, at, size);
		struct pollfd fds[3] = {
			{ .fd = session.in, .events = POLLOUT },
			{ .fd = session.out, .events = POLLIN },
			{ .fd = session.err, .events = POLLIN },
		};

		if (n > 0) {
			at += n;
			size -= n;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
		poll(fds, 3, 1000);
		if (fds[1].revents)
			pass_output(&session.out, 'O');
		if (fds[2].revents)
			pass_output(&session.err, 'F');
	}
}

/* When the host was told last that we are alive, in seconds. */
static time_t told;

static void send_alive(void)
{
	struct timespec now;
	char text[24];

	clock_gettime(CLOCK_MONOTONIC, &now);
	told = now.tv_sec;
	send_frame('H', text, snprintf(text, sizeof(text), "%lld",
				       now.tv_sec * 1000LL +
				       now.tv_nsec / 1000000));
}

static void stir_lots(uint32_t size)
{
	int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	write_all(fd, input, size);
	if (ioctl(fd, RNDRESEEDCRNG))
		perror("agent: /dev/urandom");
	close(fd);
}

/* One frame from the host; false when the host is gone. */
static bool handle_frame(void)
{
	unsigned char head[5];
	uint32_t size;

	if (!read_all(head, sizeof(head)))
		return false;
	size = head[1] | head[2] << 8 | head[3] << 16 |
	       (uint32_t)head[4] << 24;
	if (size >= FRAME_MAX)
		exit(1);
	if (!read_all(input, size))
		return false;
	input[size] = 0;
	switch (head[0]) {
	case 'X':
		if (!session.pid)
			start_command(size);
		break;
	case 'I':
		feed_input(size);
		break;
	case 'E':
		if (session.tty)
			write_all(session.in, "\004", 1);
		else
			close_fd(&session.in);
		break;
	case 'W':
		set_window();
		break;
	case 'K':
		if (session.pid)
			kill(-session.pid, atoi(input));
		break;
	case 'N':
		stir_lots(size);
		send_alive();
		break;
	default:
		exit(1);
	}
	return true;
}

static void finish_command(void)
{
	char text[16];
	int status = WIFEXITED(session.status) ? WEXITSTATUS(session.status) :
		     128 + WTERMSIG(session.status);
	int size = snprintf(text, sizeof(text), "%d", status);

	/* A background process may hold the pipes open: do not wait for it. */
	if (session.out >= 0)
		fcntl(session.out, F_SETFL, O_NONBLOCK);
	if (session.err >= 0)
		fcntl(session.err, F_SETFL, O_NONBLOCK);
	while (session.out >= 0 && pass_output(&session.out, 'O'))
		;
	while (session.err >= 0 && pass_output(&session.err, 'F'))
		;
	close_session();
	send_frame('S', text, size);
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != session.pid)
			continue;
		session.status = status;
		session.dead = true;
	}
}

static void on_child(int signal)
{
	(void)signal;		/* only ends the poll */
}

/* One round of waiting; false when the host is gone. */
static bool serve(void)
{
	struct pollfd fds[3] = {
		{ .fd = port, .events = POLLIN },
		{ .fd = session.out, .events = POLLIN },
		{ .fd = session.err, .events = POLLIN },
	};
	struct timespec limit = { ALIVE_SECONDS, 0 };
	sigset_t none;
	struct timespec now;

	sigemptyset(&none);
	if (ppoll(fds, 3, &limit, &none) < 0 && errno != EINTR)
		exit(1);
	reap();
	if (session.pid && session.dead)
		finish_command();
	else if (fds[1].revents)
		pass_output(&session.out, 'O');
	else if (fds[2].revents)
		pass_output(&session.err, 'F');
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - told >= ALIVE_SECONDS)
		send_alive();
	if (fds[0].revents & POLLIN)
		return handle_frame();
	return !(fds[0].revents & POLLHUP);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_child };
	sigset_t children;

	if (argc != 2) {
		fprintf(stderr, "usage: agent PORT\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	port = open(argv[1], O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (port < 0) {
		perror(argv[1]);
		return 1;
	}
	send_frame('R', "", 0);
	for (;;) {
		if (serve())
			continue;
		if (session.pid) {
			kill(-session.pid, SIGHUP);
			close_session();
		}
		usleep(200000);
	}
}
