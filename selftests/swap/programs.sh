# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of whole programs: one of them with all, 80, 60, 40 and 20 % of
# the memory that it has in use at once where nobody limits it, in each way of
# swapping, and with 60 % in parts of the new way (the paper's figures 8 and 9).
# Under icount an instruction takes four nanoseconds, so what is called ki,
# thousands of instructions, is the CPU time of its tasks, theirs and the
# kernel's for them; what is more of it with less memory is the kernel's.
. "$(dirname "$0")/lib.sh"

# in_group COMMAND...
in_group()
{
	# shellcheck disable=SC2016 # the inner shell's
	sh -c 'echo $$ > '$GROUP'/cgroup.procs; exec "$@"' sh "$@"
}

# way NAME: from now on; what a fault waits for, and what is read with it
way()
{
	local how=$1 cluster=3 ratio=0 device=/dev/nullb7

	case $1 in
	lent) how=plain device=/dev/mios_swap ;;
	# In parts: nothing is read ahead, so all is polled; reclaim elsewhere.
	poll-only) how=poll cluster=0 ;;
	poll-wmark) how=poll ratio=70 ;;
	esac
	echo $how > $SWAP/fault_io
	echo $cluster > /proc/sys/vm/page-cluster
	[ ! -e $GROUP/memory.wmark_ratio ] ||
		echo $ratio > $GROUP/memory.wmark_ratio
	swaps_to $device
}

# gathers: Linux decides by numbers that it gathers every two seconds whether pages
# are to become old in a group, and a program that has come to its end by then may
# be killed for want of memory, with all of its pages young and swap space empty.
# Who reads them has them gathered: a hundred times a second, as what has 20 MiB
# may have used all of it in a tenth.
gathers()
{
	python3 -c 'import sys, time
while not time.sleep(0.01):
    open(sys.argv[1]).read()' $GROUP/memory.stat &
	GATHERS=$!
}

# row PERCENT WAY: a run of it, which comes to the same as with all it wants
row()
{
	local before said faults

	way "$2"
	echo $((WORKING / 100 * $1)) > $GROUP/memory.max
	before="$(event max) $(counter polled) $(counter fallback)"
	before="$before $(counter interrupt)"
	said=$(program) || fail "$1 % $2: '$said'"
	echo max > $GROUP/memory.max
	[ "$(number sum "$said")" = "$SUM" ] || fail "$1 % $2: '$said', not $SUM"
	faults=$(number faults "$said")
	# shellcheck disable=SC2086 # several words
	set -- "$1" "$2" $before
	ROW="$1 % $2: faults $faults polled $(($(counter polled) - $4))"
	ROW="$ROW fallback $(($(counter fallback) - $5))"
	ROW="$ROW interrupt $(($(counter interrupt) - $6))"
	ROW="$ROW limit $(($(event max) - $3))"
	ROW="$ROW ki $(($(number cpu_us "$said") / 4))"
	ROW="$ROW more $((($(number cpu_us "$said") - ALL) / 4)) ms $(number \
		wall_ms "$said")"
	echo "$ROW"
	[ "$1" -gt 80 ] || [ "$faults" -gt 100 ] || fail "$1 % and no faults"
}

# polled: the last row's faults have all been looked for, if they were to be
polled()
{
	[ "$(number polled "$ROW")" -gt 0 ] || fail "nothing is polled: $ROW"
	[ "$(number fallback "$ROW")" = 0 ] || fail "not all is polled: $ROW"
}

# table NAME: all of it; "program" runs the program once, in the group.
# PERCENTS: with how much memory, if not with all of these
table()
{
	local percent way said

	up 1
	[ -e $SWAP/fault_io ] || skip "a kernel without the series swap"
	group max
	null_device nullb7 1 10000
	quietly mios lend 1 --size 96M
	borrows 0 64M
	said=$(program) || fail "$1, with all it wants: '$said'"
	WORKING=$(cat $GROUP/memory.peak)
	SUM=$(number sum "$said")
	ALL=$(number cpu_us "$said")
	ok "$1 in $((WORKING / 1024)) KiB: $said"
	gathers
	row 100 plain
	for percent in ${PERCENTS:-80 60 40 20}; do
		for way in plain poll lent; do
			row $percent $way
			[ $way != poll ] || polled
		done
	done
	row 60 first
	row 60 poll-only
	polled
	[ ! -e $GROUP/memory.wmark_ratio ] || row 60 poll-wmark
	kill $GATHERS
}
