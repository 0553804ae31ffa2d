# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of swapping: a program, guest/swaps.c, in a control group that
# is smaller than it, and devices to swap to.
. /usr/lib/mios/selftests/lib/instances.sh

SWAPS=/usr/lib/mios/guest/swaps
SWAP=/sys/kernel/mm/swap
GROUP=/sys/fs/cgroup/swaps
NULLB=/sys/kernel/config/nullb
WMARK=/sys/devices/virtual/workqueue/memcg_wmark
KNOBS=/sys/module/mios_swap/parameters
# Pages of the programs on lent memory.
PAGES=4000

# group BYTES: what runs in it is put out beyond that
group()
{
	echo +memory > /sys/fs/cgroup/cgroup.subtree_control
	mkdir -p $GROUP
	echo "$1" > $GROUP/memory.max
	# Only we swap, and what we count is ours.
	swapoff -a
}

# lives WORDS...: swaps in the group, with these words; what it says at its end
lives()
{
	# shellcheck disable=SC2016 # the inner shell's
	sh -c 'echo $$ > '$GROUP'/cgroup.procs; exec "$@"' sh $SWAPS "$@" |
		tail -n 1
}

# begins WORDS...: in the background; returns when all that it has is on the device
# and nowhere else; then it "goes_on", and says in /tmp/said
begins()
{
	rm -f /tmp/go
	mkfifo /tmp/go
	lives "$@" < /tmp/go > /tmp/said &
	LIVES=$!
	exec 9> /tmp/go
	await 60 sh -c "[ \$(cat $GROUP/memory.swap.current) -ge $(($3 * 4096)) ]"
	# What is being written stays until somebody looks for memory.
	sleep 5
	sh -c "echo 64M > $GROUP/memory.reclaim" 2> /dev/null
}

goes_on()
{
	exec 9>&-
}

# counter NAME: how many pages were read so
counter()
{
	awk -v name="swpin_$1" '$1 == name { print $2 }' /proc/vmstat
}

# null_device NAME POLL-QUEUES NS [WORD=VALUE...]: /dev/NAME, whose interrupt comes
# after so long
null_device()
{
	local dir=$NULLB/$1 polled=$2 ns=$3

	modprobe null_blk nr_devices=0 || fail "no null_blk"
	mountpoint -q /sys/kernel/config ||
		mount -t configfs configfs /sys/kernel/config
	mkdir "$dir"
	shift 3
	for word in size=64 blocksize=4096 memory_backed=1 irqmode=2 \
		submit_queues=1 "poll_queues=$polled" "completion_nsec=$ns" \
		"$@" power=1; do
		echo "${word#*=}" > "$dir/${word%=*}" ||
			fail "null_blk: $word"
	done
}

# swaps_to DEVICE: to this one alone
swaps_to()
{
	swapoff -a
	mkswap "$1" > /dev/null 2>&1 || fail "mkswap $1"
	swapon -p 5 "$1" || fail "swapon $1"
}

# number NAME TEXT: the one after NAME in "NAME NUMBER NAME NUMBER"
number()
{
	echo "$2" | sed "s/.*\\b$1 \\([0-9]*\\).*/\\1/"
}

# borrows INSTANCE SIZE: and swaps to it, and to nothing else
borrows()
{
	on "$1" "modprobe mios_swap && swapoff -a &&
		echo 0 > $KNOBS/size && echo $2 > $KNOBS/size" ||
		fail "instance $1 cannot borrow $2"
}

# lenders INSTANCE LINES WHAT: whose memory it has borrowed
lenders()
{
	is "$(on "$1" "cat $KNOBS/lenders" | tr '\n' ',')" "$2" "$3"
}

# lives_on: a program, the pages of which are out when this returns
lives_on()
{
	echo 4M > $GROUP/memory.max
	rm -f /tmp/go
	mkfifo /tmp/go
	lives anon random $PAGES 1 < /tmp/go > /tmp/said &
	LIVES=$!
	exec 9> /tmp/go
	await 60 sh -c "[ \$(cat $KNOBS/used) -ge $((PAGES * 4096)) ]"
}

# comes_back WORDS WHAT: it reads its pages, and says so.  By then it may have all
# of them: in so small a group Linux may not find what to put out in time.
comes_back()
{
	echo max > $GROUP/memory.max
	exec 9>&-
	wait $LIVES
	# shellcheck disable=SC2254 # a pattern
	case $(cat /tmp/said) in
	$1) ok "$2: $(cat /tmp/said)" ;;
	*) fail "$2: it has said '$(cat /tmp/said)'" ;;
	esac
}

# event NAME: how often it was so for the group and those in it
event()
{
	awk -v name="$1" '$1 == name { print $2 }' $GROUP/memory.events
}

# wmark_group: the group, and a device that it swaps to
wmark_group()
{
	PAGES=2000
	group 3M
	[ -e $GROUP/memory.wmark_ratio ] ||
		skip "a kernel without the series reclaim"
	null_device nullb7 1 1000
	swaps_to /dev/nullb7
	echo 0 > /proc/sys/vm/page-cluster
}

# grows_slowly LIMIT RATIO: how often a program comes to memory.LIMIT of the group
# that comes back to its pages one after another, with a pause after each
grows_slowly()
{
	local before

	echo 0 > $GROUP/memory.wmark_ratio
	echo max > $GROUP/memory.high
	echo 3M > $GROUP/memory.max
	begins anon random $PAGES 1 1
	if [ "$1" = high ]; then
		echo 3M > $GROUP/memory.high
		echo max > $GROUP/memory.max
	fi
	echo "$2" > $GROUP/memory.wmark_ratio
	before=$(event "$1")
	goes_on
	wait "$LIVES"
	case $(cat /tmp/said) in
	"pages $PAGES wrong 0 lost 0 "*) echo $(($(event "$1") - before)) ;;
	*) fail "it has said '$(cat /tmp/said)'" ;;
	esac
}
