# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by every test in shell, on the host and in a machine: what it demands,
# and how it ends.  "FAILED: " begins the one line that says what failed; others
# look for that word.

# What a test has to show before that line; a library may have more.
evidence()
{
	:
}

fail()
{
	evidence
	echo "FAILED: $*"
	exit 1
}

skip()
{
	echo "SKIPPED: $*"
	exit 77
}

# ok WHAT: this has been shown
ok()
{
	echo "ok: $*"
}

# builds TARGET...: make on the host, at the top of the tree; tests in two lanes
# want the same files, and lib/buildcache.py takes this lock for them, too
builds()
{
	mkdir -p build
	flock build/.lock make -s "$@" || fail "does not build"
}

# is VALUE EXPECTED WHAT
is()
{
	[ "$1" = "$2" ] || fail "$3: '$1', expected '$2'"
	ok "$3"
}

# until_true SECONDS COMMAND...: tries it ten times a second, whatever errors it
# prints; false if in vain.  It counts its tries, not the clock: that of a machine
# with a thread per CPU goes on while the host computes for others, and then what
# is waited for gets as little as these tries do.
until_true()
{
	local left=$(($1 * 10))

	shift
	until "$@" 2> /dev/null; do
		[ $((left -= 1)) -ge 0 ] || return 1
		sleep 0.1
	done
}

# await SECONDS COMMAND...: the same, and fails if in vain
await()
{
	until_true "$@" || fail "not within $1 s: $(shift; echo "$*")"
}

# refuses STATUS WORD COMMAND...: it ends with STATUS and says one line on
# stderr, which holds WORD.
refuses()
{
	local want=$1 word=$2 status=0 said

	shift 2
	said=$("$@" 2>&1 > /dev/null) || status=$?
	# On a busy host it may wait long enough to say so.
	said=$(echo "$said" | grep -v '^waiting for .* ([0-9]* s)$')
	[ "$status" = "$want" ] ||
		fail "'$*' ends with $status, expected $want ($said)"
	[ "$(echo "$said" | wc -l)" = 1 ] || fail "'$*' says '$said'"
	case $said in
	*"$word"*) ok "$* is refused" ;;
	*) fail "'$*' says '$said', which does not hold '$word'" ;;
	esac
}
