// SPDX-License-Identifier: GPL-2.0
/*
 * Looking at an engine without changing it: names, a page's state, what a
 * state lets CPUs do, statistics.  Called by whoever drives the engine.
 */
#include "engine.h"

const char *const dsm_state_name[DSM_STATES] = {
	"I", "S", "O", "M", "IS", "IM", "IO", "SM", "SO", "OI", "OC",
};

const char *const dsm_msg_name[DSM_MSGS] = {
	"GET_S", "GET_X", "GET_O", "DATA_S", "DATA_X", "DATA_O", "INV",
	"INV_ACK", "EVICT", "GAVE", "SEAT", "UPD", "MODE", "MODE_ACK", "FLUSH",
	"HOLD", "HOLD_END", "TAKE", "OWNED", "GONE", "READY",
};

const char *const dsm_mode_name[DSM_MODES] = { "WI", "MW", "SW" };

const u8 dsm_access_of[DSM_STATES] = {
	[DSM_I] = DSM_NONE, [DSM_S] = DSM_RO, [DSM_O] = DSM_RO,
	[DSM_M] = DSM_RW, [DSM_IS] = DSM_NONE, [DSM_IM] = DSM_NONE,
	[DSM_IO] = DSM_NONE, [DSM_SM] = DSM_RO, [DSM_SO] = DSM_RO,
	[DSM_OI] = DSM_RO, [DSM_OC] = DSM_RO,
};

enum dsm_state dsm_page_state(const struct dsm *d, u32 page)
{
	return page_at((struct dsm *)d, page)->state;
}

enum dsm_mode dsm_page_mode(const struct dsm *d, u32 page)
{
	return page_at((struct dsm *)d, page)->mode;
}

enum dsm_access dsm_page_access(const struct dsm *d, u32 page)
{
	return page_allows(page_at((struct dsm *)d, page));
}

const struct dsm_set *dsm_page_copyset(const struct dsm *d, u32 page)
{
	return &page_at((struct dsm *)d, page)->copyset;
}

/* Does the CPU owe us a DSM_EV_RETIRED? */
bool dsm_cpu_holds(const struct dsm *d, u16 cpu)
{
	return cpu_at((struct dsm *)d, cpu)->count != 0;
}

bool dsm_cpu_waits(const struct dsm *d, u16 cpu)
{
	return cpu_at((struct dsm *)d, cpu)->waits;
}

bool dsm_pending(const struct dsm *d)
{
	return d->pending != 0;
}

const struct dsm_stats *dsm_statistics(const struct dsm *d)
{
	return stats_of((struct dsm *)d);
}

size_t dsm_state_size(const struct dsm *d)
{
	return d->off_stats;
}
