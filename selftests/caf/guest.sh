# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of coarrays over instances in a machine.
. /usr/lib/mios/selftests/lib/instances.sh
. /usr/lib/mios/selftests/lib/leftovers.sh

HEAT=/usr/lib/mios/guest/heat
# Two images on each of three instances of one CPU.
CAF="mios run --on 0,1,2 -n 6 -p 2 -s"

caf()
{
	$CAF "$@"
}

# places: how many images on which hosts, as heat says on standard input
places()
{
	sed -n 's/^image [0-9]* on //p' | sort | uniq -c | xargs
}
