# SPDX-License-Identifier: GPL-2.0
"""For tests of an instance with a root of its own: the spare disk with one, made
ready, and what is to be seen when instance 0 is gone.  Used by devices/40 and 41."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "lib"))
from outside import heard, run                               # noqa: E402

BOOT = 600          # systemd under emulation
# Debian's own systemd-sysv is not in the image, nor are ssh's keys.
PREPARE = """set -e
. /usr/lib/mios/selftests/devices/lib.sh
disk=$(spare 0)
install_on /dev/$(disk_of $disk)
echo of its own > /media/etc/mark
rm -f /media/etc/hostname
chroot /media ssh-keygen -A
chroot /media useradd -M only-there
for name in poweroff reboot halt; do ln -sf /bin/systemctl /media/sbin/$name; done
cat > /media/usr/local/sbin/after <<'END'
#!/bin/sh
exec > /dev/kmsg 2>&1
echo on > /proc/sys/kernel/printk_devkmsg
until [ "$(cat /sys/kernel/mios/host)" = 1 ]; do sleep 1; done
{after}
echo "own: done"
END
chmod 755 /media/usr/local/sbin/after
umount /media
mios set give.1=$disk root.1=LABEL=mios-root
"""


def prepare(vm, after):
    """The disk, and settings for instance 1; after: what the program of that name
    there does once instance 0 has died and 1 is host, with lines "own: ..."."""
    run(vm, PREPARE.replace("{after}", after))


def dies(vm, instance, expected):
    """Instance 0 panics; what the program says then on that instance."""
    run(vm, f"mios exec -d {instance} -- /usr/local/sbin/after")
    vm.watch.excuse(r"instance \d: .*(?:Kernel panic|sysrq: |rcu:|nfs:)")
    run(vm, "(sleep 1; echo 1 > /proc/sys/kernel/sysrq; "
        "echo c > /proc/sysrq-trigger) > /dev/null 2>&1 &")
    for words in (*expected, "done"):
        heard(vm, instance, f"own: {words}", "it does not outlive instance 0")
