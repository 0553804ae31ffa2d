# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the tests here: two instances imitated on one kernel.
#
#   network, mount and UTS names 0        network, mount and UTS names 1
#   /sys/kernel/mios/self = 0           /sys/kernel/mios/self = 1
#   miosd                               miosd
#   mios0 10.77.0.1/24 ---- veth ------ mios0 10.77.0.2/24
#
# Both have the same key, as mios-host-setup and mios boot would see to it.
# Each miosd sits in a cgroup of its own, as it would on its own kernel.
# Everything that miosd learns from the kernel is a plain file here; nothing
# in the programs knows that they are under test.  Needs root.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/selftests/lib/test.sh"

[ "$(id -u)" = 0 ] || fail "needs root"
# miosd takes the first mount of cgroup v2.  Where there is none, or none that
# can be written to, the test makes one that it alone sees.
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -w "${cgroups:-/none}" ] || exec unshare --mount sh -c '[ -z "$1" ] || umount -l "$1"
	mount -t cgroup2 none /sys/fs/cgroup && exec "$0"' "$0" "$cgroups"

bin=${BIN:-$top/build/bin}
tmp=$(mktemp -d /tmp/mios-exec.XXXXXX)
chmod 755 "$tmp"
miosd_under=		# a command that runs what follows it
user="setpriv --reuid 4242 --regid 4243 --groups 4244,4245 --inh-caps=-all"

# What the miosds have said.
evidence() {
	tail -n 40 "$tmp"/*.log 2> /dev/null
}

# instance_files DIR SELF: /sys/kernel/mios of two instances
instance_files() {
	mkdir -p "$1"
	echo "$2" > "$1/self"
	for i in 0 1; do
		mkdir -p "$1/instance$i"
		(
			cd "$1/instance$i" || exit
			echo up > state; echo 0 > ring; echo 1 > incarnation
			echo $i > node; nproc > cpus; echo 60 > uptime
			echo 1073741824 > memory; echo 536870912 > memory_free
			echo 0.00 0.00 0.00 1 > load; echo 10 20 > distance
			echo 0 > heartbeat_age; uname -r > release
		)
	done
}

# setup_instance I: runs inside the new namespaces, waits there
setup_instance() {
	mount --make-rprivate /
	hostname "node$1"
	mount -t tmpfs none /run
	mount -t tmpfs none /sys/kernel
	mount -t tmpfs none /sys/module
	mkdir -p /sys/module/mios/parameters
	mkdir /run/mios
	cp "$tmp/key" /run/mios/key
	instance_files /sys/kernel/mios "$1"
	ip link set lo up
	touch "$tmp/ready$1"
	exec sleep 100000
}

# in_instance I COMMAND...
in_instance() {
	i=$1; shift
	nsenter --target "$(cat "$tmp/pid$i")" --net --mount --uts \
		--wdns="$PWD" -- "$@"
}

start_miosd() {
	mkdir -p "$cgroups/mios-test-$$-$1"
	nsenter --target "$(cat "$tmp/pid$1")" --net --mount --uts -- sh -c \
		'echo $$ > "$0/cgroup.procs" && exec "$@"' \
		"$cgroups/mios-test-$$-$1" $miosd_under "$bin/miosd" \
		>>"$tmp/miosd$1.log" 2>&1 </dev/null &
	echo $! > "$tmp/miosd$1"
	await 60 in_instance "$1" test -S /run/mios/miosd.sock
}

# Waits for its end: one that still ends lets no other begin.
stop_miosd() {
	kill "$(cat "$tmp/miosd$1")"
	wait "$(cat "$tmp/miosd$1")" 2> /dev/null
}

setup() {
	[ -x "$bin/miosd" ] || fail "no $bin/miosd: make user"
	export -f setup_instance instance_files
	export tmp
	(umask 077; head -c 32 /dev/urandom > "$tmp/key")
	for i in 0 1; do
		unshare --net --mount --uts bash -c "setup_instance $i" &
		echo $! > "$tmp/pid$i"
	done
	trap teardown EXIT
	await 60 test -e "$tmp/ready0"
	await 60 test -e "$tmp/ready1"
	p0=$(cat "$tmp/pid0"); p1=$(cat "$tmp/pid1")
	in_instance 0 ip link add mios0 type veth peer name mios0 netns "$p1"
	for i in 0 1; do
		in_instance $i ip addr add 10.77.0.$((i + 1))/24 dev mios0
		in_instance $i ip link set mios0 up
		start_miosd $i
	done
	await 60 in_instance 1 bash -c "ss -Hltn | grep -q :301"
	await 60 in_instance 0 bash -c "ss -Hltn | grep -q :301"
}

teardown() {
	# One that was made to stand still would not end.
	[ -z "${p1-}" ] || pkill -CONT --ns "$p1" --nslist net -x miosd
	for f in "$tmp"/miosd? "$tmp"/pid?; do
		[ -e "$f" ] && kill "$(cat "$f")" 2>/dev/null
	done
	jobs -p | xargs -r kill 2> /dev/null
	wait 2> /dev/null
	# what was killed takes a moment to leave
	for _ in $(seq 100); do
		find "$cgroups"/mios-test-$$-? -depth -type d \
			-exec rmdir {} + 2>/dev/null && break
		[ -e "$cgroups/mios-test-$$-1" ] || break
		sleep 0.05
	done
	rm -rf "$tmp"
}

gone() {
	! pgrep -f "$1" > /dev/null
}

# scripted COMMAND...: shows what it said, and fails as it did
scripted() {
	local status=0

	"$@" > "$tmp/out" 2>&1 || status=$?
	cat "$tmp/out"
	[ $status = 0 ] || fail "$(tail -n 1 "$tmp/out" | sed 's/^FAILED: //')"
}
