// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads, one channel, doorbells by semaphore: every message arrives
 * once, whole and in order, and nobody waits for a doorbell that was not rung
 * (a lost one ends in the alarm).  Then the same while both sides keep
 * opening new sessions: what arrives is still whole and never goes back.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "test.h"

#define SLOT	64
#define SLOTS	16
#define LONGEST	300

struct stress {
	struct ends e;
	sem_t bell;		/* to the consumer */
	sem_t space;		/* to the producer */
	unsigned long messages;
	u64 seed;
	pthread_mutex_t producer_lock;
	pthread_mutex_t consumer_lock;
	bool stop;
};

static u32 message_make(u8 *data, u32 number, u32 length)
{
	u32 i;

	memcpy(data, &number, sizeof(number));
	for (i = sizeof(number); i < length; i++)
		data[i] = number * 31 + i;
	return length;
}

static u32 message_check(const u8 *data, u32 length)
{
	u32 number, i;

	CHECK(length >= sizeof(number));
	memcpy(&number, data, sizeof(number));
	for (i = sizeof(number); i < length; i++)
		CHECK(data[i] == (u8)(number * 31 + i));
	return number;
}

static void *produce(void *arg)
{
	struct stress *s = arg;
	u8 data[LONGEST];
	u32 number, length;
	int ret;

	for (number = 0; number < s->messages; number++) {
		length = message_make(data, number,
				      4 + test_random(&s->seed) % (LONGEST - 4));
		while ((ret = mios_producer_write(&s->e.p, 1, data, length)) ==
		       -EAGAIN)
			if (!mios_producer_wish(&s->e.p, length))
				sem_wait(&s->space);
		CHECK(ret >= 0);
		if (ret)
			sem_post(&s->bell);
	}
	return NULL;
}

static void *consume(void *arg)
{
	struct stress *s = arg;
	struct mios_message m;
	u8 data[LONGEST];
	u32 number = 0;

	while (number < s->messages) {
		while (mios_consumer_peek(&s->e.c, &m) == 1) {
			mios_consumer_copy(&s->e.c, &m, data, sizeof(data));
			CHECK(message_check(data, m.total) == number++);
			if (mios_consumer_pop(&s->e.c, &m))
				sem_post(&s->space);
		}
		if (mios_consumer_flush(&s->e.c))
			sem_post(&s->space);
		if (number < s->messages && !mios_consumer_arm(&s->e.c))
			sem_wait(&s->bell);
		mios_consumer_disarm(&s->e.c);
	}
	return NULL;
}

void test_stress(u64 seed, unsigned long messages)
{
	struct stress s = { .messages = messages, .seed = seed };
	pthread_t producer, consumer;

	alarm(600);
	ends_make(&s.e, SLOT, SLOTS, LONGEST);
	ends_open(&s.e, 1, 1);
	sem_init(&s.bell, 0, 0);
	sem_init(&s.space, 0, 0);
	pthread_create(&producer, NULL, produce, &s);
	pthread_create(&consumer, NULL, consume, &s);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	CHECK(s.e.c.garbage == 0 && s.e.p.resyncs == 0);
	ends_free(&s.e);
	alarm(0);
}

/* --- the same with sessions that begin all the time */

static void *produce_on(void *arg)
{
	struct stress *s = arg;
	u8 data[LONGEST];
	u32 number = 0, length;

	while (!READ_ONCE(s->stop)) {
		length = message_make(data, number++,
				      4 + test_random(&s->seed) % (LONGEST - 4));
		pthread_mutex_lock(&s->producer_lock);
		mios_producer_write(&s->e.p, 1, data, length);
		pthread_mutex_unlock(&s->producer_lock);
	}
	return NULL;
}

static void *consume_on(void *arg)
{
	struct stress *s = arg;
	struct mios_message m;
	u8 data[LONGEST];
	u32 number, next = 0;
	int ret;

	while (!READ_ONCE(s->stop)) {
		pthread_mutex_lock(&s->consumer_lock);
		ret = mios_consumer_peek(&s->e.c, &m);
		if (ret == 1) {
			mios_consumer_copy(&s->e.c, &m, data, sizeof(data));
			number = message_check(data, m.total);
			CHECK(number >= next);
			next = number + 1;
			mios_consumer_pop(&s->e.c, &m);
		}
		CHECK(ret >= 0);
		mios_consumer_flush(&s->e.c);
		pthread_mutex_unlock(&s->consumer_lock);
	}
	CHECK(next);
	return NULL;
}

void test_sessions(u64 seed, unsigned long rounds)
{
	struct stress s = { .seed = seed };
	pthread_t producer, consumer;
	unsigned long i;
	u64 mine = seed;

	alarm(600);
	ends_make(&s.e, SLOT, SLOTS, LONGEST);
	ends_open(&s.e, 1, 1);
	pthread_mutex_init(&s.producer_lock, NULL);
	pthread_mutex_init(&s.consumer_lock, NULL);
	pthread_create(&producer, NULL, produce_on, &s);
	pthread_create(&consumer, NULL, consume_on, &s);
	for (i = 0; i < rounds; i++) {
		usleep(200 + test_random(&mine) % 1000);
		if (test_random(&mine) % 2) {
			pthread_mutex_lock(&s.producer_lock);
			mios_producer_open(&s.e.p, 1, 1);
			pthread_mutex_unlock(&s.producer_lock);
		}
		pthread_mutex_lock(&s.consumer_lock);
		mios_consumer_open(&s.e.c, 1, 1);
		pthread_mutex_unlock(&s.consumer_lock);
	}
	usleep(10000);
	WRITE_ONCE(s.stop, true);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	ends_free(&s.e);
	alarm(0);
}
