// SPDX-License-Identifier: GPL-2.0
/* The code of the events of fs_trace.h. */
#define CREATE_TRACE_POINTS
#include "fs_trace.h"
