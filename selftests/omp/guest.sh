# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of OpenMP over instances in a machine: guest/spread is a program
# that says where its members were.
. /usr/lib/mios/selftests/lib/instances.sh

SPREAD=/usr/lib/mios/guest/spread
# Two threads on each of three instances of one CPU.
TEAM="mios run --omp --on 0,1,2 -n 6 -p 2 -s"

team()
{
	$TEAM "$@"
}

# members: of which hosts, as spread says on standard input
members()
{
	sed -n 's/^member of //p' | sort | uniq -c | xargs
}

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

# left_nothing WHEN: neither files nor processes, on those that are up
left_nothing()
{
	local i

	is "$(files)" "" "no file is left $1"
	for i in 0 1 2; do
		! state_is $i up || until_true 20 no_process $i spread ||
			fail "instance $i has processes of the team $1"
	done
	ok "no process is left $1"
}
