# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests here: instances with a root of a few files, which join
# within seconds and then do what the word life= on their command line says.
. /usr/lib/mios/selftests/lib/instances.sh

HERE=$(dirname "$0")
KNOBS=/sys/module/mios/parameters
TINY=/run/mios-tiny.img

# The smallest init that reaches the sync point.
tiny()
{
	local root=/run/mios-tiny

	[ ! -e $TINY ] || return 0
	mkdir -p $root/bin $root/proc $root/sys $root/dev
	cp /bin/busybox $root/bin/ || fail "no static busybox"
	cp "$(modinfo -n mios)" $root/mios.ko || fail "no mios.ko"
	cp "$(modinfo -n mios_net)" $root/mios_net.ko || fail "no mios_net.ko"
	cp "$(modinfo -n mios_console)" $root/mios_console.ko ||
		fail "no mios_console.ko"
	cp "$(modinfo -n lkdtm)" $root/lkdtm.ko || fail "no lkdtm.ko"
	cp /usr/lib/mios/selftests/life/tiny-init $root/init
	(cd $root && find . | busybox cpio -o -H newc 2> /dev/null) > $TINY
}

# boot NODES LIFE [OPTION...]; LIFE may bring more words with it
boot()
{
	local nodes=$1 life=$2

	shift 2
	tiny
	mios boot "$nodes" --initrd $TINY --append "life=$life" --no-wait "$@"
}

# A CPU that waits by cpu_relax() for ever gives its turn away each time; where
# no other computes, the clock, which counts instructions, stands nearly still.
compute_beside()
{
	nice -n 19 sh -c 'while :; do :; done' &
	computing=$!
}

# What instance 0 has: CPUs, and memory of each node, to the page.
accounts()
{
	"$HERE/accounts.py" exact
}

# sound WHEN [OPTION...]: is all that the instances share in order?  The
# options are area-check's.
sound()
{
	local when=$1 said

	[ -e /sys/kernel/debug/mios/area ] || fail "$1: nothing to look at"
	shift
	said=$(/usr/lib/mios/guest/area-check "$@") ||
		fail "$when: $(echo "$said" | wc -l) findings: $(echo "$said" |
			head -n 4 | tr '\n' ';')"
	said=$("$HERE/accounts.py" heads) || fail "$when: $said"
}

# same_accounts BEFORE WHEN; if not, says what was, what is, and whether it is
# still so a little later.
same_accounts()
{
	local now

	now=$(accounts)
	[ "$now" != "$1" ] || return 0
	sleep 3
	echo "$1" > /tmp/accounts
	echo "$now" | diff /tmp/accounts -
	accounts | cmp -s /tmp/accounts && set -- "$1" "$2, for a moment"
	fail "CPUs and memory of instance 0 are not as before $2"
}

everything_down()
{
	local i

	for i in /sys/kernel/mios/instance[1-9]*; do
		i=${i##*instance}
		case $(state "$i") in
		up | booting | stopping | held) mios kill "$i" > /dev/null ;;
		esac
		until_true 30 is_down "$i" || fail "instance $i stays $(state "$i")"
	done
}

need_knobs()
{
	[ -e "$KNOBS/fault_leave_cpu" ] || {
		echo "skipped: modules without fault knobs"
		exit 77
	}
}

# failed_for WORDS TEST: the line with which TEST failed, in /tmp/knob.log, is
# the one that a broken guarantee brings; else all of it is worth reading.
failed_for()
{
	! grep -q "^FAILED: .*\($1\)" /tmp/knob.log || return 0
	tail -n 40 /tmp/knob.log
	fail "$2 failed for another reason than '$1'"
}

# must_fail KNOB VALUE TEST WORDS-IN-ITS-LINE: a line of the file "knobs"
must_fail()
{
	local knob=$KNOBS/fault_$1 setting=

	case $1 in
	*=*) knob=/dev/null setting=$1 ;;
	esac
	# What the test before has left up must not end with the knob on.
	everything_down
	echo "$2" > "$knob" || fail "no knob $1"
	env $setting "$HERE/$3" > /tmp/knob.log 2>&1
	status=$?
	echo 0 > "$knob"
	is $status 1 "exit status of $3 with $1 on"
	failed_for "$4" "$3"
	echo "$1: $3 fails: $(grep "^FAILED: " /tmp/knob.log | tail -n 1)"
	everything_down
	# CPUs that were left behind come back with a round trip.
	[ "$1" != leave_cpu ] || {
		boot 1,2,3 stay > /dev/null 2> /tmp/boot.log ||
			fail "$(tail -n 1 /tmp/boot.log)"
		mios kill 1,2,3 > /dev/null || fail "mios kill 1,2,3"
	}
}

# broken_ones: lines of the file "knobs", in an order that SEED draws
broken_ones()
{
	grep -v '^#' "$HERE/knobs" | awk -v seed="${SEED:-0}" \
		'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -g | cut -f 2-
}

# each_must_fail: those on stdin
each_must_fail()
{
	local knob value test words

	while read -r knob value test words; do
		must_fail "$knob" "$value" "$test" "$words" < /dev/null
	done
}
