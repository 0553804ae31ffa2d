// SPDX-License-Identifier: GPL-2.0
/*
 * What any member has opened, all use: C's streams, C++'s, descriptors, pipes and
 * sockets, of which each process has a part.  In the end all is where it would be
 * on one kernel.
 *   files MEMBERS FOLDER
 */
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "check.h"

static const int rounds = 50;
static int members;
static std::string folder;

static std::string path(const char *name)
{
	return folder + "/" + name;
}

// How many lines of each member, whole and in order, a file has; -1: others.
static long lines_of(const std::string &name, int writers = members)
{
	std::ifstream in(name);
	std::vector<int> next(writers, 0);
	char text[64];
	std::string line;
	long n = 0;
	int who, i;

	while (std::getline(in, line)) {
		if (sscanf(line.c_str(), "%d %d", &who, &i) != 2 ||
		    who < 0 || who >= writers || i != next[who])
			return -1;
		snprintf(text, sizeof(text), "%d %d of a line", who, i);
		if (line != text)
			return -1;
		next[who]++;
		n++;
	}
	return n;
}

// With no lock but the stream's own.
static void streams()
{
	FILE *f = fopen(path("stream").c_str(), "w");

	if (!f)
		exit(3);
#pragma omp parallel
	for (int i = 0; i < rounds; i++) {
		fprintf(f, "%d %d of a line\n", omp_get_thread_num(), i);
		if (i % 8 == 7)
			fflush(f);
	}
	check(ftell(f) == (long)members * rounds * 14 + 10l * members *
	      (rounds - 10) / 10, "a stream's place");
	check(fclose(f) == 0, "a stream is closed");
	check(lines_of(path("stream")) ==
	      (long)members * rounds, "lines in a stream");

	f = fopen(path("stream").c_str(), "r");
	long lines = 0;
#pragma omp parallel reduction(+ : lines)
	{
		char line[64];

		while (fgets(line, sizeof(line), f))
			lines += strstr(line, "of a line\n") != NULL;
	}
	check(lines == (long)members * rounds, "lines that all have read");
	check(feof(f) && !ferror(f), "a stream's end");
	rewind(f);
	int last = 0;
#pragma omp parallel
#pragma omp critical
	if (omp_get_thread_num() == members - 1)
		last = fgetc(f) >= '0' && fileno(f) > 2 && fclose(f) == 0;
	check(last, "closed by the last member");
}

// Threads of inner teams have stacks of their own, by which libc tells them apart.
static void inner()
{
	FILE *f = fopen(path("inner").c_str(), "w");

	omp_set_max_active_levels(2);
#pragma omp parallel
	{
		int outer = omp_get_thread_num();

#pragma omp parallel num_threads(3)
		for (int i = 0; i < rounds; i++)
			fprintf(f, "%d %d of a line\n",
				outer * 3 + omp_get_thread_num(), i);
	}
	check(fclose(f) == 0 && lines_of(path("inner"), members * 3) ==
	      (long)members * rounds * 3, "a stream of inner teams");
}

// Opened by the last one, and by main() before; shared under a critical.
static void cplusplus()
{
	std::ofstream out(path("out"));
	std::ofstream *other = NULL;

#pragma omp parallel
	{
		if (omp_get_thread_num() == members - 1)
			other = new std::ofstream(path("other"));
#pragma omp barrier
		for (int i = 0; i < rounds; i++) {
#pragma omp critical
			out << omp_get_thread_num() << " " << i
			    << " of a line" << std::endl;
#pragma omp critical
			*other << omp_get_thread_num() << " " << i
			       << " of a line\n";
		}
	}
	out.close();
	other->close();
	check(out.good() && lines_of(path("out")) ==
	      (long)members * rounds, "ofstream");
	check(other->good() &&
	      lines_of(path("other")) == (long)members * rounds, "ofstream of the last member");
	delete other;
}

