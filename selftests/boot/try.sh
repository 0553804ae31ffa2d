# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by the tests of mios check --try: a machine on which mios is not loaded, and
# whose part 1 instance 0 does not use, as after a boot; and is it what it was?
. /usr/lib/mios/selftests/lib/instances.sh

trial=/sys/module/mios/parameters/trial

# What a trial must not change.  hostfile is miosd's, which writes it when it likes.
snapshot()
{
	cut -d ' ' -f 1 /proc/modules | sort
	cat /sys/devices/system/cpu/online /proc/iomem /proc/self/mounts
	grep -e MemTotal -e HugePages_Total /proc/meminfo
	find /run /etc /tmp /var/cache /dev -xdev -path /tmp/try -prune -o -type f \
		! -path /run/mios/hostfile -printf '%p %m %T@ %s\n' -o \
		! -type f ! -name 'pts*' -printf '%p %m\n'
}

# unchanged WHEN
unchanged()
{
	snapshot > /tmp/try/after
	diff /tmp/try/before /tmp/try/after > /tmp/try/diff ||
		fail "$1: not as it was: $(grep '^[<>]' /tmp/try/diff | head -n 5)"
	ok "$1: all is as it was"
}

is_trial()
{
	[ "$(cat $trial)" = Y ]
}

# up_for_trial: it is in the midst of it
up_for_trial()
{
	is_trial && state_is 1 up
}

no_mios()
{
	[ ! -e /sys/module/mios ]
}

# The words of the machine name a part of 128 MiB: instance 0 was lent no more.
# forget_parts: from now on there are none, and node 1 is one
forget_parts()
{
	sed 's/ mios\.parts=[^ ]*//' /proc/cmdline > /tmp/try/cmdline
	mount --bind /tmp/try/cmdline /proc/cmdline
}

evidence()
{
	[ ! -e /tmp/try/errors ] || tail -n 8 /tmp/try/errors
}

# begins [COMMAND...]: as after a boot without mios
begins()
{
	unmounted || fail "umount"
	rmmod mios_fs mios_console mios_net mios || fail "rmmod"
	mkdir /tmp/try
	"$@"
	# mios-rootd writes it when it has walked the root, once.
	until_true 60 [ -e /etc/mios/capabilities ] || fail "mios-rootd has no list"
	snapshot > /tmp/try/before
}
