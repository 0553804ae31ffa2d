// SPDX-License-Identifier: GPL-2.0
/*
 * What is the program's and not in its own data: what it maps, attaches, protects,
 * and what libc and other libraries keep for it.  What one member does, all see.
 *	state MEMBERS		all of it
 *	state MEMBERS late FILE	a function of FILE, which main() has loaded
 *	state MEMBERS large	memory for which the window has no addresses
 *	state MEMBERS wrong	an address that nobody has
 *	state MEMBERS short	a page that a file has not
 *	state MEMBERS own FILE	a file that each instance has for itself
 *	state MEMBERS over	a file in the place of memory that is everybody's
 *	state MEMBERS written	a private mapping of a file that is to be written
 */
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <clocale>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "check.h"

enum { PAGE = 4096, LARGE = 1 << 28, DRAWS = 300 };

/* Of keeps.c, where the program is linked with that. */
extern "C" __attribute__((weak)) void library_set(long value);
extern "C" __attribute__((weak)) long library_get(void);
extern "C" __attribute__((weak)) int library_maps(void);

static int members;

/* A file of two pages of 'f' in @folder, without a name, unless @named. */
static int file(const char *folder, const char **named = nullptr)
{
	static std::string path;
	int fd;

	path = std::string(folder) + "/mios-state-XXXXXX";
	fd = mkstemp(&path[0]);
	check(fd >= 0, "no file");
	check(write(fd, std::string(2 * PAGE, 'f').data(), 2 * PAGE) == 2 * PAGE,
	      "it is not written");
	if (named)
		*named = path.c_str();
	else
		unlink(path.c_str());
	return fd;
}

static char *map(int fd, int prot, int flags, size_t size = 2 * PAGE)
{
	char *p = (char *)mmap(nullptr, size, prot, flags, fd, 0);

	check(p != MAP_FAILED, "mmap()");
	return p;
}

/* How many members may read there, as the kernel says it. */
static int readable(char *p)
{
	int sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		char byte;
		iovec here = { &byte, 1 }, there = { p, 1 };

		sum += process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
	}
	return sum;
}

static void files_mapped()
{
	const char *path;
	int fd = file("/dev/shm", &path), sum = 0;
	char *seen = map(fd, PROT_READ, MAP_PRIVATE);
	char *own = map(fd, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	char *common = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED), *theirs = nullptr;
	char byte;

#pragma omp parallel reduction(+ : sum)
	{
		sum += seen[PAGE] == 'f' && own[1] == 'f';
#pragma omp barrier
		own[100 + omp_get_thread_num()] = 'o';
		common[200 + omp_get_thread_num()] = 'c';
	}
	check(sum == members, "a file that is mapped");
	for (int i = 0; i < members; i++)
		check(own[100 + i] == 'o' && common[200 + i] == 'c',
		      "what members have written to it");
	check(pread(fd, &byte, 1, 200) == 1 && byte == 'c', "the file");
	check(pread(fd, &byte, 1, 100) == 1 && byte == 'f', "and not to it");
#pragma omp parallel
#pragma omp single
	{
		int again = open(path, O_RDONLY);

		theirs = map(again, PROT_READ, MAP_SHARED);
		close(again);
	}
	sum = 0;
#pragma omp parallel reduction(+ : sum)
	sum += theirs[200] == 'c';
	check(sum == members, "one that a member has opened");
	unlink(path);

	/* Who unmaps may be another one; the addresses are nobody's then. */
#pragma omp parallel num_threads(members)
	if (omp_get_thread_num() == members - 1)
		check(!munmap(common, 2 * PAGE), "munmap()");
	check(readable(common) == 0, "what has been unmapped");
	check(!mprotect(theirs, PAGE, PROT_NONE) && readable(theirs) == 0 &&
	      readable(theirs + PAGE) == members, "what may not be read");
	munmap(theirs, 2 * PAGE);
	munmap(seen, 2 * PAGE);
	munmap(own, 2 * PAGE);
	close(fd);
}

/* What has no room between libraries. */
static void large_mapped()
{
	const char *path;
	int fd = file("/dev/shm", &path), sum = 0;
	char *p;

	check(!ftruncate(fd, LARGE), "ftruncate()");
	p = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED, LARGE);
	unlink(path);
#pragma omp parallel reduction(+ : sum)
	{
		p[LARGE - 1 - omp_get_thread_num()] = 'l';
		sum += p[PAGE] == 'f';
	}
	for (int i = 0; i < members; i++)
		sum += p[LARGE - 1 - i] == 'l';
	check(sum == 2 * members, "a large file");
	munmap(p, LARGE);
	close(fd);
}

