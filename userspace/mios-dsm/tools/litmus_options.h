/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of mios-dsm litmus, as cmd_litmus.c reads it.
 */
#ifndef LITMUS_OPTIONS_H
#define LITMUS_OPTIONS_H

#include "simulator/sim.h"

enum { ON_EXPLORER, ON_SIM, ON_WALK };

struct options {
	int on, protocol, network;
	bool same_page, spare, thorough, all, trace, no_buffers, help;
	uint64_t evictions, hints, expiries, deaths, guesses, pins, joins;
	uint64_t asks, probowners;
	uint64_t run, states, configs, runs, seed, knobs;
	struct sim_config net;
	const char *transitions;
};

/* Index of the first file in argv, or 0 after a line on stderr. */
int options_parse(struct options *o, int argc, char **argv);

#endif /* LITMUS_OPTIONS_H */
