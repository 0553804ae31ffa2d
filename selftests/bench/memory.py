# SPDX-License-Identifier: GPL-2.0
"""What an instance has less of its node's memory than a plain machine."""
import json
import re

import machines
from figures import Count, Figure

TITLE = "Memory of an instance"
ROUNDS = 3

MEMORY = """
mios boot 1 > /dev/null
mios status --json
echo "child $(mios exec 1 -- awk '/^MemTotal|^MemAvailable/ { print $2 }' \\
	/proc/meminfo | xargs)"
mios kill 1 > /dev/null
"""


def measure(rounds):
    """(facts, figures).  It depends on no load: a few rounds are enough."""
    ours = machines.make("--nodes", "2")
    plain = machines.make("--nodes", "1", "--plain", modules=False)
    usable = Figure("memory that a kernel does not give to programs",
                    "instance 1, of a 1 GiB node", "plain machine of 1 GiB",
                    "KiB")
    with plain:
        total = int(machines.shell(
            plain, "awk '/^MemTotal/ { print $2 }' /proc/meminfo"))
    with ours:
        for _ in machines.turns(min(rounds, ROUNDS)):
            text = machines.shell(ours, MEMORY)
            child = int(re.search(r"^child (\d+)", text, re.M)[1])
            usable.add(2 ** 20 - child, 2 ** 20 - total)
        status = json.loads(text[:text.rindex("}") + 1])["instances"][1]
        machines.check_logs(ours)
        said = machines.facts(ours)
    area = [Count("cost as mios status has it", status["cost"] // 1024,
                  "KiB", None, "kernel, reserved ranges, its share of the ring area")]
    return said, [usable, *area]
