# SPDX-License-Identifier: GPL-2.0
"""Plain boots to compare "mios boot" with: one CPU, one node, no MIOS ring.

Kernel and initrd are those that the instances boot.  In a plain machine that
initrd loads the same modules, which make an instance 0 with a ring of its
own, and says so in the same line: there the clock stops.  QEMU's firmware is
part of the time, as is in "mios boot" the way of the node out of instance 0.
"""
import re
import subprocess
import tempfile
import time
import pathlib

import machines

LIMIT = 120
MARK = re.compile(rb"\[\s*(\d+\.\d+)\] mios-init: instance \d+ has joined")


class PlainBoot:
    """Boots plain machines with the initrd of a test machine."""

    def __init__(self, vm):
        self.kernel = vm.kernel
        self.accel = vm.accel
        self.append = "" if vm.accel == "kvm" else \
            machines.machine.tcg_words(
                machines.machine.host_khz(), False)
        self.initrd = machines.OUT / "initrd"
        data = []
        status = vm.run(["sh", "-c", 'cat "$(mios-initrd --cached)"'],
                        data.append, lambda text: None, 120)
        self.initrd.write_bytes(b"".join(data))
        if status or not data:
            raise machines.BenchError("mios-initrd gave no initrd")

    def start(self, log):
        """One QEMU."""
        return subprocess.Popen(
            ["qemu-system-x86_64", "-machine", "q35,usb=off", "-accel",
             self.accel, "-cpu", "host" if self.accel == "kvm" else "max",
             "-smp", "1", "-m", "1G", "-nodefaults", "-display", "none",
             "-no-reboot", "-serial", f"file:{log}", "-kernel",
             str(self.kernel), "-initrd", str(self.initrd), "-append",
             "console=ttyS0,115200 loglevel=5 panic=-1 pid_range=1-65535 "
             f"no_ipi_broadcast=1 {self.append}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def boot(self, count=1):
        """(seconds until the last of them is there, its own clock then)."""
        with tempfile.TemporaryDirectory() as folder:
            logs = [pathlib.Path(folder) / f"log{i}" for i in range(count)]
            begin = time.monotonic()
            running = [self.start(log) for log in logs]
            try:
                return self.wait(logs, begin)
            finally:
                for process in running:
                    process.kill()
                    process.wait()

    @staticmethod
    def wait(logs, begin):
        """Look every five milliseconds, as timeboot does."""
        waiting = list(logs)
        inner = 0.0
        while waiting:
            if time.monotonic() - begin > LIMIT:
                raise machines.BenchError("a plain machine did not boot: "
                                          + waiting[0].read_text("latin-1")
                                          [-200:])
            time.sleep(0.005)
            for log in list(waiting):
                found = MARK.search(log.read_bytes()) if log.exists() else None
                if found:
                    inner = max(inner, float(found[1]))
                    waiting.remove(log)
        return time.monotonic() - begin, inner
