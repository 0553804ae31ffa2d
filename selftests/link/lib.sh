# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the tests here, which run inside instance 0 of a test machine:
# probes, and the counters of mios.ko.
. /usr/lib/mios/selftests/lib/instances.sh

# probe KIND TARGET COUNT: sets failed, median, p99 (ns)
probe()
{
	echo "$1 $2 $3" > "$DEBUG/probe" || fail "probe $1 $2"
	read -r _ _ count failed _ median p99 _ < "$DEBUG/probe"
	[ "$count" = "$3" ] || fail "probe $1 $2: only $count"
}

# counters I: those of instance I, its debugfs mounted when needed
counters()
{
	on "$1" "[ -d $DEBUG ] || mount -t debugfs none /sys/kernel/debug
		cat $DEBUG/counters"
}

# counter I PEER CLASS NAME: one figure of instance I's channels with PEER
counter()
{
	counters "$1" | awk -v peer="$2" -v class="$3" -v name="$4" '
		$1 == "channel" && $2 == peer && $3 == class {
			for (i = 4; i < NF; i += 2)
				if ($i == name)
					print $(i + 1)
		}'
}

lost_doorbells()
{
	counters "$1" | awk '$1 == "ring" { sum += $4 } END { print sum + 0 }'
}
