/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A litmus test on the simulator's network, as cmd_litmus.c asks for it.
 */
#ifndef SIMLIT_H
#define SIMLIT_H

#include "../explorer/runs.h"

runs_one simlit_one;

#endif /* SIMLIT_H */
