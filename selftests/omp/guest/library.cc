// SPDX-License-Identifier: GPL-2.0
/*
 * A library with regions of its own, with LIBRARY, and a program that uses it.
 * What the library has in variables, and what its constructors have allocated
 * before main(), is the team's.  "library FILE" loads it while it runs.
 */
#include <dlfcn.h>
#include <omp.h>

#include <cstdio>
#include <string>
#include <vector>

extern "C" int fill(int each);

#ifdef LIBRARY
static long table[3000];
static std::vector<std::string> words(3, "a word that is too long to lie in place");
static int calls;

int fill(int each)
{
	int right = 0, seen = 0;
	char mark = 'a' + each;

	words[0][0] = mark;
#pragma omp parallel reduction(+ : seen)
	{
		seen += words[0][0] == mark;
#pragma omp barrier
#pragma omp for
		for (int i = 0; i < 3000; i++)
			table[i] = i * (long)each;
#pragma omp critical
		{
			calls++;
			words.push_back(words[0] + std::to_string(calls));
		}
	}
	for (int i = 0; i < 3000; i++)
		right += table[i] == i * (long)each;
	return right == 3000 && seen == omp_get_max_threads() &&
	       words.back().back() == '0' + calls % 10 ? calls : -1;
}
#else
int main(int argc, char **argv)
{
	if (argc > 1) {
		void *plugin = dlopen(argv[1], RTLD_NOW);

		return plugin ? ((int (*)(int))dlsym(plugin, "fill"))(3) : -1;
	}
	int members = omp_get_max_threads(), first = fill(3), second = fill(5);

	printf("%d calls, then %d\n", first, second);
	return !(first == members && second == 2 * members);
}
#endif
