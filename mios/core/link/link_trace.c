// SPDX-License-Identifier: GPL-2.0
/* The code of the events of link_trace.h. */
#define CREATE_TRACE_POINTS
#include "link_trace.h"
