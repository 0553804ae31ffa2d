# SPDX-License-Identifier: GPL-2.0
# Sourced by the tests here: instances with a root of a few files, which join
# within seconds and then do what the word life= on their command line says.
. /usr/lib/mios/selftests/lib/instances.sh

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
	cp "$(modinfo -n lkdtm)" $root/lkdtm.ko || fail "no lkdtm.ko"
	cp /usr/lib/mios/selftests/life/tiny-init $root/init
	(cd $root && find . | busybox cpio -o -H newc 2> /dev/null | gzip -1) > $TINY
}

# boot NODES LIFE [OPTION...]
boot()
{
	local nodes=$1 life=$2

	shift 2
	tiny
	mios boot "$nodes" --initrd $TINY --append "life=$life" --no-wait "$@"
}

# What instance 0 has: CPUs, and memory of each node, to the page.
accounts()
{
	cat /sys/devices/system/cpu/online
	grep -h MemTotal /sys/devices/system/node/node*/meminfo
}

# same_accounts BEFORE WHEN
same_accounts()
{
	is "$(accounts)" "$1" "CPUs and memory of instance 0 $2"
}

everything_down()
{
	local i

	for i in /sys/kernel/mios/instance[1-9]*; do
		i=${i##*instance}
		case $(state "$i") in
		up | booting | stopping) mios kill "$i" > /dev/null ;;
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