static void descriptors()
{
	int fd = open(path("numbers").c_str(), O_RDWR | O_CREAT | O_TRUNC,
		      0600);
	struct stat st = {};
	long wrong = 0;

	// One place in the file for all.
#pragma omp parallel reduction(+ : wrong)
	for (int i = 0; i < rounds; i++) {
		int number = omp_get_thread_num();

		wrong += write(fd, &number, sizeof(number)) != sizeof(number);
	}
	check(!wrong && lseek(fd, 0, SEEK_CUR) ==
	      (long)sizeof(int) * members * rounds, "write");
	lseek(fd, 0, SEEK_SET);
	std::vector<int> seen(members, 0);
#pragma omp parallel reduction(+ : wrong)
	{
		int number;

		while (read(fd, &number, sizeof(number)) == sizeof(number)) {
#pragma omp atomic
			seen.at(number)++;
		}
	}
	for (int n : seen)
		wrong += n != rounds;
	check(!wrong, "read");
#pragma omp parallel reduction(+ : wrong)
	{
		int number = omp_get_thread_num(), found = -1;

		wrong += pwrite(fd, &number, sizeof(number),
				number * sizeof(number)) != sizeof(number);
		wrong += pread(fd, &found, sizeof(found),
			       number * sizeof(number)) != sizeof(found);
		wrong += found != number;
#pragma omp barrier
		if (number == members - 1) {
			wrong += ftruncate(fd, 8192) != 0;
			wrong += fstat(fd, &st) != 0;
			wrong += fsync(fd) != 0;
			wrong += close(fd) != 0;
		}
	}
	check(!wrong && st.st_size == 8192, "pread, pwrite, ftruncate, fstat");
	check(fcntl(fd, F_GETFD) < 0 && errno == EBADF, "it is closed");
}

// Each gets what the one before it has sent; who opened it does not matter.
static void ring(const char *what, int (*open_pair)(int ends[2]),
		 ssize_t (*put)(int, const void *, size_t),
		 ssize_t (*get)(int, void *, size_t))
{
	std::vector<int> in(members), out(members);
	long wrong = 0, sum = 0;

#pragma omp parallel reduction(+ : wrong, sum)
	{
		int me = omp_get_thread_num(), ends[2], got = 0, i;
		int next = (me + 1) % members;

		wrong += open_pair(ends) != 0;
		in[me] = ends[0];
		out[me] = ends[1];
#pragma omp barrier
		for (i = 1; i <= rounds; i++) {
			wrong += put(out[me], &i, sizeof(i)) != sizeof(i);
			wrong += get(in[next], &got, sizeof(got)) !=
				 sizeof(got);
			sum += got;
		}
#pragma omp barrier
		wrong += close(out[next]) != 0;
#pragma omp barrier
		wrong += read(in[me], &got, sizeof(got)) != 0;
		wrong += close(in[me]) != 0;
	}
	check(!wrong && sum == (long)members * rounds * (rounds + 1) / 2, what);
}

static int socket_pair(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

// As main() would: nothing of it has been read yet.
static void input()
{
	char word[16] = "";

#pragma omp parallel
	if (omp_get_thread_num() == members - 1 && scanf("%15s", word) != 1)
		word[0] = 0;
	check(!strcmp(word, "word"), "input");
}

static void programs()
{
	FILE *f = popen("echo one; echo two; exit 3", "r");
	char line[16] = "";
	int status = 0;

#pragma omp parallel
	if (omp_get_thread_num() == members - 1) {
		if (fgets(line, sizeof(line), f) &&
		    fgets(line, sizeof(line), f))
			status = pclose(f);
	}
	check(!strcmp(line, "two\n") && WEXITSTATUS(status) == 3, "popen");
	// It has the descriptors of who runs it.
#pragma omp parallel
	if (omp_get_thread_num() == members - 1)
		status = system("read x < /proc/self/stat && exit 4");
	check(WEXITSTATUS(status) == 4, "system");
}

// main() sends output elsewhere: so do all.
static void moved()
{
	int before = dup(1);
	int fd = open(path("moved").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
		      0600);

	fflush(stdout);
	dup2(fd, 1);
#pragma omp parallel
	for (int i = 0; i < rounds; i++)
		printf("%d %d of a line\n", omp_get_thread_num(), i);
	fflush(stdout);
	dup2(before, 1);
	check(lines_of(path("moved")) ==
	      (long)members * rounds, "output of all");
}

int main(int argc, char **argv)
{
	members = atoi(argv[1]);
	folder = argv[2];
	streams();
	inner();
	cplusplus();
	descriptors();
	ring("pipes", pipe, write, read);
	ring("sockets", socket_pair, write, read);
	input();
	programs();
	moved();
	printf("%d members, all right\n", members);
	return 0;
}