static void shared_with_child()
{
	int *common = (int *)map(-1, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS), status, sum = 0;
	pid_t pid = fork();

	if (!pid) {
		*common = 7;
		_exit(0);
	}
	waitpid(pid, &status, 0);
#pragma omp parallel reduction(+ : sum)
	sum += *common == 7;
	check(sum == members, "what a child has written to shared memory");
	munmap(common, 2 * PAGE);
}

static void segments()
{
	int id = shmget(IPC_PRIVATE, 2 * PAGE, IPC_CREAT | 0600), sum = 0;
	char *p = (char *)shmat(id, nullptr, 0);
	struct shmid_ds ds;

	check(p != (char *)-1, "shmat()");
	shmctl(id, IPC_RMID, nullptr);
#pragma omp parallel
	p[omp_get_thread_num()] = 's';
	for (int i = 0; i < members; i++)
		sum += p[i] == 's';
	check(sum == members, "a segment");
#pragma omp parallel num_threads(members)
	if (omp_get_thread_num() == members - 1)
		check(!shmdt(p), "shmdt()");
	check(shmctl(id, IPC_STAT, &ds) == -1, "nobody has it any more");
}

static void protections()
{
	char *p = map(-1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	char *none = map(-1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS), *again;

	check(readable(none) == 0, "PROT_NONE of mmap()");
#pragma omp parallel num_threads(members)
	if (omp_get_thread_num() == members - 1)
		check(!mprotect(p, 2 * PAGE, PROT_NONE), "mprotect()");
	check(readable(p) == 0, "PROT_NONE of mprotect()");
	munmap(p, 2 * PAGE);
#pragma omp parallel num_threads(members) private(again)
	{
		again = map(-1, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS);
		again[0] = 1;
	}
	munmap(none, 2 * PAGE);
}

/* --- libc */

static int destroyed;

static void destroy(void *p)
{
#pragma omp atomic
	destroyed++;
}

static void *ends(void *key)
{
	pthread_setspecific(*(pthread_key_t *)key, key);
	return nullptr;
}

static void keys()
{
	static pthread_key_t key[2];
	pthread_t thread;
	int sum = 0;

	check(!pthread_key_create(&key[0], destroy), "pthread_key_create()");
#pragma omp parallel num_threads(members)
	if (omp_get_thread_num() == members - 1)
		pthread_key_create(&key[1], nullptr);
	check(key[0] != key[1], "two keys");
#pragma omp parallel reduction(+ : sum)
	{
		long own = omp_get_thread_num() + 1;

		pthread_setspecific(key[0], (void *)own);
		pthread_setspecific(key[1], (void *)-own);
#pragma omp barrier
		sum += pthread_getspecific(key[0]) == (void *)own &&
		       pthread_getspecific(key[1]) == (void *)-own;
	}
	check(sum == members, "what each has by a key");
#pragma omp parallel
	pthread_setspecific(key[0], nullptr);
	pthread_create(&thread, nullptr, ends, &key[0]);
	pthread_join(thread, nullptr);
	check(destroyed == 1, "a thread's value when it ends");
	check(!pthread_key_delete(key[0]) && !pthread_key_delete(key[1]),
	      "pthread_key_delete()");
}

static bool is(const char *name, const char *value)
{
	const char *have = getenv(name);

	return value ? have && !strcmp(have, value) : !have;
}

static void environment()
{
	static char word[] = "STATE_PUT=1";
	int sum = 0;

	setenv("STATE_SET", "main", 1);
	setenv("TZ", "XYZ-5", 1);
	tzset();
	putenv(word);
#pragma omp parallel num_threads(members)
	if (omp_get_thread_num() == members - 1)
		setenv("STATE_OTHER", "member", 1);
	word[10] = '2';
#pragma omp parallel reduction(+ : sum)
	sum += is("STATE_SET", "main") && is("STATE_OTHER", "member") &&
	       is("STATE_PUT", "2") && timezone == -5 * 3600;
	check(sum == members, "the environment");
	unsetenv("STATE_SET");
	sum = 0;
#pragma omp parallel reduction(+ : sum)
	sum += is("STATE_SET", nullptr);
	check(sum == members, "what has gone from it");
	check(setlocale(LC_ALL, "C.UTF-8") && !strcmp(setlocale(LC_ALL, nullptr),
						      "C.UTF-8"), "setlocale()");
	sum = 0;
#pragma omp parallel reduction(+ : sum)
	sum += MB_CUR_MAX == 6 && !strcmp(setlocale(LC_CTYPE, nullptr), "C.UTF-8");
	check(sum == members, "the locale");
	check(!setlocale(LC_ALL, "no-such-locale"), "one that is not there");
}

/* @next by all members in turns: the same numbers as by one alone. */
template <typename T, typename Next>
static void drawn(const char *what, void (*sow)(long), Next next)
{
	std::vector<T> one, all;

	sow(7);
	for (int i = 0; i < DRAWS; i++)
		one.push_back(next());
	sow(7);
#pragma omp parallel for schedule(static, 1)
	for (int i = 0; i < DRAWS; i++)
#pragma omp critical
		all.push_back(next());
	std::sort(one.begin(), one.end());
	std::sort(all.begin(), all.end());
	check(one == all, what);
}

static void numbers()
{
	static char state[64];
	static unsigned short words[7] = { 1, 2, 3, 4, 5, 6, 7 };
	char *before;

	drawn<long>("random()", [](long n) { srandom(n); }, random);
	drawn<int>("rand()", [](long n) { srand(n); }, rand);
	drawn<double>("drand48()", srand48, drand48);
	drawn<long>("lrand48()", srand48, lrand48);
	drawn<long>("mrand48()", [](long n) { lcong48(words); }, mrand48);
	before = initstate(3, state, sizeof(state));
	drawn<long>("initstate()", [](long n) { srandom(n); }, random);
	check(setstate(before) == state, "setstate()");
}

/* What libc keeps until it is called again. */
static void results()
{
	static char text[] = "one two";
	time_t day = 86400;
	tm *date = gmtime(&day), *here = localtime(&day);
	char *words = ctime(&day), *token = strtok(text, " ");
	int sum = 0;

#pragma omp parallel reduction(+ : sum)
	sum += date->tm_mday == here->tm_mday && here->tm_year == 70 &&
	       !strncmp(words, "Fri Jan  2 05:", 14) && !strcmp(token, "one");
	check(sum == members, "localtime(), ctime()");
#pragma omp parallel num_threads(members)
	if (omp_get_thread_num() == members - 1)
		check(!strcmp(strtok(nullptr, " "), "two"), "strtok()");
}

static void library()
{
	int sum = 0;

	if (!library_set)
		return;
	library_set(3);
#pragma omp parallel reduction(+ : sum)
	sum += library_get() == 3 && library_maps();
	check(sum == members, "what a library without regions keeps");
}

/* --- what ends a program of several processes */

static void late(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	long (*get)() = handle ? (long (*)())dlsym(handle, "library_get") : nullptr;

	check(get != nullptr, "dlopen()");
#pragma omp parallel
	get();
}

static void large()
{
	char *p = (char *)mmap(nullptr, 64ul << 30, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	check(p != MAP_FAILED, "mmap()");
	p[5] = 1;
#pragma omp parallel
	if (p[5] != 1)
		abort();
}

static void wrong(bool by_file)
{
	char *p = by_file ? map(file("/dev/shm"), PROT_READ, MAP_SHARED, 8 * PAGE) +
			    6 * PAGE : (char *)8;

#pragma omp parallel
	if (omp_get_thread_num() == 0)
		*(volatile char *)p;
}

static void own(const char *path)
{
	char *p = map(open(path, O_RDWR), PROT_READ | PROT_WRITE, MAP_SHARED, PAGE);
	int sum = 0;

	p[0] = 'o';
#pragma omp parallel reduction(+ : sum)
	sum += p[0] == 'o';
	check(sum == members, "what main() has written");
}

/* First where addresses are its own, twice; then over memory of all. */
static void over()
{
	int fd = file("/dev/shm");
	char *free = (char *)mmap(nullptr, 64ul << 30, PROT_NONE, MAP_PRIVATE |
				  MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *all = map(-1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	for (int i = 0; i < 2; i++)
		check(mmap(free, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
		      free && *free == 'f', "a file where addresses are kept");
	mmap(all, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
}

static void written()
{
	char *p = map(file("/dev/shm"), PROT_READ, MAP_PRIVATE);

	mprotect(p, PAGE, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
	members = atoi(argv[1]);
	std::string what = argc > 2 ? argv[2] : "";

	if (what == "late")
		late(argv[3]);
	else if (what == "large")
		large();
	else if (what == "wrong" || what == "short")
		wrong(what == "short");
	else if (what == "over")
		over();
	else if (what == "own")
		own(argv[3]);
	else if (what == "written")
		written();
	if (argc > 2)
		return 0;
	files_mapped();
	large_mapped();
	shared_with_child();
	segments();
	protections();
	keys();
	environment();
	numbers();
	results();
	library();
	printf("%d members, all right\n", members);
}
