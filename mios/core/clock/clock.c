// SPDX-License-Identifier: GPL-2.0
/*
 * Instance 0's real time as a PTP clock ("mios") in every child, so that
 * stock phc2sys makes the child's CLOCK_REALTIME follow it.  The TSC is one
 * for the whole machine: instance 0 publishes what time it was at which TSC
 * (mios/core/link/beat.c), and here that is carried forward.  Read-only.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/timekeeping.h>

#include <asm/mios.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "../channel/layout.h"
#include "../link/link.h"
#include "clock.h"

static struct ptp_clock *clock;

/* A rate that no TSC has would be garbage: 10 MHz to 100 GHz. */
#define MULT_MIN	((1ULL << 32) / 100)
#define MULT_MAX	((1ULL << 32) * 100)

/* Real time of instance 0 at @tsc, or -errno. */
static int clock_at(u64 tsc, u64 *ns)
{
	const struct mios_anchor *shared = mios_link_anchor();
	struct mios_anchor anchor;
	int err;

	if (!shared)
		return -ENODEV;
	err = mios_seq_read((u32 *)&anchor, (const u32 *)shared,
			    sizeof(anchor));
	if (err)
		return err;
	if (!anchor.tsc || anchor.mult < MULT_MIN || anchor.mult > MULT_MAX)
		return -EIO;
	/* The anchor may be younger than @tsc by a heartbeat. */
	if (tsc >= anchor.tsc)
		*ns = anchor.real_ns + mul_u64_u64_shr(tsc - anchor.tsc,
						       anchor.mult, 32);
	else
		*ns = anchor.real_ns - mul_u64_u64_shr(anchor.tsc - tsc,
						       anchor.mult, 32);
	return 0;
}

static int clock_gettimex(struct ptp_clock_info *info, struct timespec64 *ts,
			  struct ptp_system_timestamp *sts)
{
	u64 tsc, ns;
	int err;

	ptp_read_system_prets(sts);
	tsc = rdtsc_ordered();
	ptp_read_system_postts(sts);
	err = clock_at(tsc, &ns);
	if (!err)
		*ts = ns_to_timespec64(ns);
	return err;
}

static int clock_pair(ktime_t *device, struct system_counterval_t *system,
		      void *ctx)
{
	u64 tsc = rdtsc_ordered();
	u64 ns;
	int err = clock_at(tsc, &ns);

	if (err)
		return err;
	*device = ns_to_ktime(ns);
	*system = (struct system_counterval_t){
		.cycles = tsc,
		.cs_id = CSID_X86_TSC,
	};
	return 0;
}

static int clock_crosststamp(struct ptp_clock_info *info,
			     struct system_device_crosststamp *stamp)
{
	return get_device_system_crosststamp(clock_pair, NULL, NULL, stamp);
}

static int clock_settime(struct ptp_clock_info *info,
			 const struct timespec64 *ts)
{
	return -EOPNOTSUPP;
}

static int clock_adjust(struct ptp_clock_info *info, s64 delta)
{
	return -EOPNOTSUPP;
}

static int clock_adjfine(struct ptp_clock_info *info, long ppm)
{
	return -EOPNOTSUPP;
}

static struct ptp_clock_info clock_info = {
	.owner = THIS_MODULE,
	.name = "mios",
	.gettimex64 = clock_gettimex,
	.getcrosststamp = clock_crosststamp,
	.settime64 = clock_settime,
	.adjtime = clock_adjust,
	.adjfine = clock_adjfine,
};

/* Instance 0 has the original. */
int mios_clock_init(void)
{
	struct ptp_clock *made;

	if (!mios_manifest())
		return 0;
	made = ptp_clock_register(&clock_info, NULL);
	if (IS_ERR(made))
		return PTR_ERR(made);
	clock = made;
	return 0;
}

void mios_clock_exit(void)
{
	if (clock)
		ptp_clock_unregister(clock);
	clock = NULL;
}
