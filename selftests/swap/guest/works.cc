// SPDX-License-Identifier: GPL-2.0
/*
 * Programs of other people's papers, small: each fills memory, works on it, and
 * says what came out.
 *   works sort|kmeans|pagerank MIB
 * prints "PROGRAM right|wrong sum N faults N cpu_us N wall_ms N": right
 * says that the result has the property that it has to have; the sum is the same
 * each time, however much memory there is.  The faults are those that waited for
 * a device.
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <sys/resource.h>

using std::vector;

struct result {
	bool right;
	uint64_t sum;
};

static uint64_t seed = 1;

static uint64_t draw()
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 16;
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x9e3779b97f4a7c15ull + (sum >> 29);
}

static uint64_t mix_double(uint64_t sum, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return mix(sum, bits);
}

/* Sorted, and still the same numbers. */
static result sort(size_t bytes)
{
	vector<uint64_t> v(bytes / sizeof(uint64_t));
	uint64_t before = 0, after = 0, sum = 0;

	for (auto &x : v) {
		x = draw();
		before += x * x;
	}
	std::sort(v.begin(), v.end());
	for (auto x : v) {
		after += x * x;
		sum = mix(sum, x);
	}
	return { before == after && std::is_sorted(v.begin(), v.end()), sum };
}

static const unsigned int DIM = 8, MEANS = 8, ROUNDS = 4;

static unsigned int nearest(const int32_t *point, const int64_t *means)
{
	unsigned int best = 0;
	int64_t least = INT64_MAX;

	for (unsigned int k = 0; k < MEANS; k++) {
		int64_t distance = 0;

		for (unsigned int d = 0; d < DIM; d++) {
			int64_t by = point[d] - means[k * DIM + d];

			distance += by * by;
		}
		if (distance < least) {
			least = distance;
			best = k;
		}
	}
	return best;
}

/* The sum of all distances never grows from one round to the next. */
static result kmeans(size_t bytes)
{
	size_t nr = bytes / (DIM * sizeof(int32_t));
	vector<int32_t> points(nr * DIM);
	vector<int64_t> means(MEANS * DIM);
	double last = INFINITY;
	uint64_t sum = 0;
	bool right = true;

	for (auto &x : points)
		x = draw() % 65536;
	for (size_t i = 0; i < means.size(); i++)
		means[i] = points[i];
	for (unsigned int round = 0; round < ROUNDS; round++) {
		vector<int64_t> sums(MEANS * DIM), count(MEANS);
		double all = 0;

		for (size_t i = 0; i < nr; i++) {
			const int32_t *point = &points[i * DIM];
			unsigned int k = nearest(point, means.data());

			count[k]++;
			for (unsigned int d = 0; d < DIM; d++) {
				double by = point[d] - means[k * DIM + d];

				sums[k * DIM + d] += point[d];
				all += by * by;
			}
		}
		/* Means are whole numbers: a little may be lost by that. */
		right = right && all <= last + nr * (double)DIM * DIM;
		last = all;
		for (size_t i = 0; i < means.size(); i++)
			if (count[i / DIM])
				means[i] = sums[i] / count[i / DIM];
	}
	for (auto x : means)
		sum = mix(sum, x);
	return { right, sum };
}

/* The ranks of all are 1 together. */
static result pagerank(size_t bytes)
{
	const unsigned int links = 8;
	size_t nr = bytes / (links * sizeof(uint32_t) + 2 * sizeof(double));
	vector<uint32_t> from(nr * links);
	vector<double> rank(nr, 1.0 / nr), next(nr);
	uint64_t sum = 0;
	double all = 0;

	/* Half of the links go to a sixteenth of the pages. */
	for (auto &x : from)
		x = draw() % (draw() & 1 ? nr / 16 + 1 : nr);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		std::fill(next.begin(), next.end(), 0.15 / nr);
		for (size_t i = 0; i < nr; i++)
			for (unsigned int j = 0; j < links; j++)
				next[from[i * links + j]] +=
					0.85 * rank[i] / links;
		rank.swap(next);
	}
	for (auto x : rank) {
		all += x;
		sum = mix_double(sum, x);
	}
	return { std::fabs(all - 1) < 1e-6, sum };
}

static long microseconds(const timeval &t)
{
	return t.tv_sec * 1000000 + t.tv_usec;
}

static const struct {
	const char *name;
	result (*work)(size_t bytes);
} programs[] = {
	{ "sort", sort }, { "kmeans", kmeans }, { "pagerank", pagerank },
};

int main(int argc, char **argv)
{
	std::string name = argc > 2 ? argv[1] : "";

	for (auto &p : programs) {
		timespec begin, end;
		rusage used;

		if (name != p.name)
			continue;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		result r = p.work(strtoull(argv[2], NULL, 10) << 20);

		clock_gettime(CLOCK_MONOTONIC, &end);
		getrusage(RUSAGE_SELF, &used);
		printf("%s %s sum %lu faults %ld cpu_us %ld wall_ms %ld\n",
		       p.name, r.right ? "right" : "wrong", r.sum,
		       used.ru_majflt,
		       microseconds(used.ru_utime) + microseconds(used.ru_stime),
		       (end.tv_sec - begin.tv_sec) * 1000 +
		       (end.tv_nsec - begin.tv_nsec) / 1000000);
		return !r.right;
	}
	fprintf(stderr, "works sort|kmeans|pagerank MIB\n");
	return 2;
}
