# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of OpenMP over instances in a machine: guest/spread is a program
# that says where its members were.
. /usr/lib/mios/selftests/lib/instances.sh
. /usr/lib/mios/selftests/lib/leftovers.sh

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
