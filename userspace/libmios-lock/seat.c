// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for a lock and its seats; to take a seat, to give it back, to find out
 * who has left one without that.  Called by programs and by wait.c.
 */
#include "seat.h"

static size_t lock_at(u32 seats)
{
	return sizeof(struct seats_header) + seats * sizeof(struct seat_record);
}

size_t mios_lock_size(unsigned int seats)
{
	u32 places = mios_qlock_places(seats);

	return places ? lock_at(seats) + mios_qlock_size(places) : 0;
}

int mios_lock_init(void *memory, size_t size, unsigned int seats)
{
	struct seats_header *header = memory;
	u32 i;
	int err;

	if (!mios_lock_size(seats) || size < mios_lock_size(seats))
		return -EINVAL;
	err = mios_qlock_format((u8 *)memory + lock_at(seats),
				mios_qlock_places(seats));
	if (err)
		return err;
	memset(header, 0, lock_at(seats));
	header->version = SEATS_VERSION;
	header->size = sizeof(*header);
	header->nr_seats = seats;
	for (i = 0; i < seats; i++) {
		err = life_init(&header->record[i].life);
		if (err)
			return err;
	}
	smp_store_release(&header->magic, SEATS_MAGIC);
	return 0;
}

static int seats_check(struct seat *seat, void *memory, size_t size)
{
	struct seats_header *header = memory;

	if ((uintptr_t)memory % MIOS_LOCK_ALIGN)
		return -EINVAL;
	if (size < sizeof(*header) ||
	    smp_load_acquire(&header->magic) != SEATS_MAGIC)
		return -EBADMSG;
	if (header->version != SEATS_VERSION || header->size != sizeof(*header))
		return -EPROTO;
	seat->seats = header;
	seat->nr_seats = READ_ONCE(header->nr_seats);
	if (!mios_lock_size(seat->nr_seats) ||
	    size < mios_lock_size(seat->nr_seats))
		return -EBADMSG;
	return 0;
}

bool seat_bury(struct seat *seat, u32 number)
{
	struct seat_record *record;
	int err;

	if (number >= seat->nr_seats || number == seat->number)
		return false;
	record = &seat->seats->record[number];
	err = life_take(&record->life);
	if (err == -EOWNERDEAD) {
		mios_qlock_recover(&seat->lock, number, record->epoch);
		pthread_mutex_consistent(&record->life);
	}
	if (!err || err == -EOWNERDEAD)
		pthread_mutex_unlock(&record->life);
	return err == -EOWNERDEAD;
}

int seat_bury_all(struct seat *seat)
{
	u32 i;
	int nr = 0;

	for (i = 0; i < seat->nr_seats; i++)
		nr += seat_bury(seat, i);
	return nr;
}

static int seat_view(struct seat *seat, size_t size, u32 epoch)
{
	size_t at = lock_at(seat->nr_seats);
	int err = mios_qlock_attach(&seat->lock, (u8 *)seat->seats + at,
				    size - at, seat->number, epoch);

	seat->lock.wait = &seat_wait;
	seat->lock.ctx = seat;
	return err;
}

static int seat_take(struct seat *seat, u32 number, size_t size)
{
	struct seat_record *record = &seat->seats->record[number];
	int err = life_take(&record->life);
	bool died = err == -EOWNERDEAD;
	u32 before;

	if (err && !died)
		return err;
	before = record->epoch;
	seat->number = number;
	if (before < EPOCH_MAX)
		record->epoch++;
	err = seat_view(seat, size, record->epoch);
	if (died && !err) {
		mios_qlock_recover(&seat->lock, number, before);
		pthread_mutex_consistent(&record->life);
	}
	/* One that has been used up is never taken again. */
	if (!err && before >= EPOCH_MAX)
		err = -EBUSY;
	if (err)
		pthread_mutex_unlock(&record->life);
	return err;
}

int mios_lock_attach(struct mios_lock_seat *opaque, void *memory, size_t size)
{
	struct seat *seat = seat_of(opaque);
	u32 i;
	int err;

	memset(opaque, 0, sizeof(*opaque));
	err = seats_check(seat, memory, size);
	if (err)
		return err;
	/* Others take a free one for a moment to ask: so look again. */
	for (i = 0; i < 3 * seat->nr_seats; i++) {
		err = seat_take(seat, i % seat->nr_seats, size);
		if (err != -EBUSY)
			return err;
	}
	return -EUSERS;
}

int mios_lock_detach(struct mios_lock_seat *opaque)
{
	struct seat *seat = seat_of(opaque);

	if (seat->lock.state == MIOS_QLOCK_HOLDS)
		return -EBUSY;
	return -pthread_mutex_unlock(&seat->seats->record[seat->number].life);
}

int mios_lock_recover(struct mios_lock_seat *opaque)
{
	return seat_bury_all(seat_of(opaque));
}
