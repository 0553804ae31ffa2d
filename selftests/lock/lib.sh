# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of locks among instances: a program, guest/, on a file that all
# of them have.
. /usr/lib/mios/selftests/lib/instances.sh

FILE=/mios/locks
LOCKS="/usr/lib/mios/guest/locks $FILE"

# fresh: the file as new, and nobody there
fresh()
{
	rm -f $FILE
	truncate -s 65536 $FILE
	$LOCKS init || fail "no lock in $FILE"
}

# starts NAME INSTANCE COMMAND...: in the background; what it says is in
# /tmp/NAME, and "said" waits for it
starts()
{
	local name=$1 i=$2

	shift 2
	on "$i" "exec $LOCKS $*" > "/tmp/$name" 2>&1 &
	echo $! > "/tmp/$name.pid"
}

# asleep INSTANCE TASKS: so many of the program's wait on a futex there
asleep()
{
	until_true 60 waiting_are "$1" "$2" ||
		fail "not $2 tasks wait on instance $1"
}

waiting_are()
{
	[ "$(on "$1" 'for p in $(pgrep -x locks); do cat /proc/$p/syscall
		done' | grep -c "^202 ")" = "$2" ]
}

has_ended()
{
	! kill -0 "$(cat "/tmp/$1.pid")"
}

# said NAME WORDS WHAT: it ends, having said this
said()
{
	until_true 30 has_ended "$1" ||
		fail "$3: it goes on, and has said '$(cat "/tmp/$1")'"
	is "$(tr '\n' ' ' < "/tmp/$1")" "$2 " "$3"
}

# holds NAME INSTANCE [share]: it has the lock
holds()
{
	starts "$1" "$2" hold "$3"
	until_true 30 grep -q held "/tmp/$1" || fail "$1: $(cat "/tmp/$1")"
}

# ready_are N: so many have sat down and wait for "begin"
ready_are()
{
	[ "$($LOCKS show ready)" = "$1" ]
}

REGLOCK=/sys/module/mios_reglock/parameters

# registers INSTANCE...: the register of QEMU's network card is theirs
registers()
{
	local i dev

	for i; do
		on "$i" "modprobe mios_reglock" ||
			fail "no module on instance $i"
		[ "$i" = 0 ] || continue
		dev=$(grep -l 0x10d3 /sys/bus/pci/devices/*/device) ||
			fail "no 82574 in this machine"
		dev=$(basename "$(dirname "$dev")")
		echo mios_reglock > "/sys/bus/pci/devices/$dev/driver_override"
		echo "$dev" > /sys/bus/pci/drivers_probe
		[ -c /dev/mios_register ] || fail "$dev is not taken"
	done
}

# rholds NAME INSTANCE [share]: it has the register lock
rholds()
{
	starts "$1" "$2" rhold "$3"
	until_true 30 grep -q held "/tmp/$1" || fail "$1: $(cat "/tmp/$1")"
}

# rwaits NAME INSTANCE: it waits for the register lock
rwaits()
{
	starts "$1" "$2" rlock
	until_true 30 grep -q waits "/tmp/$1" || fail "$1: $(cat "/tmp/$1")"
}
