// SPDX-License-Identifier: GPL-2.0
/*
 * What else there is to be done with the descriptors of another member: messages,
 * vectors, copies, files by their folder, epoll, how long is waited, how many there are.
 *   descriptors MEMBERS FOLDER
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "check.h"

#define IS_ERROR(CALL, ERROR) (errno = 0, (CALL) == -1 && errno == (ERROR))

static int members;
static bool apart;	// the last one is in another process
static void *volatile nowhere = (void *)16;
static std::string folder;

static bool is_last()
{
	return omp_get_thread_num() == members - 1;
}

static std::string process()
{
	struct utsname name;

	uname(&name);
	return name.nodename + std::to_string(getpid());
}

// Eight bytes in two parts, and a descriptor.
static bool send_message(int fd, int descriptor)
{
	char first[] = "abc", second[] = "defgh";
	struct iovec parts[] = { { first, 3 }, { second, 5 } };
	alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = "";
	struct msghdr m = {};
	struct cmsghdr *c;

	m.msg_iov = parts;
	m.msg_iovlen = 2;
	m.msg_control = room;
	m.msg_controllen = sizeof(room);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
	return sendmsg(fd, &m, 0) == 8;
}

// Returns the descriptor that has come along, or -1.
static int receive_message(int fd)
{
	char first[5] = "", second[8] = "";
	struct iovec parts[] = { { first, 4 }, { second, 3 } };
	alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = "";
	char name[1024];	// more than any name has
	struct msghdr m = {};
	int descriptor;

	m.msg_name = name;
	m.msg_namelen = sizeof(name);
	m.msg_iov = parts;
	m.msg_iovlen = 2;
	m.msg_control = room;
	m.msg_controllen = sizeof(room);
	// One byte has no room: that is told, too.
	if (recvmsg(fd, &m, 0) != 7 || strcmp(first, "abcd") ||
	    strcmp(second, "efg") || m.msg_flags != MSG_TRUNC ||
	    m.msg_namelen != 0 || !CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return descriptor;
}

static void messages()
{
	int ends[2] = { -1, -1 }, file = -1, got;
	long wrong = 0;
	char byte = 0;

#pragma omp parallel reduction(+ : wrong)
	if (is_last()) {
		wrong += socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0;
		file = open((folder + "/message").c_str(), O_RDWR | O_CREAT, 0600);
		wrong += pwrite(file, "x", 1, 0) != 1;
	}
	check(!wrong && send_message(ends[1], file), "sendmsg");
	got = receive_message(ends[0]);
	check(got >= 0 && got != file && pread(got, &byte, 1, 0) == 1 &&
	      byte == 'x', "recvmsg");
	check(IS_ERROR(sendmsg(ends[1], (struct msghdr *)nowhere, 0), EFAULT),
	      "sendmsg of nothing");
	int own = dup(STDOUT_FILENO);
	check(apart ? !send_message(ends[1], own) && errno == EOPNOTSUPP :
		      send_message(ends[1], own), "a descriptor of another one");
	close(own);
	for (int fd : { ends[0], ends[1], file, got })
		close(fd);
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

// What no folder of another process can do, and what none can.
static long are_refused(int top)
{
	int here = open(folder.c_str(), O_RDONLY | O_DIRECTORY);
	std::string longest(4095, '/'), longer(4096, '/');
	struct stat st;
	long wrong = 0;

	wrong += !IS_ERROR(mkdirat(top, (char *)nowhere, 0700), EFAULT);
	wrong += !IS_ERROR(renameat(top, "no", top, (char *)nowhere), EFAULT);
	wrong += !IS_ERROR(fstatat(top, longer.c_str(), &st, 0), ENAMETOOLONG);
	wrong += fstatat(top, longest.c_str(), &st, 0) != 0;
	wrong += !IS_ERROR(renameat(top, "no", here, "no"), apart ? EXDEV : ENOENT);
	close(here);
	return wrong;
}

// A pipe that is full and does not wait: nothing of the file has been read then.
static bool is_lost(int pipe, int file)
{
	static const char page[4096] = "";

	fcntl(pipe, F_SETFL, O_NONBLOCK);
	while (write(pipe, page, sizeof(page)) > 0)
		;
	return lseek(file, 3, SEEK_SET) != 3 ||
	       !IS_ERROR(sendfile(pipe, file, NULL, 5), EAGAIN) ||
	       lseek(file, 0, SEEK_CUR) != 3;
}

// From a file to where another member has the end of a pipe, and to its own.
static void copies()
{
	int file = open((folder + "/copies").c_str(), O_RDWR | O_CREAT, 0600);
	int other = -1, ends[2] = { -1, -1 };
	char got[16] = "";
	off_t at = 2;
	long wrong = write(file, "0123456789", 10) != 10;

#pragma omp parallel reduction(+ : wrong)
	if (is_last()) {
		wrong += pipe(ends);
		other = open((folder + "/copies2").c_str(), O_RDWR | O_CREAT, 0600);
		wrong += write(other, "abcdef", 6) != 6;
	}
	for (int n = 0; n < 7;)
		n += sendfile(ends[1], file, &at, 7 - n);
	wrong += at != 9 || lseek(file, 0, SEEK_CUR) != 10 ||
		 read(ends[0], got, 15) != 7 || strcmp(got, "2345678");
	at = 1;
	wrong += sendfile(ends[1], other, &at, 2) != 2 || at != 3 ||
		 read(ends[0], got, 2) != 2 || strncmp(got, "bc", 2);
	wrong += is_lost(ends[1], file);
	off64_t from = 4, to = 0;
	wrong += copy_file_range(other, &from, other, &to, 2, 0) != 2 ||
		 pread(other, got, 4, 0) != 4 || strncmp(got, "efcd", 4);
	for (int fd : { file, other, ends[0], ends[1] })
		close(fd);
	check(!wrong, "sendfile, copy_file_range");
}

static void folders()
{
	int top = -1, fd;
	struct stat st = {};
	long wrong = 0, found = 0;
	char byte = 0;

	wrong += mkdir((folder + "/sub").c_str(), 0700);
#pragma omp parallel
	if (is_last())
		top = open((folder + "/sub").c_str(), O_RDONLY | O_DIRECTORY);
	fd = openat(top, "file", O_RDWR | O_CREAT | O_EXCL, 0600);
	wrong += fd < 0 || write(fd, "abc", 3) != 3;
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	wrong += pread(fd, &byte, 1, 1) != 1 || byte != 'b';
	close(fd);
	wrong += fstatat(top, "file", &st, 0) || st.st_size != 3;
	wrong += faccessat(top, "file", R_OK, 0) || !faccessat(top, "no", R_OK, 0);
	wrong += are_refused(top);
	wrong += mkdirat(top, "deeper", 0700);
	wrong += renameat(top, "file", top, "deeper/file");
	DIR *dir = fdopendir(dup(top));
	while (struct dirent *e = readdir(dir))
		found += e->d_name[0] != '.';
	wrong += closedir(dir) || found != 1;
	wrong += unlinkat(top, "deeper/file", 0);
	wrong += unlinkat(top, "deeper", AT_REMOVEDIR);
	close(top);
	wrong += rmdir((folder + "/sub").c_str());
	check(!wrong, "openat and the like");
}

static void events()
{
	int set = -1, ends[2] = { -1, -1 };
	struct epoll_event e = {}, got[4];
	long wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	if (is_last()) {
		set = epoll_create1(0);
		wrong += pipe(ends);
	}
	e.events = EPOLLIN;
	e.data.fd = 77;
	wrong += epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &e);
	wrong += epoll_wait(set, got, 4, 10) != 0 || write(ends[1], "x", 1) != 1;
	wrong += epoll_wait(set, got, 4, -1) != 1 || got[0].data.fd != 77;
	for (int fd : { set, ends[0], ends[1] })
		close(fd);
	check(!wrong, "epoll");
}

// 49 days are more than poll() can be told, and 704 ms more than 2^32.
static void times()
{
	struct timespec weeks = { 4294968, 0 };
	struct timeval never = { -1, 0 };
	int ends[2] = { -1, -1 }, ready = 0;
	long wrong = pipe(ends);

#pragma omp parallel reduction(+ : wrong)
	if (is_last()) {
		struct pollfd p = { ends[0], POLLIN, 0 };
		fd_set in;

		FD_ZERO(&in);
		FD_SET(ends[0], &in);
		ready = ppoll(&p, 1, &weeks, NULL);
		wrong += !IS_ERROR(select(ends[0] + 1, &in, NULL, NULL, &never),
				   EINVAL);
		close(ends[0]);
		wrong += !IS_ERROR(select(ends[0] + 1, &in, NULL, NULL, NULL),
				   EBADF);
	} else if (!omp_get_thread_num()) {
		usleep(1000000);
		wrong += write(ends[1], "x", 1) != 1;
	}
	close(ends[1]);
	check(ready == 1, "ppoll for a long time");
	check(!wrong, "select that is wrong");
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
	messages();
	vectors();
	files();
	locks();
	places();
	copies();
	folders();
	events();
	times();
	many();
	printf("%d members, all right\n", members);
	return 0;
}
