# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What two programs do by libglex, on one instance or on two: after test.sh, and
# with GLEXES, the program, and "on INSTANCE COMMAND...", which does not return before.
work=$(mktemp -d) || exit 1
SERVER=0
# Two numbers that are ours, whoever else of this user runs it on this kernel.
ONE=${ONE:-$(($$ % 32767 * 2))}
TWO=$((ONE + 1))
trap 'swept > /dev/null 2>&1; rm -rf "$work"' EXIT

# swept: nothing of ours is left there
swept()
{
	on "$SERVER" "pkill -f '[g]lexes serve ($ONE|$TWO) '"
	on "$SERVER" "rm -f /dev/shm/glex-*-$ONE /dev/shm/glex-*-$TWO"
}

DENIED="not possible there (glex_poll_error_req)"

says_address()
{
	grep -q " " "$work/$1"
}

# serves NAME NUM COUNT: on SERVER; NIC is its address there
serves()
{
	on "$SERVER" "$GLEXES serve $2 $3" > "$work/$1" 2>&1 &
	until_true 30 says_address "$1" || fail "$1 serves nothing: $(cat "$work/$1")"
	NIC=$(sed -n '1s/ .*//p' "$work/$1")
}

has_said()
{
	grep -q "$2" "$work/$1"
}

# all_of SERVER ASKER NIC: everything, one on this instance and one on that
all_of()
{
	SERVER=$1
	serves served "$ONE" 1001
	is "$NIC" "$3" "the server's number"
	on "$2" "$GLEXES ask $NIC $ONE 1000" > "$work/asked" 2>&1
	is "$(cat "$work/asked")" "another key: $DENIED: no such region there, its bounds, or the key
another handle: $DENIED: no such region there, its bounds, or the key
beyond its end: $DENIED: no such region there, its bounds, or the key
a collective: not implemented
got all
1000 packets there and back" "who asked"
	until_true 30 has_said served put || fail "the server: $(cat "$work/served")"
	is "$(tail -n 1 "$work/served")" "put all, event 5 6" "who served"

	# Its end is noticed, and the number is free again.
	serves killed "$TWO" 0
	is "$(on "$1" "$GLEXES serve $TWO 0" 2>&1)" \
		"endpoint: no endpoint: the number is taken" "a number that is taken"
	on "$2" "$GLEXES until $NIC $TWO" > "$work/until" 2>&1 &
	sleep 1
	on "$1" "pkill -KILL -f '[g]lexes serve $TWO '"
	until_true 30 has_said until end || fail "nobody notices that it has ended"
	is "$(cat "$work/until")" \
		"in the end: $DENIED: no such endpoint there, or its process has ended" \
		"who sent to it"
	serves again "$TWO" 1
	on "$2" "$GLEXES burst $NIC $TWO 1" > "$work/burst" 2>&1
	is "$(cat "$work/burst")" sent "who sent to the next one"
}
