# SPDX-License-Identifier: GPL-2.0
"""Three instances booted at once, against three plain machines at once.

Four virtual CPUs: on a host with fewer cores the figure is shown and says
that it resolves nothing.
"""
import os

import machines
import plainboot
from figures import Figure

TITLE = "Three boots at once"
ROUNDS_ON_FEW_CORES = 5
KILL = "for i in 1 2 3; do mios kill $i; done"


def measure(rounds):
    """(facts, figures)."""
    figure = Figure("boot, three at once", "mios boot 1 2 3, until the last "
                    "has joined", "three plain machines", "s")
    if (os.cpu_count() or 1) < 4:
        figure.unfit = f"4 virtual CPUs on {os.cpu_count()} cores"
        rounds = min(rounds, ROUNDS_ON_FEW_CORES)
    vm = machines.make("--nodes", "4")
    with vm:
        machines.shell(vm, "cp /mnt/host/timeboot /tmp; mios boot all;"
                       + KILL)
        plain = plainboot.PlainBoot(vm)
        for _ in machines.turns(rounds):
            machines.pause(vm)
            plain_s, _ = plain.boot(3)
            machines.resume(vm)
            joined = int(machines.shell(vm, "/tmp/timeboot 1 2 3").split()[0])
            machines.shell(vm, KILL)
            figure.add(joined / 1e9, plain_s)
        machines.check_logs(vm)
        said = machines.facts(vm)
    return said, [figure]
