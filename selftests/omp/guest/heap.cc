// SPDX-License-Identifier: GPL-2.0
/*
 * malloc() and its like, by all members at once: no two blocks overlap, whoever
 * frees them; what calloc() gives is zero, what realloc() moves is kept, and
 * alignments are as asked for.  Blocks go from member to member, so each process
 * gives back what another one has had, which has it again.  Of a very large one the
 * memory goes back.  What is free is one thing for all sizes and all members.
 *	heap MEMBERS ROUNDS
 */
#include <malloc.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.h"

enum { SLOTS = 256, LARGEST = 9000, PAGE = 4096, VAST = 40 << 20,
       LARGE = 8 << 20, SHORT = 200 << 10, HANDED_ON = 250, PIECES = 64 };

/* A block, all of whose bytes are the same; of one slot, so it has one user. */
struct block {
	unsigned char *at;
	size_t size;
	unsigned char byte;
	bool mapped;
};

static block slots[SLOTS];
static omp_lock_t locks[SLOTS];

static bool is_all(const unsigned char *p, size_t size, unsigned char byte)
{
	return !size || (*p == byte && !memcmp(p, p + 1, size - 1));
}

static void release(block *b)
{
	if (b->mapped)
		munmap(b->at, b->size);
	else
		free(b->at);
	*b = {};
}

static unsigned char *get(size_t size, unsigned int how, bool *wrong)
{
	size_t align = how % 4 ? 0 : 32ul << how / 4 % 8;
	unsigned char *p;

	if (align) {
		p = (unsigned char *)memalign(align, size);
		*wrong |= (uintptr_t)p % align;
	} else if (how % 4 == 1) {
		p = (unsigned char *)calloc(1, size);
		*wrong |= p && !is_all(p, size, 0);
	} else {
		p = (unsigned char *)malloc(size);
	}
	*wrong |= !p || malloc_usable_size(p) < size;
	return p;
}

static unsigned char *map(size_t size, bool *wrong)
{
	void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*wrong |= p == MAP_FAILED || !is_all((unsigned char *)p, size, 0);
	return (unsigned char *)p;
}

/* Of another size; as much as there is room for is kept. */
static void change(block *b, size_t size, bool *wrong)
{
	size_t kept = size < b->size ? size : b->size;

	b->at = (unsigned char *)(b->mapped ?
		mremap(b->at, b->size, size, MREMAP_MAYMOVE) : realloc(b->at, size));
	*wrong |= !b->at || !is_all(b->at, kept, b->byte);
	b->size = size;
}

/* Returns whether anything was wrong. */
static bool turn(block *b, unsigned int *seed)
{
	size_t size = (1 + rand_r(seed) % LARGEST) >> rand_r(seed) % 6;
	bool wrong = b->at && !is_all(b->at, b->size, b->byte);

	if (rand_r(seed) % 16 == 0)
		size *= 100;
	if (b->at && rand_r(seed) % 3 == 0) {
		change(b, size ? size : 1, &wrong);
	} else {
		release(b);
		b->size = size ? size : 1;
		b->mapped = rand_r(seed) % 8 == 0;
		b->at = b->mapped ? map(b->size, &wrong) :
			get(b->size, rand_r(seed), &wrong);
	}
	b->byte = rand_r(seed);
	memset(b->at, b->byte, b->size);
	return wrong;
}

/* How many of its pages have memory; none where the addresses are gone. */
static int pages_of(uintptr_t at, size_t size)
{
	std::vector<unsigned char> has(size / PAGE);
	int n = 0;

	if (mincore((void *)(at & ~(PAGE - 1ul)), size, has.data()))
		return 0;
	for (unsigned char one : has)
		n += one & 1;
	return n;
}

static void vast(size_t align)
{
	unsigned char *p = (unsigned char *)memalign(align, VAST);
	uintptr_t at = (uintptr_t)p;

	memset(p, 1, VAST);
	check(pages_of(at, VAST) == VAST / PAGE, "a very large block has memory");
	free(p);
	check(pages_of(at, VAST) <= 1, "and none when it has been freed");
	p = (unsigned char *)calloc(1, VAST);
	check(p && is_all(p, VAST, 0), "it is zero by calloc()");
	free(p);
}

