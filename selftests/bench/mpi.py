# SPDX-License-Identifier: GPL-2.0
"""MPI programs: two instances against one plain Linux machine per node.

   ours: one QEMU                      Linux: two QEMUs
  +------------+------------+      +------------+   +------------+
  | instance 0 | instance 1 |      |   node0    |   |   node1    |
  |   CPU 0    |   CPU 1    |      |   CPU 0    |   |   CPU 0    |
  +--- mios0 --+--- mios0 --+      +--- eth0 ---+   +--- eth0 ---+
                                          \\__ unix socket __/

The plain machines' network is virtio-net with the MTU of mios0, and a socket
between the two QEMUs.  Every frame there passes through both QEMUs' main
threads, for which the host's cores are shared: a wire, as between machines,
not memory.  So there is a second, stricter comparison: one plain machine with
two network name spaces, one per CPU, and veth between them.
"""
import re

import machines
from figures import Figure

TITLE = "MPI programs"
AIM = 1.03

# What both sides run; Open MPI's parameters but for host names and device.
PROGRAMS = r"""
lammps() {
	sed 's/^run.*/run 30/' /usr/share/lammps/examples/melt/in.melt \
		> /tmp/in.melt
	"$@" lmp -in /tmp/in.melt -log none |
		awk '/^Loop time/ { print "lammps", $4 }'
}
netpipe() {
	rm -f /tmp/np.out
	"$@" NPopenmpi -l 1 -u 65536 -p 0 -n 20 -o /tmp/np.out > /tmp/np.log 2>&1 ||
		cat /tmp/np.log
	awk '$1 == 1 || $1 == 65536 { print "netpipe-" $1, $3 }' /tmp/np.out
}
"""
RUN = PROGRAMS + """
cd /tmp
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
start() { timeout 200 mpirun %s -n 2 --map-by node "$@"; }
lammps start
netpipe start
"""
PLAIN_WORDS = ("--mca plm_rsh_agent '%s' --mca plm_rsh_no_tree_spawn 1 "
               "--mca oob_tcp_if_include %s --mca btl_tcp_if_include %s "
               "--mca hwloc_base_binding_policy %s --host %s")

SSH_KEY = """
set -e
mkdir -p /root/.ssh /run/sshd
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
tar -C /root -c .ssh | base64 -w0
"""
NETWORK = """
set -e
mios-mpi-setup remove
hostname node{own}
printf '10.98.0.1 node0\\n10.98.0.2 node1\\n' >> /etc/hosts
echo 'StrictHostKeyChecking no' > /etc/ssh/ssh_config.d/bench.conf
ip address add 10.98.0.{number}/24 dev eth0
ip link set eth0 mtu {mtu} up
ssh-keygen -A > /dev/null
mkdir -p /run/sshd
pidof sshd > /dev/null || /usr/sbin/sshd
"""
SPACES = """
set -e
mios-mpi-setup remove
for n in 0 1; do
	ip netns add node$n
	ip -n node$n link set lo up
done
ip -n node0 link add eth0 type veth peer name eth0 netns node1
for n in 0 1; do
	ip -n node$n address add 10.97.0.$((n + 1))/24 dev eth0
	ip -n node$n link set eth0 mtu {mtu} up
done
printf '10.97.0.1 node0\\n10.97.0.2 node1\\n' >> /etc/hosts
cat > /tmp/enter <<'END'
#!/bin/sh
host=$1
shift
exec taskset -c ${{host#node}} ip netns exec $host unshare --uts \\
	sh -c 'hostname $0; exec sh -c "$*"' $host "$@"
END
chmod +x /tmp/enter
hostname node0
"""


def parse(text):
    """NAME -> seconds of each program."""
    found = dict(re.findall(r"^(lammps|netpipe-\d+) (\S+)$", text, re.M))
    missing = sorted({"lammps", "netpipe-1", "netpipe-65536"} - set(found))
    if missing:
        raise machines.BenchError(f"no result of {', '.join(missing)}: "
                                  f"{text[-300:]}")
    return {name: float(value) for name, value in found.items()}


