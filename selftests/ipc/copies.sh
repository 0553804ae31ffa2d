# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of copies from and to processes of other instances: a process, of
# guest/copies.c, and who copies.
. "$(dirname "$0")/lib.sh"

COPIES=/usr/lib/mios/guest/copies
AS_USER="setpriv --reuid user --regid user --clear-groups"

has_pid()
{
	[ -s "/tmp/$1.pid" ]
}

# owner NAME INSTANCE [WORD]: there, of "user"; its PID is in /tmp/NAME.pid
owner()
{
	local name=$1 i=$2

	shift 2
	rm -f "/tmp/$name.pid" "/dev/shm/$name"
	# shellcheck disable=SC2094
	on "$i" "$AS_USER $COPIES owner /dev/shm/$name $*" > "/tmp/$name.pid" &
	until_true 30 has_pid "$name" || fail "no process on $i"
}

pid_of()
{
	cat "/tmp/$1.pid"
}

# left INSTANCE...: nothing of this runs there any more
left()
{
	local i

	for i; do
		on "$i" "pkill -x copies; true"
	done
	rm -f /dev/shm/open /dev/shm/closed /dev/shm/mine
}
