# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of what programs share through miosfs: a program, guest/, on
# files that three instances have.
. /usr/lib/mios/selftests/lib/instances.sh

KNOBS=/sys/module/mios_fs/parameters
# What the "machine:" line of each test sets aside.
POOL=64M@0x20000000
AT=/tmp/mios
FUTEXES="/usr/lib/mios/guest/futexes $AT/f"

need_knobs()
{
	[ -e "$KNOBS/inject_no_enter" ] || skip "modules without knobs"
}

# window INSTANCE...: 0 has made it, and these have it, too; with the file
window()
{
	local i options=pool=$POOL,format

	for i in 0 "$@"; do
		on "$i" "mkdir -p $AT; mountpoint -q $AT ||
			mount -t miosfs -o $options mios $AT" ||
			fail "instance $i cannot mount with $options"
		options=pool=$POOL
	done
	truncate -s 8192 $AT/f
}

# starts NAME INSTANCE COMMAND...: in the background; what it says is in
# /tmp/NAME, and "said" waits for it
starts()
{
	local name=$1 i=$2

	shift 2
	on "$i" "$FUTEXES $*" > "/tmp/$name" 2>&1 &
	echo $! > "/tmp/$name.pid"
}

# in_a_wait INSTANCE: how many of the program's tasks wait there, by futex(),
# futex_waitv() or futex_wait()
in_a_wait()
{
	on "$1" 'for p in $(pgrep "^futexes"); do cat /proc/$p/task/*/syscall
		done' | grep -cE "^(202|449|455) "
}

waiting_are()
{
	[ "$(in_a_wait "$1")" = "$2" ]
}

# asleep INSTANCE TASKS: until so many wait there; who waits for its own threads
# does, too
asleep()
{
	until_true 60 waiting_are "$1" "$2" ||
		fail "$(in_a_wait "$1") tasks wait on $1, not $2"
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
	is "$(cat "/tmp/$1")" "$2" "$3"
}