class Ours:
    """Two instances."""

    def __init__(self):
        self.vms = [machines.make("--nodes", "2")]

    def prepare(self, _mtu):
        """Boot the other one; the MTU of the network between them."""
        return machines.shell(self.vms[0], "mios boot 1 > /dev/null; cat "
                              "/sys/class/net/mios0/mtu").strip()

    def run(self):
        """One round."""
        return parse(machines.shell(self.vms[0], RUN % ""))


class Guests:
    """Two plain machines and a socket."""
    name = "two plain machines, socket"

    def __init__(self):
        path = machines.OUT / "wire.sock"
        path.unlink(missing_ok=True)
        self.vms = []
        for number in range(2):
            wire = f"stream,id=net0,addr.type=unix,addr.path={path},server="
            more = ["-netdev", wire + ("off" if number else "on"), "-device",
                    "virtio-net-pci,netdev=net0,host_mtu=65520,"
                    f"mac=52:54:00:00:00:0{number + 1}"]
            self.vms.append(machines.make("--nodes", "1", "--plain", more=more,
                                          modules=False))

    def prepare(self, mtu):
        """One ssh key, names, addresses."""
        keys = machines.shell(self.vms[0], SSH_KEY).strip()
        for number, vm in enumerate(self.vms):
            machines.shell(vm, f"echo {keys} | base64 -d | tar -C /root -x")
            machines.shell(vm, NETWORK.format(own=number, number=number + 1,
                                              mtu=mtu))
        return mtu

    def run(self):
        """One round, started from the first one."""
        words = PLAIN_WORDS % ("ssh", "eth0", "eth0", "core", "node0,node1")
        return parse(machines.shell(self.vms[0], RUN % words))


class Spaces:
    """One plain machine of two CPUs, two network name spaces."""
    name = "one plain machine, veth"

    def __init__(self):
        self.vms = [machines.make("--nodes", "2", "--plain", modules=False)]

    def prepare(self, mtu):
        """The name spaces, and a launch agent that enters one."""
        machines.shell(self.vms[0], SPACES.format(mtu=mtu))
        return mtu

    def run(self):
        """One round, started from the first name space."""
        words = PLAIN_WORDS % ("/tmp/enter", "eth0", "eth0", "none",
                               "node0,node1")
        script = RUN % words
        return parse(machines.shell(
            self.vms[0], "cat > /tmp/run.sh <<'END'\n" + script +
            "\nEND\ntaskset -c 0 ip netns exec node0 bash /tmp/run.sh"))


def figures(other):
    """Name of the round's number -> Figure, against one other side."""
    rows = (("lammps", "LAMMPS melt, loop time"),
            ("netpipe-1", "NetPIPE, 1 byte, one way"),
            ("netpipe-65536", "NetPIPE, 64 KiB, one way"))
    return {key: Figure(f"{name}, against {other.name}", "two instances",
                        other.name, "s", AIM, True) for key, name in rows}


def turn(side):
    """This side alone has the host."""
    for vm in side.vms:
        machines.resume(vm)
    try:
        return side.run()
    finally:
        for vm in side.vms:
            machines.pause(vm)


def start(side, mtu):
    """Boot, prepare and pause a side."""
    for vm in side.vms:
        vm.start()
    mtu = side.prepare(mtu)
    for vm in side.vms:
        machines.pause(vm)
    return mtu


def measure(rounds):
    """(facts, figures)."""
    ours, others = Ours(), [Guests(), Spaces()]
    out = {other: figures(other) for other in others}
    vms = [vm for side in (ours, *others) for vm in side.vms]
    try:
        mtu = start(ours, None)
        for other in others:
            start(other, mtu)
        for _ in machines.turns(rounds):
            mine = turn(ours)
            for other in others:
                theirs = turn(other)
                for key, figure in out[other].items():
                    figure.add(mine[key], theirs[key])
        machines.check_logs(*vms)
        said = machines.facts(ours.vms[0])
    finally:
        for vm in vms:
            vm.stop()
    return said, [f for other in others for f in out[other].values()]
