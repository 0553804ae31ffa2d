# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For tests of PCI functions that are given to instances: the machine's spare
# disks.
. /usr/lib/mios/selftests/lib/instances.sh

# spare NUMBER: the PCI address of that one of --spares, wherever it is
spare()
{
	local slot

	for slot in /sys/bus/pci/devices/*; do
		[ "$(cat "$slot/class")" = 0x060400 ] && echo "$slot"
	done | sed -n "$(($1 + 1))p" | while read -r slot; do
		basename "$slot"/0000:*
	done
}

# disk_of ADDRESS: its name on this instance
disk_of()
{
	ls /sys/bus/pci/devices/"$1"/virtio*/block
}

# master ADDRESS: yes or no, is bus mastering on?
master()
{
	local command

	command=$(od -An -tu1 -j4 -N1 /sys/bus/pci/devices/"$1"/config)
	[ $((command & 4)) = 0 ] && echo no || echo yes
}

# on_disk INSTANCE: the sum of what the first 4 MiB there hold
on_disk()
{
	on "$1" "head -c 4M /dev/vda | md5sum"
}

# install_on DISK: what the packages of mios have, into the root on it, which stays on
# /media: below /mnt the host may still be mounting what is shared
install_on()
{
	mount "$1" /media || fail "$1 has no root"
	(cd / && tar -c usr/lib/mios usr/bin/mios* usr/sbin/mios* usr/share/mios \
		usr/lib/systemd/system/mios* \
		usr/lib/systemd/system-generators/mios* boot/vmlinuz-* \
		usr/lib/modules) |
		tar -x -C /media --keep-directory-symlink || fail "no room on $1"
}
