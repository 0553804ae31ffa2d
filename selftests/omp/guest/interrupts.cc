// SPDX-License-Identifier: GPL-2.0
/*
 * A signal ends what main() waits for, as on one kernel, where the last member has
 * the descriptor.  Nothing that is read or written is lost by it, and nobody
 * else's call is ended.  So does one that comes when main() has returned.
 *   interrupts MEMBERS
 */
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>

#include "check.h"
#include "members.h"

static const int rounds = 40;
static const int soon = 20000, late = 3000000;	// us
static std::atomic<int> signals, over;

static void on_alarm(int)
{
	signals++;
}

static void handle(int flags)
{
	struct sigaction action = {};

	action.sa_handler = on_alarm;
	action.sa_flags = flags;
	sigaction(SIGALRM, &action, NULL);
	signals = 0;
}

static void alarm_after(int first, int each)
{
	struct itimerval t = { { 0, each }, { 0, first } };

	setitimer(ITIMER_REAL, &t, NULL);
}

// As the members of other processes have it anyway.
static void block()
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (omp_get_thread_num())
		pthread_sigmask(SIG_BLOCK, &set, NULL);
}

// What main() does with what the last one has opened, and how that one ends it.
struct kind {
	const char *what;
	bool (*open)(int fd[2]);
	long (*call)(int fd);
	void (*poke)(const int fd[2]);
};

static bool open_pipe(int fd[2])
{
	return !pipe(fd);
}

// Where nothing can be written any more: its other end comes first.
static bool open_full(int fd[2])
{
	int ends[2];
	char page[4096] = "";

	if (pipe(ends))
		return false;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], page, sizeof(page)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
	fd[0] = ends[1];
	fd[1] = ends[0];
	return true;
}

static char byte;

static long call_read(int fd)
{
	return read(fd, &byte, 1);
}

static long call_write(int fd)
{
	return write(fd, "x", 1);
}

static void poke_write(const int fd[2])
{
	if (write(fd[1], "x", 1) != 1)
		_exit(3);
}

static void poke_read(const int fd[2])
{
	char page[65536];

	if (read(fd[1], page, sizeof(page)) <= 0)
		_exit(3);
}

static const kind kinds[] = {
	{ "read", open_pipe, call_read, poke_write },
	{ "write", open_full, call_write, poke_read },
};

// Returns what the call has; it goes on for so long unless a signal ends it.
static long wait_for(const kind &k, int us, int *err)
{
	int fd[2] = { -1, -1 };
	long done = 0;

	over = 0;
	*err = 0;
#pragma omp parallel
	{
		block();
		if (is_last())
			check(k.open(fd), k.what);
#pragma omp barrier
		if (is_last()) {
			for (int t = 0; t < us && !over; t += 5000)
				usleep(5000);
			k.poke(fd);
		} else if (!omp_get_thread_num()) {
			// Again and again, as it may be late for the first.
			alarm_after(soon, soon);
			done = k.call(fd[0]);
			*err = errno;
			alarm_after(0, 0);
			over = 1;
		}
	}
	// What there was to be had is still there.
	check(done >= 0 || k.call(fd[0]) >= 0, k.what);
	close(fd[0]);
	close(fd[1]);
	return done;
}

static void each()
{
	int err;

	for (const kind &k : kinds) {
		handle(0);
		check(wait_for(k, late, &err) < 0 && err == EINTR, k.what);
		handle(SA_RESTART);
		check(wait_for(k, 5 * soon, &err) >= 0, k.what);
		check(signals, k.what);
	}
}

// Signals again and again: every byte comes, once and in order, to main(), and to
// the others, who are not to notice.
static void nothing_lost()
{
	int fd[2] = { -1, -1 }, own[2] = { -1, -1 };
	long wrong = 0, ended = 0;

	handle(0);
#pragma omp parallel reduction(+ : wrong) shared(ended)
	{
		char got = 0;

		block();
		if (is_last())
			wrong += pipe(fd) + pipe(own);
#pragma omp barrier
		if (is_last()) {
			for (char i = 0; i < rounds; i++) {
				usleep(2000);
				wrong += write(fd[1], &i, 1) != 1;
				wrong += write(own[1], &i, 1) != 1;
			}
			close(own[1]);
		} else if (!omp_get_thread_num()) {
			alarm_after(1000, 1000);
			for (char i = 0; i < rounds; i++) {
				while (read(fd[0], &got, 1) < 0 &&
				       errno == EINTR)
					ended++;
				wrong += got != i;
			}
			alarm_after(0, 0);
		} else {
			ssize_t done;

			while ((done = read(own[0], &got, 1)) > 0)
				;
			wrong += done < 0;
		}
	}
	check(!wrong && ended, "nothing is lost");
	close(fd[0]);
	close(fd[1]);
	close(own[0]);
}

// What the program does last can be interrupted as all before.
static void at_end()
{
	handle(0);
	alarm_after(soon, 0);
	for (int looks = 0; looks < 100 && !signals; looks++)
		usleep(soon);
	check(signals, "a signal while it ends");
}

int main(int argc, char **argv)
{
	members = atoi(argv[1]);
	atexit(at_end);
	each();
	nothing_lost();
	printf("%d members, all right\n", members);
	return 0;
}
