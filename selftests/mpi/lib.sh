# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the MPI tests, which run inside instance 0 of a booted machine:
# makes all instances ready, and gives the work to an ordinary user.
. /usr/lib/mios/selftests/lib/instances.sh

work=/scratch/mpi-$$
ranks=8

# All that the program said goes into the log.
evidence()
{
	[ ! -s "$work/out" ] || head -n 80 "$work/out"
}

# The root file system's list names its package.
need()
{
	command -v "$1" > /dev/null || fail "$1 is not installed"
}

all_up()
{
	! cat "$SYS"/instance*/state | grep -vqx up
}

# hosts_are COUNT: so many are in the hostfile
hosts_are()
{
	[ "$(wc -l < /run/mios/hostfile)" = "$1" ]
}

# ready: all nodes up, in the hostfile and reached, whatever the test before
# left; and a folder of the user's.
ready()
{
	local nodes i

	nodes=$(ls -d "$SYS"/instance*[0-9] | wc -l)
	all_up || mios boot all
	all_up || fail "mios boot all does not bring all nodes up"
	until_true 60 hosts_are "$nodes" ||
		fail "the hostfile does not name $nodes instances"
	# An instance is up before all that it starts is.
	for i in $(seq 0 $((nodes - 1))); do
		until_true 200 timeout 60 mios exec "$i" -- true ||
			fail "mios exec $i does not work"
	done
	mkdir -p "$work"
	chown user "$work"
	# A rank that has been ended may leave a file behind.
	trap 'rm -rf "$work" 2> /dev/null || { sleep 5; rm -rf "$work"; }' EXIT
	cd "$work" || fail "no $work"
}

# as_user COMMAND...: bounded, in the shared folder
as_user()
{
	timeout "${limit:-300}" setpriv --reuid user --regid user \
		--init-groups env HOME=/home/user USER=user "$@"
}
