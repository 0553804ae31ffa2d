// SPDX-License-Identifier: GPL-2.0
/*
 * The same program as threads of one process: libmios-dsm's calls by pthreads,
 * and a main() that takes their number.
 */
#include <pthread.h>

#include "program.h"

#define THREADS_MAX	64

static __thread int self;
static int threads, size_asked;
static pthread_barrier_t barrier;
static pthread_mutex_t mutex[MIOS_DSM_LOCKS];
static void *root[MIOS_DSM_ROOTS];
static double part[THREADS_MAX];
static int result[THREADS_MAX];

int mios_dsm_node(void)
{
	return self;
}

int mios_dsm_nodes(void)
{
	return threads;
}

void *mios_dsm_malloc(size_t size, int home)
{
	(void)home;
	return calloc(1, size);
}

void **mios_dsm_root(void)
{
	return root;
}

int mios_dsm_barrier(void)
{
	int err = pthread_barrier_wait(&barrier);

	return err == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : -err;
}

int mios_dsm_sum(double *value)
{
	part[self] = *value;
	mios_dsm_barrier();
	*value = 0;
	for (int i = 0; i < threads; i++)
		*value += part[i];
	return mios_dsm_barrier();
}

int mios_dsm_lock(unsigned int lock)
{
	return -pthread_mutex_lock(&mutex[lock]);
}

int mios_dsm_unlock(unsigned int lock)
{
	return -pthread_mutex_unlock(&mutex[lock]);
}

static void *one(void *arg)
{
	self = (int *)arg - result;
	result[self] = program(size_asked);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int bad = 0;

	threads = argc > 1 ? atoi(argv[1]) : 0;
	size_asked = argc > 2 ? atoi(argv[2]) : program_size;
	if (argc > 3 || threads < 1 || threads > THREADS_MAX ||
	    size_asked < 1) {
		fprintf(stderr, "usage: %s THREADS [SIZE]\n", argv[0]);
		return 2;
	}
	pthread_barrier_init(&barrier, NULL, threads);
	for (int i = 0; i < MIOS_DSM_LOCKS; i++)
		pthread_mutex_init(&mutex[i], NULL);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, one, &result[i]))
			must(-1, "thread");
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		bad |= result[i];
	}
	printf("%s: %s\n", program_name, bad ? "WRONG" : "right");
	return bad ? 1 : 0;
}
