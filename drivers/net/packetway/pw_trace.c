// SPDX-License-Identifier: GPL-2.0
/* Where the tracepoints are made. */
#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "pw_trace.h"
#endif
