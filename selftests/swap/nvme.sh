# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For on-nvme and on-paths: QEMU's NVMe device with two polled queues, and a program
# that reads its pages from it.
. "$(dirname "$0")/lib.sh"

PAGES=1500

# interrupts: of the device, on all CPUs
interrupts()
{
	awk '/nvme.q/ { sum += $2 + $3 } END { print sum }' /proc/interrupts
}

# right WHAT: what it has said
right()
{
	case $(cat /tmp/said) in
	"pages $PAGES wrong 0 lost 0 "*) ok "$1: $(cat /tmp/said)" ;;
	*) fail "$1: it has said '$(cat /tmp/said)'" ;;
	esac
}

# lost_some WHAT: it ends, and knows of each page whether it is right or lost
lost_some()
{
	wait "$LIVES"
	case $(cat /tmp/said) in
	"pages $PAGES wrong 0 lost "*) ok "$1: $(cat /tmp/said)" ;;
	*) fail "$1: it has said '$(cat /tmp/said)'" ;;
	esac
}

# reads HOW: all is right; what was counted
reads()
{
	local polled fallback interrupts

	echo "$1" > $SWAP/fault_io
	begins anon random $PAGES 1
	polled=$(counter polled)
	fallback=$(counter fallback)
	interrupts=$(interrupts)
	goes_on
	wait "$LIVES"
	INTERRUPTS=$(($(interrupts) - interrupts))
	POLLED=$(($(counter polled) - polled))
	FALLBACK=$(($(counter fallback) - fallback))
	right "$1, $INTERRUPTS interrupts, $POLLED polled, $FALLBACK fallen back"
}

# disk: SWAPDEV, whichever controller has come first
disk()
{
	SWAPDEV=$(find /dev -name 'nvme?n1')
	[ -b "$SWAPDEV" ]
}

# nvme: the driver and its device, with a group that is as large as it likes
nvme()
{
	[ -e $SWAP/fault_io ] || skip "a kernel without the series swap"
	insmod /mnt/host/nvme-core.ko || fail "no nvme-core"
	insmod /mnt/host/nvme.ko poll_queues=2 || fail "no nvme"
	await 10 disk
	group max
	swaps_to "$SWAPDEV"
	echo 0 > /proc/sys/vm/page-cluster
}
