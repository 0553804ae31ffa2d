/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection: one bit for each rule of the protocols that a test wants
 * to see broken.  Only builds with -DDSM_KNOBS know them; in all others a
 * knob is the constant false and dsm_init() refuses dsm_config.knobs.
 */
#ifndef DSM_KNOBS_H
#define DSM_KNOBS_H

#define DSM_KNOB_NO_FLUSH	(1u << 0) /* reply before pending writes */
#define DSM_KNOB_KEEP_N1	(1u << 1) /* apply what the page holds */
#define DSM_KNOB_NO_MASK	(1u << 2) /* merge without constraint */
#define DSM_KNOB_MANY_WRITERS	(1u << 3) /* atomics beside updates */
#define DSM_KNOB_NO_LEASE	(1u << 4) /* a page may leave unused */
#define DSM_KNOB_NO_ACK		(1u << 5) /* write before the INV_ACKs */
#define DSM_KNOB_OLD_COPY	(1u << 6) /* accept an overtaken copy */
#define DSM_KNOB_STALE_COPY	(1u << 7) /* acknowledge INV, keep copy */
#define DSM_KNOB_NO_SEAT	(1u << 8) /* give out of line at any time */
#define DSM_KNOB_NO_LOSS	(1u << 9) /* make up what nobody holds */
#define DSM_KNOB_NO_AHEAD	(1u << 10) /* forget an early FLUSH */
#define DSM_KNOB_NO_ROUND	(1u << 11) /* who is born again just lives */
#define DSM_KNOB_NO_WAIT	(1u << 12) /* a store before its place */
#define DSM_KNOB_NO_LEVEL	(1u << 13) /* a dead head's last are lost */
#define DSM_KNOB_NO_READERS	(1u << 14) /* adapt: who reads on is forgotten */
#define DSM_KNOB_NO_CROWD	(1u << 15) /* adapt: locks are like other pages */

#ifdef DSM_KNOBS
#define DSM_KNOB(d, name)	((d)->cfg.knobs & DSM_KNOB_##name)
#define ADAPT_KNOB(a, name)	((a)->knobs & DSM_KNOB_##name)
#else
#define DSM_KNOB(d, name)	false
#define ADAPT_KNOB(a, name)	false
#endif

#endif /* DSM_KNOBS_H */
