# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2086
# Nodes of a DSM cluster, each in a network namespace of its own, on one switch
# that learns no address, so that all see all frames:
#
#	dsm0 eth0 --- port0 +------+
#	dsm1 eth0 --- port1 | sw0  | probe --- probe1 (somebody else)
#	dsm2 eth0 --- port2 +------+
#
# Sourced behind test.sh by tests that are root; build makes it all.  With KEYED=1
# nodes have a key.
work=$(mktemp -d) || exit 1
name=dsm$$ others=
wire=--trust-wire	# or --key FILE

leave()
{
	[ -z "$others" ] || kill $others
	for i in 0 1 2 switch; do
		ip netns del "$name-$i" 2> /dev/null
	done
	rm -rf "$work"
}
trap leave EXIT

evidence()
{
	tail -n 6 "$work"/out?
}

switch()
{
	ip -n "$name-switch" "$@"
}

# In the namespace of node $1.
at()
{
	local node=$1
	shift
	ip netns exec "$name-$node" "$@"
}

build()
{
	ip netns add "$name-switch" && switch link add sw0 type bridge ageing_time 0 &&
	switch link set sw0 up || return
	for i in 0 1 2; do
		ip netns add "$name-$i" &&
		switch link add "port$i" type veth peer name eth0 \
			netns "$name-$i" &&
		switch link set "port$i" master sw0 up &&
		ip -n "$name-$i" link set eth0 up || return
	done
	switch link add probe type veth peer name probe1 &&
	switch link set probe master sw0 up && switch link set probe1 up ||
		return
	if [ -n "$KEYED" ]; then
		build/bin/mios-dsm key "$work/key" && wire="--key $work/key"
	fi
}

frames_of()
{
	switch link set sw0 mtu "$1"
	for i in 0 1 2; do
		switch link set "port$i" mtu "$1"
		ip -n "$name-$i" link set eth0 mtu "$1"
	done
}

# run_node K OPTION... PROGRAM...: doing no more than any run comes near
run_node()
{
	local node=$1
	shift
	at "$node" selftests/lib/limit "${LIMIT:-60}" build/bin/mios-dsm run -n 3 \
		--node "$node" $wire --interface eth0 --json "$work/json$node" "$@" \
		> "$work/out$node" 2>&1
}

# begin K OPTION... PROGRAM...: in the background; pid[K] is timeout's
declare -A pid
begin()
{
	local k=$1
	shift
	rm -f "$work/json$k"
	(exec ip netns exec "$name-$k" timeout -k 1 60 build/bin/mios-dsm run \
		$wire --interface eth0 --quiet --json "$work/json$k" "$@" \
		> "$work/out$k" 2>&1) &
	pid[$k]=$!
}

# node_of K: the process whose parent is timeout's child, mios-dsm run
node_of()
{
	pgrep -P "$(pgrep -P "${pid[$1]}")"
}

# nodes PROGRAM...: on all three; their exit statuses
nodes()
{
	local a b c
	run_node 1 "$@" & a=$!
	run_node 2 "$@" & b=$!
	run_node 0 "$@"; c=$?
	wait $a; a=$?
	wait $b; echo "$c $a $?"
}

good()
{
	is "$(nodes "$@")" "0 0 0" "${*##*/}${MIOS_DSM_TEST:+ ($MIOS_DSM_TEST)}"
}

# of FIELD: what the nodes count, added up
of()
{
	cat "$work"/json? | grep -o "\"$1\": [0-9]*" |
		awk '{ sum += $2 } END { print sum + 0 }'
}

# beside WHAT ARGUMENT [INTERFACE]: somebody else on the wire, until stop
beside()
{
	rm -f "$work/ready"
	(exec ip netns exec "$name-switch" selftests/dsm/native/wire.py "$1" \
		"${3:-probe1}" "$2" > "$work/ready") &
	others=$!
	until_true 20 grep -q ready "$work/ready" || fail "nobody beside"
}

stop()
{
	kill $others
	wait $others 2> /dev/null
	others=
}
