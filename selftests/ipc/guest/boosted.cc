// SPDX-License-Identifier: GPL-2.0
/*
 * Boost.Interprocess between processes that may be on different instances: a
 * managed segment of shared memory with a map, a vector and a lock that were
 * built in it, a condition to meet at, and a message queue.
 *
 *	boosted MEMBERS ROUNDS
 *
 * Each member adds to the map and the vector under the lock, and sends what it
 * has added.  The one that came first has a child do so, and receives all of it.
 * In the end each compares what is there with what must be.
 */
#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/map.hpp>
#include <boost/interprocess/containers/vector.hpp>
#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/interprocess/managed_shared_memory.hpp>
#include <boost/interprocess/sync/interprocess_condition.hpp>
#include <boost/interprocess/sync/interprocess_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <unistd.h>

namespace ip = boost::interprocess;

using Manager = ip::managed_shared_memory::segment_manager;
using Pair = std::pair<const int, long>;
using Map = ip::map<int, long, std::less<int>, ip::allocator<Pair, Manager>>;
using Vector = ip::vector<int, ip::allocator<int, Manager>>;
using Lock = ip::scoped_lock<ip::interprocess_mutex>;

static const char SEGMENT[] = "boosted", QUEUE[] = "boosted-queue";
static const int KEYS = 16;

struct Meeting {
	ip::interprocess_mutex mutex;
	ip::interprocess_condition all;
	int here = 0, left = 0;
};

/* Until @count of them have come; which one am I? */
static int meet(Meeting &m, int &counter, int count)
{
	Lock lock(m.mutex);
	int mine = counter++;

	if (counter == count)
		m.all.notify_all();
	while (counter < count)
		m.all.wait(lock);
	return mine;
}

static long receive(int messages)
{
	ip::message_queue queue(ip::open_only, QUEUE);
	ip::message_queue::size_type size;
	unsigned int priority;
	long sum = 0, value;

	while (messages--) {
		queue.receive(&value, sizeof(value), size, priority);
		sum += value;
	}
	return sum;
}

static void add(Meeting &m, Map &map, Vector &vector, int rounds)
{
	ip::message_queue queue(ip::open_or_create, QUEUE, 8, sizeof(long));

	for (int i = 0; i < rounds; i++) {
		long value = i + 1;

		{
			Lock lock(m.mutex);

			map[i % KEYS] += value;
			vector.push_back(i);
		}
		queue.send(&value, sizeof(value), 0);
	}
}

static int work(int members, int rounds)
{
	ip::managed_shared_memory shm(ip::open_or_create, SEGMENT, 1 << 20);
	Manager *manager = shm.get_segment_manager();
	Meeting &m = *shm.find_or_construct<Meeting>("meeting")();
	Map &map = *shm.find_or_construct<Map>("map")(std::less<int>(), manager);
	Vector &vector = *shm.find_or_construct<Vector>("vector")(manager);
	ip::message_queue queue(ip::open_or_create, QUEUE, 8, sizeof(long));
	long expected = (long)members * rounds * (rounds + 1) / 2;
	long sum = 0, received = expected;
	int mine = meet(m, m.here, members);

	if (!mine && !fork()) {
		add(m, map, vector, rounds);
		_exit(0);
	}
	if (mine)
		add(m, map, vector, rounds);
	else
		received = receive(members * rounds);
	meet(m, m.left, members);
	for (const Pair &pair : map)
		sum += pair.second;
	std::printf("%ld of %ld, %zu of %d, %ld received\n", sum, expected,
		    vector.size(), members * rounds, received);
	return sum != expected || received != expected ||
	       vector.size() != (size_t)members * rounds;
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 3)
		return 2;
	try {
		err = work(std::atoi(argv[1]), std::atoi(argv[2]));
	} catch (std::exception &e) {
		std::fprintf(stderr, "boosted: %s\n", e.what());
		return 1;
	}
	return err;
}
