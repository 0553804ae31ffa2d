/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A serial port, 16550's registers: the guest's console.  What is sent is there
 * at once.  Who calls has the lock of the devices.
 */
#ifndef SERIAL_H
#define SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#define SERIAL_FIFO	64

struct serial {
	uint8_t ier, lcr, mcr, scr, divisor[2];
	bool sent;		/* room for more, which nobody has been told */
	uint8_t fifo[SERIAL_FIFO];	/* received */
	uint32_t head, tail;
	void (*put)(uint8_t byte);
	void (*line)(bool high);
};

void serial_reset(struct serial *s, void (*put)(uint8_t byte),
		  void (*line)(bool high));
uint8_t serial_read(struct serial *s, uint64_t offset);
void serial_write(struct serial *s, uint64_t offset, uint8_t value);
/* How much more can be received. */
uint32_t serial_room(const struct serial *s);
void serial_receive(struct serial *s, uint8_t byte);

#endif /* SERIAL_H */
