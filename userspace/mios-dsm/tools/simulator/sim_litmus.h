/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A litmus test on the simulator's network, as cmd_litmus.c asks for it.
 */
#ifndef SIM_LITMUS_H
#define SIM_LITMUS_H

#include "../explorer/runs.h"

runs_one sim_litmus_one;

#endif /* SIM_LITMUS_H */
