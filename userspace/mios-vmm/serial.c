// SPDX-License-Identifier: GPL-2.0
/*
 * The serial port's registers.  Its line is high as long as there is something
 * to tell that the guest wants to hear.  No call of KVM or of the system.
 */
#include "serial.h"

enum { DATA, IER, IIR, LCR, MCR, LSR, MSR, SCR };

#define IER_RECEIVED	1
#define IER_SENT	2
#define IIR_NOTHING	1
#define IIR_SENT	2
#define IIR_RECEIVED	4
#define IIR_FIFO	0xc0
#define LCR_DIVISOR	0x80
#define MCR_LOOP	0x10
#define LSR_RECEIVED	1
#define LSR_SENT	0x60
#define MSR_THERE	0xb0	/* carrier, ready, clear to send */

static uint8_t cause(const struct serial *s)
{
	if (s->ier & IER_RECEIVED && s->head != s->tail)
		return IIR_RECEIVED;
	if (s->ier & IER_SENT && s->sent)
		return IIR_SENT;
	return IIR_NOTHING;
}

static void tell(const struct serial *s)
{
	s->line(cause(s) != IIR_NOTHING);
}

void serial_reset(struct serial *s, void (*put)(uint8_t byte),
		  void (*line)(bool high))
{
	*s = (struct serial){ .divisor = { 1 }, .put = put, .line = line };
}

uint32_t serial_room(const struct serial *s)
{
	return s->mcr & MCR_LOOP ? 0 : SERIAL_FIFO - (s->tail - s->head);
}

void serial_receive(struct serial *s, uint8_t byte)
{
	if (s->tail - s->head == SERIAL_FIFO)
		return;
	s->fifo[s->tail++ % SERIAL_FIFO] = byte;
	tell(s);
}

static uint8_t received(struct serial *s)
{
	uint8_t byte = 0;

	if (s->head != s->tail)
		byte = s->fifo[s->head++ % SERIAL_FIFO];
	tell(s);
	return byte;
}

static uint8_t why(struct serial *s)
{
	uint8_t value = cause(s);

	if (value == IIR_SENT)
		s->sent = false;
	tell(s);
	return value | IIR_FIFO;
}

/* With its ends put together it hears its own signals. */
static uint8_t modem(const struct serial *s)
{
	if (!(s->mcr & MCR_LOOP))
		return MSR_THERE;
	return (s->mcr & 2) << 3 | (s->mcr & 1) << 5 | (s->mcr & 0xc) << 4;
}

uint8_t serial_read(struct serial *s, uint64_t offset)
{
	switch (offset) {
	case DATA:
		return s->lcr & LCR_DIVISOR ? s->divisor[0] : received(s);
	case IER:
		return s->lcr & LCR_DIVISOR ? s->divisor[1] : s->ier;
	case IIR:
		return why(s);
	case LCR:
		return s->lcr;
	case MCR:
		return s->mcr;
	case LSR:
		return LSR_SENT | (s->head != s->tail ? LSR_RECEIVED : 0);
	case MSR:
		return modem(s);
	case SCR:
		return s->scr;
	}
	return 0xff;
}

static void data_write(struct serial *s, uint8_t value)
{
	if (s->mcr & MCR_LOOP) {
		serial_receive(s, value);
	} else {
		s->put(value);
		/* Down and up: each byte is an edge. */
		s->sent = false;
		tell(s);
	}
	s->sent = true;
	tell(s);
}

void serial_write(struct serial *s, uint64_t offset, uint8_t value)
{
	bool divisor = s->lcr & LCR_DIVISOR;

	switch (offset) {
	case DATA:
		if (divisor)
			s->divisor[0] = value;
		else
			data_write(s, value);
		break;
	case IER:
		if (divisor) {
			s->divisor[1] = value;
			break;
		}
		if (value & ~s->ier & IER_SENT)
			s->sent = true;
		s->ier = value & 0xf;
		tell(s);
		break;
	case IIR:
		if (value & 2)
			s->head = s->tail;
		tell(s);
		break;
	case LCR:
		s->lcr = value;
		break;
	case MCR:
		s->mcr = value & 0x1f;
		break;
	case SCR:
		s->scr = value;
		break;
	}
}
