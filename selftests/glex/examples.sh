# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The examples of libglex, on one instance or on several: after test.sh, and with
# PROGRAMS, where they are, and "on INSTANCE COMMAND...".
work=$(mktemp -d) || exit 1
# Numbers that are ours, whoever else of this user runs it on this kernel.
BASE=$(($$ % 8000 * 8))
trap 'swept > /dev/null 2>&1; rm -rf "$work"' EXIT

swept()
{
	for instance in $ALL; do
		on "$instance" "pkill -f '[k]vs serve $BASE'"
	done
}

# halo INSTANCE...: a process on each; the first one's result
halo()
{
	local addresses="" rank=0 instance

	for instance; do
		addresses="$addresses $instance:$((BASE + rank))"
		rank=$((rank + 1))
	done
	rank=0
	for instance; do
		on "$instance" "$PROGRAMS/halo $rank$addresses" > "$work/halo$rank" 2>&1 &
		rank=$((rank + 1))
	done
	wait
	cat "$work/halo0"
}

says_address()
{
	grep -q "^[0-9]* $BASE\$" "$work/server"
}

# kvs INSTANCE WORDS...
kvs()
{
	local instance=$1

	shift
	on "$instance" "$PROGRAMS/kvs $*" 2>&1
}

# all_of SERVER CLIENT OTHER: instances
all_of()
{
	local first

	ALL="$*"
	first=$(halo "$1")
	[ "${first%: *}" = "after 100 steps" ] || fail "one process: $first"
	is "$(halo "$1" "$2")" "$first" "two processes"
	is "$(halo "$2" "$3" "$1")" "$first" "three processes"

	kvs "$1" serve "$BASE" > "$work/server" &
	until_true 30 says_address || fail "nobody serves: $(cat "$work/server")"
	is "$(kvs "$2" set "$1" "$BASE" name value)" "" "a value is set"
	is "$(kvs "$3" get "$1" "$BASE" name)" value "it is there"
	kvs "$3" get "$1" "$BASE" other > "$work/other" && fail "what was not set is there"
	is "$(cat "$work/other")" "" "what was not set"
	kvs "$3" fill "$1" "$BASE" here 100 > "$work/third" &
	is "$(kvs "$2" fill "$1" "$BASE" there 100)" "100 values" "one fills it"
	until_true 30 grep -q "100 values" "$work/third" || fail "another: $(cat "$work/third")"
	kvs "$2" stop "$1" "$BASE" || fail "it does not stop"
	wait
	is "$(kvs "$2" get "$1" "$BASE" name)" \
		"kvs: send: not possible there (glex_poll_error_req)" "it is gone"
}
