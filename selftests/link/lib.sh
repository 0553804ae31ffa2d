# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests here, which run inside instance 0 of a test machine:
# boots what a test needs, reads the counters of mios.ko.  BREAK=knob turns a
# fault of mios/link/fault.c on for the whole test, which must then fail.

SYS=/sys/kernel/mios
DEBUG=/sys/kernel/debug/mios
KNOBS=/sys/module/mios/parameters

fail() {
	echo "failed: $*"
	exit 1
}

skip() {
	echo "skipped: $*"
	exit 77
}

# wait_for SECONDS COMMAND...: until it succeeds
wait_for() {
	_end=$(($(date +%s) + $1))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$_end" ] || return 1
		sleep 0.1
	done
}

state() {
	cat "$SYS/instance$1/state"
}

state_is() {
	[ "$(state "$1")" = "$2" ]
}

# all_up I...: boots those that are not
all_up() {
	[ -d "$SYS" ] || skip "no mios.ko"
	pidof miosd >/dev/null || miosd >/dev/null 2>&1 &
	_missing=
	for _i; do
		state_is "$_i" up || _missing="$_missing $_i"
	done
	# shellcheck disable=SC2086
	[ -z "$_missing" ] || mios boot $_missing >/dev/null 2>/tmp/boot.log ||
		fail "mios boot$_missing: $(tail -n 1 /tmp/boot.log)"
	wait_for 60 pidof miosd || fail "miosd does not start"
}

# on I COMMAND...: run it on instance I
on() {
	_on=$1
	shift
	mios exec "$_on" -- "$@"
}

# knob NAME COUNT [INSTANCE]
knob() {
	[ -e "$KNOBS/fault_$1" ] || skip "modules without fault knobs"
	on "${3:-0}" sh -c "echo $2 > $KNOBS/fault_$1" ||
		fail "knob $1 on instance ${3:-0}"
}

# probe KIND TARGET COUNT: sets failed, median, p99 (ns)
probe() {
	echo "$1 $2 $3" > "$DEBUG/probe" || fail "probe $1 $2"
	read -r _ _ count failed _ median p99 _ < "$DEBUG/probe"
	[ "$count" = "$3" ] || fail "probe $1 $2: only $count"
}

# counters I: those of instance I, its debugfs mounted when needed
counters() {
	on "$1" sh -c "[ -d $DEBUG ] || mount -t debugfs none /sys/kernel/debug
		cat $DEBUG/counters"
}

# counter I PEER CLASS NAME: one figure of instance I's channels with PEER
counter() {
	counters "$1" | awk -v peer="$2" -v class="$3" -v name="$4" '
		$1 == "channel" && $2 == peer && $3 == class {
			for (i = 4; i < NF; i += 2)
				if ($i == name)
					print $(i + 1)
		}'
}

lost_doorbells() {
	counters "$1" | awk '$1 == "ring" { sum += $4 } END { print sum + 0 }'
}

[ -z "${BREAK:-}" ] || [ ! -e "$KNOBS/fault_$BREAK" ] || {
	echo -1 > "$KNOBS/fault_$BREAK"
	trap 'echo 0 > "$KNOBS/fault_$BREAK"' EXIT
}
