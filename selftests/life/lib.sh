# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the tests here: instances with a root of a few files, which join
# within seconds and then do what the word life= on their command line says.
. /usr/lib/mios/selftests/lib/instances.sh

CHECKER=/usr/lib/mios/guest/area-check
TINY=/run/mios-tiny.img

# The smallest init that reaches the sync point.
tiny()
{
	local root=/run/mios-tiny module

	[ ! -e $TINY ] || return 0
	mkdir -p $root/bin $root/proc $root/sys $root/dev
	cp /bin/busybox $root/bin/ || fail "no static busybox"
	for module in mios mios_net mios_console lkdtm; do
		cp "$(modinfo -n $module)" $root/$module.ko ||
			fail "no $module.ko"
	done
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

# The same; what it says is told if it fails.
boots()
{
	quietly boot "$@"
}

# A CPU that waits by cpu_relax() for ever gives its turn away each time; where
# no other computes, the clock, which counts instructions, stands nearly still.
compute_beside()
{
	nice -n 19 sh -c 'while :; do :; done' &
	computing=$!
}
computing=

compute_no_more()
{
	[ -z "$computing" ] || kill "$computing"
	computing=
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

	[ -e "$DEBUG/area" ] || fail "$1: nothing to look at"
	shift
	said=$($CHECKER "$@") ||
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

	for i in "$SYS"/instance[1-9]*; do
		i=${i##*instance}
		case $(state "$i") in
		up | booting | stopping | held) mios kill "$i" > /dev/null ;;
		esac
	done
	# One may be dead until another, which does not acknowledge it, is, too.
	for i in "$SYS"/instance[1-9]*; do
		becomes "${i##*instance}" down 30
	done
}

# What the test before has left up must not end with a knob on.
settle()
{
	everything_down
}

# broken_ones: lines of the file "knobs", in an order that SEED draws
broken_ones()
{
	grep -v '^#' "$HERE/knobs" | awk -v seed="${SEED:-0}" \
		'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -g | cut -f 2-
}

# broken KNOB VALUE TEST WORDS: a line of that file
broken()
{
	local status=0

	case $1 in
	*=*)
		settle
		env "$1" "$HERE/$3" > /tmp/knob.log 2>&1 || status=$?
		is $status 1 "exit status of $3 with $1"
		failed_for "$4" "$3"
		settle ;;
	leave_cpu)
		must_fail "$@"
		# Those left behind come back with a round trip.
		boots 1,2,3 stay
		quietly mios kill 1,2,3 ;;
	*)
		must_fail "$@" ;;
	esac
}

# all_broken: those on stdin
all_broken()
{
	local knob value test words

	while read -r knob value test words; do
		broken "$knob" "$value" "$test" "$words" < /dev/null
	done
}

# kept LIFE: the node of a dead instance 1 is, by an instance 3 that lives so
kept()
{
	dmesg -C
	boots 3 "$1"
	boots 1 stay
	away=$(accounts)
	refuses 1 "instance 3 has not let go of it" mios kill 1 --timeout 3
	is "$(state 1)" dead "state of 1 before a listener has let go of it"
	is "$(accounts)" "$away" \
		"CPUs and memory before a listener has let go of 1"
	dmesg | grep -q "instance 1 is dead, but 3 of the instances have not" ||
		fail "nobody says for whom node 1 is kept"
	refuses 1 "is kept for those" mios boot 1 --initrd $TINY --no-wait
}
