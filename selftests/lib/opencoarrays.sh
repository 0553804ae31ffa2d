# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by what runs Debian's compiled OpenCoarrays tests.

# shellcheck disable=SC2034 # who sources it uses it
tests=$(echo /usr/lib/x86_64-linux-gnu/open-coarrays/openmpi/bin/OpenCoarrays-*-tests)

# images TEST: how many it wants
images()
{
	case $1 in
	issue-515-* | issue-552-*) echo 2 ;;
	increment_my_neighbor) echo 3 ;;
	sync_team | team_number | issue-488-* | issue-493-*) echo 8 ;;
	*) echo 4 ;;
	esac
}

# words TEST: what it wants to be told
words()
{
	case $1 in
	issue-488-*) echo true ;;
	esac
}

# passed TEST FILE: fails unless what it has said, in the file, says so
passed()
{
	# Silence is no success of one that has a word for it.
	! grep -aq "Test passed" "$tests/$1" || grep -aq "Test passed" "$2" ||
		fail "$1 does not say that it has passed"
	! grep -aqiE "test failed|error stop" "$2" ||
		fail "$1: $(grep -aiE 'failed|error' "$2" | head -n 1)"
}
