# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the tests that run in instance 0 of a test machine: a test says
# what it needs with "up".  Also by what a host test runs there.
. /usr/lib/mios/selftests/lib/test.sh

HERE=$(cd "$(dirname "$0")" && pwd)
SYS=/sys/kernel/mios
DEBUG=/sys/kernel/debug/mios
KNOBS=/sys/module/mios/parameters

state()
{
	cat "$SYS/instance$1/state"
}

# state_is INSTANCE STATE
state_is()
{
	[ "$(state "$1")" = "$2" ]
}

# becomes INSTANCE STATE SECONDS [WHEN]: within so many
becomes()
{
	until_true "$3" state_is "$1" "$2" ||
		fail "${4:+$4: }instance $1 stays $(state "$1"), not $2"
}

incarnation()
{
	cat "$SYS/instance$1/incarnation"
}

# quietly COMMAND...: the last of its errors is told if it fails
quietly()
{
	"$@" > /dev/null 2> /tmp/errors.log ||
		fail "$*: $(tail -n 1 /tmp/errors.log)"
}

# up INSTANCE...: boots those that are not
up()
{
	local i down=

	for i; do
		state_is "$i" up || down="$down,$i"
	done
	[ -z "$down" ] || quietly mios boot "${down#,}"
}

# killed INSTANCE: by force, and its node is back.  The debug kernel takes 28 s of its
# clock for a gigabyte, of the 30 that mios kill has: it gets twelve times as long.
killed()
{
	case $(uname -r) in
	*-debug) quietly mios kill --timeout=360 "$1" ;;
	*) quietly mios kill "$1" ;;
	esac
}

# on INSTANCE SHELL-WORDS...
on()
{
	local there=$1

	shift
	if [ "$there" = 0 ]; then
		sh -c "$*"
	else
		mios exec "$there" -- sh -c "$*"
	fi
}

# unmounted: neither /dev/shm nor /mios here.  miosd looks through the first for a
# moment after each end of an instance, and after its own start.
unmounted()
{
	until_true 10 umount /dev/shm && umount /mios
}

need_knobs()
{
	[ -e "$KNOBS/inject_leave_cpu" ] || skip "modules without knobs"
}

# knob NAME VALUE [INSTANCE]
knob()
{
	need_knobs
	on "${3:-0}" "echo $2 > $KNOBS/inject_$1" ||
		fail "knob $1 on instance ${3:-0}"
}

# failed_for WORDS TEST: the line with which TEST failed, in /tmp/knob.log, is
# the one that a broken guarantee brings; else all of it is worth reading.
failed_for()
{
	! grep -q "^FAILED: .*\($1\)" /tmp/knob.log || return 0
	tail -n 40 /tmp/knob.log
	fail "$2 failed for another reason than '$1'"
}

# Between two tests with a knob; an area may have more to do.
settle()
{
	sleep 2
}

# must_fail KNOB VALUE TEST WORDS [INSTANCE]: with the knob on, there, the test
# beside this one fails, with WORDS in its line.
must_fail()
{
	local status=0

	settle
	knob "$1" "$2" "${5:-0}"
	"$HERE/$3" > /tmp/knob.log 2>&1 || status=$?
	knob "$1" 0 "${5:-0}"
	is $status 1 "exit status of $3 with $1 on"
	failed_for "$4" "$3"
	settle
}
