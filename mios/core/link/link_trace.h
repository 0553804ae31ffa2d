/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of the link: doorbells and calls.  A call has one number for who calls
 * and who serves, so that a listing of both kernels, by the machine's one clock,
 * tells where its time went (docs/looking.md).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mios

#if !defined(_MIOS_LINK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MIOS_LINK_TRACE_H

#include <linux/tracepoint.h>
#include <mios/msg.h>

/* trace-cmd and perf are told the numbers, which are names to the compiler only. */
TRACE_DEFINE_ENUM(MIOS_BELL_CONTROL);
TRACE_DEFINE_ENUM(MIOS_BELL_CONSOLE);
TRACE_DEFINE_ENUM(MIOS_BELL_NET);
TRACE_DEFINE_ENUM(MIOS_BELL_SPACE);
TRACE_DEFINE_ENUM(MIOS_BELL_CHANGE);
TRACE_DEFINE_ENUM(MIOS_BELL_ECHO);
TRACE_DEFINE_ENUM(MIOS_CALL_PROBE);
TRACE_DEFINE_ENUM(MIOS_CALL_WAKE);
TRACE_DEFINE_ENUM(MIOS_CALL_REVOKE);
TRACE_DEFINE_ENUM(MIOS_CALL_LOAN);
TRACE_DEFINE_ENUM(MIOS_CALL_REGISTER);
TRACE_DEFINE_ENUM(MIOS_CALL_RANGE_OWNER);
TRACE_DEFINE_ENUM(MIOS_CALL_DEVICE);
TRACE_DEFINE_ENUM(MIOS_CALL_PID);

#define MIOS_BELL_NAMES			\
	{ MIOS_BELL_CONTROL, "control" },	\
	{ MIOS_BELL_CONSOLE, "console" },	\
	{ MIOS_BELL_NET, "net" },		\
	{ MIOS_BELL_SPACE, "space" },		\
	{ MIOS_BELL_CHANGE, "change" },		\
	{ MIOS_BELL_ECHO, "echo" }

#define MIOS_CALL_NAMES			\
	{ MIOS_CALL_PROBE, "probe" },		\
	{ MIOS_CALL_WAKE, "wake" },		\
	{ MIOS_CALL_REVOKE, "revoke" },		\
	{ MIOS_CALL_LOAN, "loan" },		\
	{ MIOS_CALL_REGISTER, "register" },	\
	{ MIOS_CALL_RANGE_OWNER, "range_owner" }, \
	{ MIOS_CALL_DEVICE, "device" },		\
	{ MIOS_CALL_PID, "pid" }

/* This instance rings another one. */
TRACE_EVENT(mios_bell_ring,
	TP_PROTO(u32 instance, u32 bell),
	TP_ARGS(instance, bell),
	TP_STRUCT__entry(
		__field(u32, instance)
		__field(u32, bell)
	),
	TP_fast_assign(
		__entry->instance = instance;
		__entry->bell = bell;
	),
	TP_printk("to %u for %s", __entry->instance,
		  __print_symbolic(__entry->bell, MIOS_BELL_NAMES))
);

/* It has been rung, or has found that it was: @from has a bit for each ringer. */
TRACE_EVENT(mios_bell,
	TP_PROTO(u32 bell, u64 from),
	TP_ARGS(bell, from),
	TP_STRUCT__entry(
		__field(u64, from)
		__field(u32, bell)
	),
	TP_fast_assign(
		__entry->from = from;
		__entry->bell = bell;
	),
	TP_printk("from 0x%llx for %s", __entry->from,
		  __print_symbolic(__entry->bell, MIOS_BELL_NAMES))
);

DECLARE_EVENT_CLASS(mios_call_begins,
	TP_PROTO(u32 instance, u32 what, u64 id),
	TP_ARGS(instance, what, id),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, instance)
		__field(u32, what)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->instance = instance;
		__entry->what = what;
	),
	TP_printk("%u %s %llx", __entry->instance,
		  __print_symbolic(__entry->what, MIOS_CALL_NAMES), __entry->id)
);

DECLARE_EVENT_CLASS(mios_call_ends,
	TP_PROTO(u32 instance, u64 id, int result),
	TP_ARGS(instance, id, result),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, instance)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->instance = instance;
		__entry->result = result;
	),
	TP_printk("%u %llx = %d", __entry->instance, __entry->id,
		  __entry->result)
);

/* Another instance is called; each time that it is asked. */
DEFINE_EVENT(mios_call_begins, mios_call,
	TP_PROTO(u32 instance, u32 what, u64 id),
	TP_ARGS(instance, what, id)
);

/* It has answered, or is not waited for any more. */
DEFINE_EVENT(mios_call_ends, mios_call_end,
	TP_PROTO(u32 instance, u64 id, int result),
	TP_ARGS(instance, id, result)
);

/* Another instance's call is begun here, and has been served. */
DEFINE_EVENT(mios_call_begins, mios_serve,
	TP_PROTO(u32 instance, u32 what, u64 id),
	TP_ARGS(instance, what, id)
);

DEFINE_EVENT(mios_call_ends, mios_serve_end,
	TP_PROTO(u32 instance, u64 id, int result),
	TP_ARGS(instance, id, result)
);

#endif /* _MIOS_LINK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE link_trace
#include <trace/define_trace.h>
