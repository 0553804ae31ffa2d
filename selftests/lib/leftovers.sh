# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced after instances.sh by tests of programs that are processes on several
# instances: what these leave.

# no_process INSTANCE NAME
no_process()
{
	! on "$1" "pgrep -x $2" > /dev/null
}

# files: in /mios, but for the folder that is /dev/shm
files()
{
	ls -A -I .shm /mios
}

# left_nothing NAME WHEN: neither files nor processes of that name, on those of
# the first three instances that are up
left_nothing()
{
	local i

	is "$(files)" "" "no file is left $2"
	for i in 0 1 2; do
		! state_is $i up || until_true 20 no_process $i "$1" ||
			fail "instance $i has processes of $1 $2"
	done
	ok "no process is left $2"
}
