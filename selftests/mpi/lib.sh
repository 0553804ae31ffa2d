# SPDX-License-Identifier: GPL-2.0
# Sourced by the MPI tests, which run inside instance 0 of a booted machine:
# brings all instances up, gives the work to an ordinary user, and says in
# one line what failed.

work=/scratch/mpi-$$
ranks=8

# All that the program said goes into the log, then the one line.
fail() {
	[ ! -s "$work/out" ] || head -n 80 "$work/out"
	echo "FAIL: $*"
	exit 1
}

skip() {
	echo "SKIP: $*"
	exit 77
}

# The root file system's list names its package.
need() {
	command -v "$1" >/dev/null || fail "$1 is not installed"
}

all_up() {
	cat /sys/kernel/mios/instance*/state | grep -vqx up && return 1
	return 0
}

# An instance is up before all that it starts is.
reachable() {
	for _ in $(seq 60); do
		timeout 60 mios exec "$1" -- true 2> /dev/null && return 0
		sleep 1
	done
	timeout 60 mios exec "$1" -- true
}

# All nodes up and in the hostfile, whatever the test before left.
up() {
	local nodes i

	nodes=$(ls -d /sys/kernel/mios/instance*[0-9] | wc -l)
	all_up || mios boot all
	all_up || fail "mios boot all does not bring all nodes up"
	for i in $(seq 600); do
		[ "$(wc -l < /run/mios/hostfile)" = "$nodes" ] && break
		sleep 0.1
	done
	[ "$(wc -l < /run/mios/hostfile)" = "$nodes" ] ||
		fail "the hostfile does not name $nodes instances"
	for i in $(seq 0 $((nodes - 1))); do
		reachable "$i" || fail "mios exec $i does not work"
	done
	mkdir -p "$work"
	chown user "$work"
	# A rank that has been ended may leave a file behind.
	trap 'rm -rf "$work" 2> /dev/null || { sleep 5; rm -rf "$work"; }' EXIT
	cd "$work" || fail "no $work"
}

# as_user COMMAND...: bounded, in the shared folder
as_user() {
	timeout "${limit:-300}" setpriv --reuid user --regid user \
		--init-groups env HOME=/home/user USER=user "$@"
}
