// SPDX-License-Identifier: GPL-2.0
/*
 * What else there is to be done with the descriptors of another member: vectors,
 * what a file has beside its bytes, how many there are.
 *   descriptors MEMBERS FOLDER
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "check.h"
#include "members.h"

#define IS_ERROR(CALL, ERROR) (errno = 0, (CALL) == -1 && errno == (ERROR))

static bool apart;	// the last one is in another process
static void *volatile nowhere = (void *)16;
static std::string folder;

// What a short answer does not fill stays as it was.
static long keeps_the_rest(const int ends[2])
{
	// What a program maps shared is each process's own.
	char *p = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long wrong = p == MAP_FAILED;

	if (wrong)
		return wrong;
	memset(p, '#', 16);
	wrong += write(ends[1], "ab", 2) != 2;
	wrong += read(ends[0], p, 15) != 2 || memcmp(p, "ab####", 6);
	munmap(p, 4096);
	return wrong;
}

// Room for more than the window has, of which next to nothing is needed.
static long takes_much(int ends[2])
{
	size_t size = 3ul << 30;
	char *p = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED |
			       MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long wrong = 0;

	wrong += write(ends[1], "abcd", 4) != 4 || read(ends[0], p, size) != 4;
	wrong += memcmp(p, "abcd", 5) != 0;
	struct iovec two[] = { { p, 2 }, { p + 2, size - 2 } };
	wrong += write(ends[1], "hijk", 4) != 4 || readv(ends[0], two, 2) != 4 ||
		 memcmp(p, "hijk", 5);
	munmap(p, size);
	return wrong;
}

// Wrong ones are an error as they are on one kernel, and what is not written stays.
static void addresses()
{
	int ends[2] = { -1, -1 };
	long wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	if (is_last())
		wrong += pipe(ends) != 0;
	// Something to be read, for those that would.
	check(!wrong && write(ends[1], "01234567", 8) == 8, "pipe");
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	for (void *p : { nowhere, (void *)NULL }) {
		wrong += !IS_ERROR(read(ends[0], p, 8), EFAULT);
		wrong += !IS_ERROR(write(ends[1], p, 8), EFAULT);
	}
	char rest[8];
	check(!wrong && read(ends[0], rest, 8) == 8, "wrong addresses are refused");
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	wrong += keeps_the_rest(ends);
	check(!wrong, "what is not written stays");
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	wrong += takes_much(ends);
	check(!wrong, "reads of gigabytes");
	close(ends[0]);
	close(ends[1]);
}

static void vectors()
{
	char a[4] = "", b[5] = "";
	struct iovec in[] = { { a, 3 }, { NULL, 0 }, { b, 4 } };
	struct iovec out[] = { { (void *)"one", 3 }, { (void *)"two", 3 } };
	long wrong = 0;
	int fd = -1;

#pragma omp parallel
	if (is_last())
		fd = open((folder + "/vectors").c_str(), O_RDWR | O_CREAT, 0600);
	wrong += writev(fd, out, 2) != 6 || pwritev(fd, out, 2, 6) != 6;
	wrong += preadv(fd, in, 3, 1) != 7 || strcmp(a, "net") || strcmp(b, "woon");
	wrong += lseek(fd, 2, SEEK_SET) != 2 || readv(fd, in, 3) != 7 ||
		 strcmp(a, "etw") || strcmp(b, "oone");
	wrong += !IS_ERROR(writev(fd, (struct iovec *)nowhere, 2), EFAULT);
	close(fd);
	check(!wrong, "readv, writev, preadv, pwritev");
}

// What a file has beside its bytes.
static void files()
{
	struct timespec times[2] = { { 3, 0 }, { 5, 0 } };
	struct statfs its = {};
	struct stat st;
	long wrong = 0;
	int fd = -1;

#pragma omp parallel
	if (is_last())
		fd = open((folder + "/file").c_str(), O_RDWR | O_CREAT, 0600);
	wrong += posix_fallocate(fd, 0, 150) != 0;
	wrong += fallocate(fd, 0, 0, 50) && errno != EOPNOTSUPP;
	wrong += posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) ||
		 posix_fadvise(fd, 0, 0, 77) != EINVAL;
	wrong += fchown(fd, getuid(), getgid()) || fchmod(fd, 0640);
	wrong += futimens(fd, times) || fstat(fd, &st) || st.st_size != 150 ||
		 st.st_mtime != 5 || (st.st_mode & 0777) != 0640;
	wrong += !IS_ERROR(futimens(fd, (struct timespec *)nowhere), EFAULT);
	wrong += fstatfs(fd, &its) || !its.f_type;
	close(fd);
	check(!wrong, "fallocate and the like");
}

// Where files are opened, and how, whoever has said so.
static void places()
{
	char before[4096];
	mode_t mask = umask(027);
	int top = -1, file = -1;

#pragma omp parallel
	if (is_last()) {
		top = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
		file = open((folder + "/plain").c_str(), O_RDWR | O_CREAT, 0600);
	}
	long wrong = !getcwd(before, sizeof(before)) ||
		     !IS_ERROR(fchdir(file), ENOTDIR) || fchdir(top);

	close(top);
	close(file);
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	{
		std::string name = "by" + std::to_string(omp_get_thread_num());
		int fd = open(name.c_str(), O_RDWR | O_CREAT, 0666);
		struct stat st = {};

		wrong += fstat(fd, &st) || (st.st_mode & 0777) != 0640 ||
			 stat((folder + "/" + name).c_str(), &st);
		close(fd);
	}
#pragma omp parallel reduction(+ : wrong)
	if (is_last())
		wrong += chdir(before);
	wrong += access(folder.c_str(), F_OK) || !access("by0", F_OK);
	wrong += umask(mask) != 027;
	check(!wrong, "chdir, fchdir, umask");
}

// What is not there for a descriptor of another process fails.
static void locks()
{
	int fd = open((folder + "/locks").c_str(), O_RDWR | O_CREAT, 0600);
	long wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	if (is_last())
		wrong += apart ? !IS_ERROR(lockf(fd, F_TLOCK, 0), EBADF) :
				 lockf(fd, F_TLOCK, 0) != 0;
	close(fd);
	check(!wrong, "lockf");
}

// Whatever limit the program asks for: those that it gets are its own.
static void many()
{
	struct rlimit limit;
	std::vector<int> all;
	long wrong = getrlimit(RLIMIT_NOFILE, &limit);

	limit.rlim_cur = limit.rlim_max;
	wrong += setrlimit(RLIMIT_NOFILE, &limit) != 0;
	for (int fd; all.size() < 4500 && (fd = dup(STDOUT_FILENO)) >= 0;)
		all.push_back(fd);
	for (int fd : all)
		wrong += fcntl(fd, F_GETFD) < 0;
	for (int fd : all)
		wrong += close(fd) != 0;
	check(!wrong && all.size() > 10, "as many as there may be");
}

int main(int argc, char **argv)
{
	members = atoi(argv[1]);
	folder = argv[2];
	std::string first = process(), last;
#pragma omp parallel
	if (is_last())
		last = process();
	apart = first != last;
	addresses();
	vectors();
	files();
	locks();
	places();
	many();
	printf("%d members, all right\n", members);
	return 0;
}
