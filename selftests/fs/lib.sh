# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of miosfs: /mios, which is mounted in every instance, and a pool
# in node 0 beside it, which the test mounts.
. /usr/lib/mios/selftests/lib/instances.sh

KNOBS=/sys/module/mios_fs/parameters
# What the "machine:" line of each test sets aside.
POOL=64M@0x20000000
AT=/tmp/mios

need_knobs()
{
	[ -e "$KNOBS/inject_elsewhere" ] || skip "modules without knobs"
}

# mounts OPTIONS INSTANCE...
mounts()
{
	local options=$1 i

	shift
	for i; do
		on "$i" "modprobe mios_fs && mkdir -p $AT &&
			mount -t miosfs -o $options mios $AT" ||
			fail "instance $i cannot mount with $options"
	done
}

# ring_mounted: /mios and /dev/shm, where a test before has unmounted them
ring_mounted()
{
	local i

	for i in 0 1 2; do
		on $i "mountpoint -q /mios || mount -t miosfs mios /mios
			grep -q ' /dev/shm miosfs ' /proc/mounts ||
				mount --bind /mios/.shm/files /dev/shm" ||
			fail "instance $i cannot mount /mios"
	done
}

# unmounts INSTANCE...: the ring's, too, and unloads
unmounts()
{
	local i

	for i; do
		on "$i" "umount $AT && { ! mountpoint -q /mios ||
				umount /dev/shm /mios; } && rmmod mios_fs" ||
			fail "instance $i cannot unmount"
	done
}

# counted: pages of the pool that are not free, as the file system counts them
counted()
{
	stat -f -c '%b %f' $AT | { read -r all free; echo $((all - free)); }
}

# used: the same, as the pool's records say; a death may put the other one out
used()
{
	python3 -c "import os
lines = os.getxattr('$AT', 'mios.pool').decode().splitlines()
print(sum(sum(map(int, pages.split(':')[1:])) for line in lines
          for pages in line.split()[4:]))"
}

# wrong WORDS OPTIONS [INSTANCE]: such a mount is refused, with WORDS
wrong()
{
	local said

	on "${3:-0}" "dmesg -C; mkdir -p $AT
		mount -t miosfs -o '$2' mios $AT && exit 1
		dmesg" > /tmp/said 2>&1 || fail "mounted with '$2'"
	said=$(grep -c "miosfs.*$1" /tmp/said) || {
		cat /tmp/said
		fail "'$2' is refused, but nobody says '$1'"
	}
	ok "refused: $1 ($said)"
}

# seen WORDS INSTANCE...: each finds the tree of the pool like this
seen()
{
	local words=$1 i

	shift
	for i; do
		is "$(on "$i" "cd $AT && find . | sort | tr '\n' ' '")" \
			"$words" "the tree on instance $i"
	done
}

# For large pages of files.
LARGE=$((2 << 20))
PAGE=4096

# holds_large NAME INSTANCE FILE: has it mapped, by large pages
holds_large()
{
	on "$2" "rm -f /tmp/$1.*"
	on "$2" "exec python3 $HERE/holder.py $AT/$3 $1 large" \
		> "/tmp/$1.log" 2>&1 &
}

# sees_pages NAME INSTANCE: how many pages begin with what
sees_pages()
{
	on "$2" "touch /tmp/$1.ask
		for i in \$(seq 400); do
			[ -e /tmp/$1.ask ] || exec cat /tmp/$1.said
			sleep 0.05
		done
		echo nothing" | tr ' ' '\n' | uniq -c | sed 's/^ *//' | paste -sd ' '
}

# large_of FILE: how many of its 2 MiB can be mapped as one
large_of()
{
	python3 -c "import os; print(os.getxattr('$1', 'mios.large').decode())"
}

# touched_by_all: by a program on each instance at once, how much of it is large
touched_by_all()
{
	truncate -s $((4 * LARGE)) $AT/all
	for i in 0 1 2; do
		on $i "exec python3 $HERE/large.py race $AT/all $i" \
			> "/tmp/race$i" 2>&1 &
	done
	sleep 3
	touch $AT/go
	wait
	cat /tmp/race[012]
	TOUCHED=$(large_of $AT/all)
	rm $AT/all $AT/go
}
