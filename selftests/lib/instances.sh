# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests that run in instance 0 of a test machine: a test says
# what it needs with "up", and ends with the one line that failed.

fail()
{
	echo "FAILED: $*"
	exit 1
}

# is VALUE EXPECTED WHAT
is()
{
	[ "$1" = "$2" ] || fail "$3: '$1', expected '$2'"
}

state()
{
	cat "/sys/kernel/mios/instance$1/state"
}

# Boots those of the named instances that are not up.
up()
{
	local i down=

	for i; do
		[ "$(state "$i")" = up ] || down="$down,$i"
	done
	[ -z "$down" ] || mios boot "${down#,}" ||
		fail "instances ${down#,} do not boot"
}

# until_true SECONDS COMMAND...: tries it ten times a second
until_true()
{
	local end=$(($(date +%s) + $1))

	shift
	until "$@"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}

# on INSTANCE SHELL-WORDS...
on()
{
	local there=$1

	shift
	if [ "$there" = 0 ]; then
		sh -c "$*"
	else
		mios exec "$there" -- sh -c "$*"
	fi
}

is_down()
{
	[ "$(state "$1")" = down ]
}

# refuses STATUS WORD COMMAND...: it ends with STATUS and says one line on
# stderr, which holds WORD.
refuses()
{
	local want=$1 word=$2 status=0
	shift 2
	said=$("$@" 2>&1 > /dev/null) || status=$?
	# On a busy host it may wait long enough to say so.
	said=$(echo "$said" | grep -v '^waiting for .* ([0-9]* s)$')
	is "$status" "$want" "exit status of '$*' ($said)"
	is "$(echo "$said" | wc -l)" 1 "lines that '$*' says ($said)"
	case $said in
	*"$word"*) ;;
	*) fail "'$*' says '$said', which does not hold '$word'" ;;
	esac
}
