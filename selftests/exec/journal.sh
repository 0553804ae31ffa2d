# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the tests of mios journal: lines on three instances in turn.
. /usr/lib/mios/selftests/lib/instances.sh

# in_turn NAME: a line on each instance, each written when the one before has been
in_turn()
{
	for i in 2 0 1 0 2 1; do
		on "$i" "echo '$1 $i' > /dev/kmsg" || fail "no line on $i"
	done
}

order()
{
	for i in 2 0 1 0 2 1; do
		echo "$i: $1 $i"
	done
}

# said PATTERN: the instances and lines that match
said()
{
	mios journal > /tmp/journal || fail "mios journal"
	sed -n "s/^[^ ]* \([0-9]: $1\)$/\1/p" /tmp/journal
}
