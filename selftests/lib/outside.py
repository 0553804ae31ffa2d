# SPDX-License-Identifier: GPL-2.0
"""For tests that look at a machine from outside: those that stop it, end it or
kill its instance 0.  Used by selftests/link/36-paused and selftests/life."""
import os
import pathlib
import re
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "vm"))
import options                                               # noqa: E402

PARAMETERS = "/sys/module/mios/parameters/"
# Far above what is promised: the host may be busy.  Less where the test is
# meant to fail (life/soak-host-knobs).
BOUND = int(os.environ.get("MIOS_TEST_BOUND", "200"))


def fail(text):
    """The line that says what is wrong, and the end."""
    print("failed:", text)
    sys.exit(1)


def machine(nodes, *words):
    """A machine of so many nodes, not started; words: of mios-vm run."""
    return options.make_machine(options.parse(
        ["run", "--nodes", str(nodes), *words, "--", "true"])[0])


def run(vm, script, limit=120):
    """Output of a shell script in instance 0, which must succeed."""
    out = []
    status = vm.run(["sh", "-c", script], out.append, out.append, limit)
    text = b"".join(out).decode()
    if status:
        fail(f"{script}: {text.strip()[-300:]}")
    return text


def said(vm, instance, pattern):
    """The first match in an instance's log, or None."""
    vm.watch.check()
    log = vm.logs / f"instance{instance}.log"
    return log.exists() and re.search(pattern, log.read_text(errors="replace"))


def heard(vm, instance, pattern, why, limit=BOUND):
    """The same, waited for; instance 0 need not live."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        match = said(vm, instance, pattern)
        if match:
            return match
        if vm.process.poll() is not None:
            fail(f"{why}: the machine has ended")
        time.sleep(0.5)
    fail(f"{why}: instance {instance} never says '{pattern}'")


def ended(vm, limit=BOUND):
    """QEMU ends with the machine: it does not boot again (-no-reboot)."""
    end = time.monotonic() + limit
    while vm.process.poll() is None:
        if time.monotonic() > end:
            fail("the machine does not end")
        vm.watch.check()
        time.sleep(0.05)        # a node that is given back is overwritten


def no_faults(vm, when):
    """Nothing in any log that must not be there."""
    for fault in vm.settle():
        fail(f"{when}: {fault}")
