# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests of how an instance ends by itself: it alone ends, everything is
# given back, and all that the others share with it is in order again.  WITNESS:
# what the instance does that lives to see it.
. "$(dirname "$0")/lib.sh"

need_knobs
everything_down
boots 3 "${WITNESS:-stay}"
witness=$(incarnation 3)
before=$(accounts)

# ending LIFE WORD-IN-THE-LOG
ending()
{
	boot 1 "$1" > /tmp/boot.log 2>&1
	becomes 1 down 30 "$1: its end is not noticed"
	mios log 1 > /tmp/log1 || fail "$1: no log of the dead instance"
	grep -q "tiny: joined, life=$1" /tmp/log1 || fail "$1: it never joined"
	grep -q "$2" /tmp/log1 || fail "$1: no '$2' in the log"
	same_accounts "$before" "after $1"
	sound "after $1" --died 1
	is "$(state 3)" up "the neighbour after $1"
	is "$(incarnation 3)" "$witness" \
		"the neighbour's incarnation after $1"
}
