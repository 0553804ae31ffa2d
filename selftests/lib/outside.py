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
    print("FAILED:", text)
    sys.exit(1)


def machine(nodes, *words):
    """A machine of so many nodes, not started; words: of mios-vm run."""
    return options.make_machine(options.parse(
        ["run", "--nodes", str(nodes), *words, "--", "true"])[0])


def tried(vm, script, limit=120):
    """Exit status and output of a shell script in instance 0."""
    out = []
    status = vm.run(["sh", "-c", script], out.append, out.append, limit)
    return status, b"".join(out).decode()


def run(vm, script, limit=120):
    """Output of one that must succeed."""
    status, text = tried(vm, script, limit)
    if status:
        fail(f"{script}: {text.strip()[-300:]}")
    return text


def said(vm, instances, pattern):
    """The first match in the log of an instance, or of several, or None."""
    vm.watch.check()
    for i in instances if isinstance(instances, tuple) else (instances,):
        log = vm.logs / f"instance{i}.log"
        match = log.exists() and re.search(pattern,
                                           log.read_text(errors="replace"))
        if match:
            return match
    return None


def show_ends(vm, instances):
    """What they have said last, for who reads why a test has failed."""
    for i in instances if isinstance(instances, tuple) else (instances,):
        log = vm.logs / f"instance{i}.log"
        lines = log.read_text(errors="replace") if log.exists() else "nothing"
        print(f"instance {i}, at the end of its log:",
              *lines.splitlines()[-20:], sep="\n  ")


def heard(vm, instances, pattern, why, limit=BOUND):
    """The same, waited for; instance 0 need not live."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        match = said(vm, instances, pattern)
        if match:
            return match
        if vm.process.poll() is not None:
            fail(f"{why}: the machine has ended")
        time.sleep(0.5)
    show_ends(vm, instances)
    fail(f"{why}: instance {instances} never says '{pattern}'")


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