/* One makes what another one frees: each time there is one block of it. */
static void pass_on()
{
	void *volatile block = nullptr;
	int missing = 0, last = omp_get_max_threads() - 1;

#pragma omp parallel reduction(+ : missing)
	for (int i = 0; i < HANDED_ON; i++) {
		if (!omp_get_thread_num())
			block = malloc(LARGE);
#pragma omp barrier
		if (omp_get_thread_num() == last) {
			missing += !block;
			free(block);
		}
#pragma omp barrier
	}
	check(!missing, "a block that another member has freed is there again");
}

/* In a region: this member calls, all the others wait. */
template <typename Call> static void by(int member, Call call)
{
	if (omp_get_thread_num() == member)
		call();
#pragma omp barrier
}

/*
 * What one process has touched it has again, whoever has freed it, and nobody else; and
 * of a longer block nobody has the pages but who touches them first.
 */
static void stay_near()
{
	static unsigned char *near, *other, *again, *far, *next[PIECES];
	static uintptr_t was;
	static pid_t process;
	int last = omp_get_max_threads() - 1, pages = 0;

#pragma omp parallel
	{
		by(last, [] { process = getpid(); });
		by(0, [] { near = (unsigned char *)malloc(SHORT); });
		by(last, [] { was = (uintptr_t)near; free(near);
			      other = (unsigned char *)malloc(SHORT); });
		by(0, [] { again = (unsigned char *)malloc(SHORT); });
		by(0, [] { far = (unsigned char *)memalign(PAGE, LARGE);
			   memset(far, 1, LARGE); free(far); });
		by(last, [] { for (unsigned char *&p : next)
				      p = (unsigned char *)memalign(PAGE, LARGE); });
	}
	for (unsigned char *p : next) {
		pages += pages_of((uintptr_t)p, LARGE);
		free(p);
	}
	if (process != getpid()) {
		check((uintptr_t)again == was && (uintptr_t)other != was,
		      "a block goes home to who had it");
		check(pages <= PIECES, "a longer one is touched first anew");
	}
	free(other);
	free(again);
}

/*
 * As in evidence: each block is freed before a longer one is asked for; a vector
 * doubles; a block grows where it is.  The heap has 4 GiB of addresses.
 */
static void grow()
{
	std::vector<char> v;
	char *p, *q;
	size_t mib;

	for (mib = 20; mib <= 1000; mib += 20) {
		p = (char *)malloc(mib << 20);
		check(p, "one block, longer and longer");
		p[0] = p[(mib << 20) - 1] = 1;
		free(p);
	}
	for (mib = 1; mib <= 1024; mib *= 2) {
		v.reserve(mib << 20);
		v.resize(v.size() + 1);
	}
	p = (char *)malloc(1 << 20);
	q = (char *)realloc(p, 3 << 20);
	check(p == q, "with room behind it a block stays where it is");
	check(realloc(q, 1 << 20) == q, "a shorter one, too");
	free(q);
}

/* Every second one of many is freed, then the others, by different members. */
static void pieces()
{
	static char *piece[PIECES];
	int missing = 0;

	for (char *&p : piece)
		missing += !(p = (char *)malloc(20 << 20));
	check(!missing, "many large blocks");
#pragma omp parallel for schedule(static, 1)
	for (int i = 0; i < PIECES; i += 2)
		free(piece[i]);
#pragma omp parallel for schedule(static, 1)
	for (int i = 1; i < PIECES; i += 2)
		free(piece[i]);
	piece[0] = (char *)malloc(PIECES * (20ul << 20));
	check(piece[0], "what many have freed is one block again");
	free(piece[0]);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1000, wrong = 0;

	check(omp_get_max_threads() == atoi(argv[1]), "how many there are");
	for (omp_lock_t &lock : locks)
		omp_init_lock(&lock);
	stay_near();
#pragma omp parallel reduction(+ : wrong)
	{
		unsigned int seed = omp_get_thread_num();

		for (int i = 0; i < rounds; i++) {
			int slot = rand_r(&seed) % SLOTS;

			omp_set_lock(&locks[slot]);
			wrong += turn(&slots[slot], &seed);
			omp_unset_lock(&locks[slot]);
		}
	}
	check(!wrong, "blocks");
	for (block &b : slots)
		release(&b);
	pass_on();
	grow();
	pieces();
	vast(1);
	vast(64 << 10);
	printf("%s members, all right\n", argv[1]);
	return 0;
}
