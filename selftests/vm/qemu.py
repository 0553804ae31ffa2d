# SPDX-License-Identifier: GPL-2.0
"""QEMU's command line for a machine of several nodes, and its QMP.

machine.py is the only caller.  A machine's shape is a Shape; node memory
lives in memfds, which the harness keeps open so that it can look into any
instance's memory without asking QEMU; a machine of one node has one.
"""
import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time

import memmap

LOG = "qemu.log"        # every reset of a CPU, and what is traced
ROOT = "root.qcow2"     # what was written to the root disk
STAGE = "stage.tar"     # the disk with what was just built
MIGRATION_LIMIT = 60    # seconds
ICOUNT_KHZ = 1000000    # under icount the TSC counts nanoseconds
INITRD = "initrd"       # where the kernel has the disks' drivers as modules
SPARE_SIZE = 64 * memmap.MIB
# All cards are at one wire.
DISK = "virtio-blk-pci,drive={0},serial={0},disable-legacy=on"
SPARES = {"disk": DISK, "root": DISK, "root-trixie": DISK,
          "nvme": "nvme,drive={0},serial={0}",
          "net": "e1000e,netdev={0},romfile="}
ROOTS = {"root": {}, "root-trixie": {"SUITE": "trixie"}}   # how they are built
EXTRA_AGENTS = 2        # ports beside the first, for console and friends


@dataclasses.dataclass
class Shape:
    """What was asked for on mios-vm's command line."""
    nodes: int = 2
    cpus_per_node: int = 1
    memory: list = dataclasses.field(default_factory=list)  # bytes per node
    plain: bool = False
    append: str = ""
    one_node: bool = False      # the nodes are parts of one
    spares: tuple = ()          # PCI functions that can be given away
    iommu: bool = False
    # PATH:0 or PATH:1, an end of a wire; checkpoints do not care whose.
    wire: str = dataclasses.field(default="", repr=False)
    wired: bool = False

    def __post_init__(self):
        self.wired = bool(self.wire)
        if self.wired and self.wire[-2:] not in (":0", ":1"):
            raise ValueError("--wire PATH:0, and PATH:1 for the other one")
        if not 1 <= self.nodes <= 8:
            raise ValueError("--nodes must be 1 to 8")
        if not 1 <= self.cpus_per_node <= 4:
            raise ValueError("--cpus-per-node must be 1 to 4")
        if len(self.spares) > 4 or set(self.spares) - {*SPARES}:
            raise ValueError(f"--spares: up to 4 of {', '.join(SPARES)}")
        if not self.memory:
            self.memory = [memmap.GIB]
        if len(self.memory) == 1:
            self.memory = self.memory * self.nodes
        if len(self.memory) != self.nodes:
            raise ValueError(f"--memory-per-node lists {len(self.memory)} "
                             f"sizes for {self.nodes} nodes")

    def command_line(self):
        """The kernel command line of instance 0.

        no_timer_check: on a host with more work than cores the emulated
        timer's ticks can miss the moment in which the kernel counts them.
        """
        words = ["root=/dev/vda rootfstype=ext4 rw init=/sbin/mios-stub",
                 "console=ttyS0,115200 loglevel=7 panic=-1",
                 "tsc=reliable no_timer_check printk.devkmsg=on"]
        # The first range that the kernel finds holds.  Both words for a plain
        # one, too: it is to be like the others, with mios.ko and mios0.
        if "pid_range=" not in self.append:
            words.append("pid_range=1-65535")
        words.append("no_ipi_broadcast=1")
        if not self.plain:
            if "mios.pool=" not in self.append:
                words += memmap.pool_words(self.memory)
            words += memmap.reserve_words(self.memory)
            if self.one_node and "mios.parts=" not in self.append:
                words += memmap.part_words(self.memory, self.cpus_per_node)
        if self.iommu:
            words.append("intel_iommu=on intremap=off")
        if self.append:
            words.append(self.append)
        return " ".join(words)

    def files(self):
        """How large each file of the machine's memory is."""
        return [sum(self.memory)] if self.one_node else self.memory

    def place(self, address):
        """(file, offset) of a physical address, or None."""
        before = 0
        for node, ranges in enumerate(memmap.node_ranges(self.memory)):
            offset = memmap.find(ranges, address)
            if offset is not None:
                return (0, before + offset) if self.one_node else \
                    (node, offset)
            before += self.memory[node]
        return None


def memory_file(number, size, fd):
    """QEMU's object for a file that we hold open."""
    return ["-object", f"memory-backend-file,id=mem{number},share=on,"
            f"size={size},mem-path=/proc/self/fd/{fd}"]


def numa_options(shape, memory_fds):
    """One socket per node, its memory in a file, distances 10 and 20; or one
    of which firmware says nothing, as of most machines with one."""
    if shape.one_node:
        return ["-machine", "memory-backend=mem0",
                *memory_file(0, shape.files()[0], memory_fds[0])]
    words = []
    for node, size in enumerate(shape.memory):
        first = node * shape.cpus_per_node
        words += memory_file(node, size, memory_fds[node])
        words += ["-numa", f"node,nodeid={node},memdev=mem{node},"
                  f"cpus={first}-{first + shape.cpus_per_node - 1}"]
    for node in range(shape.nodes):
        for other in range(node):
            words += ["-numa", f"dist,src={node},dst={other},val=20"]
    return words


def disk_options(folder):
    """/dev/vda, the root, an overlay of its own; /dev/vdb, the stage."""
    words = []
    for name, how in (ROOT, "format=qcow2,cache=unsafe"), \
            (STAGE, "format=raw,readonly=on"):
        words += ["-drive", f"file={folder}/{name},{how},if=none,id={name}"]
        words += ["-device", f"virtio-blk-pci,drive={name}"]
    return words


def spare_options(shape, folder):
    """Behind root ports, as cards are in slots: express functions with MSI-X."""
    words = []
    for number, kind in enumerate(shape.spares):
        name = f"spare{number}"
        # A faster port loses its link when it resets what is behind it.
        words += ["-device", f"pcie-root-port,id=slot{number},x-speed=5,"
                  f"chassis={number + 1}"]
        if kind == "net":
            words += ["-netdev", f"hubport,hubid=0,id={name}"]
        else:
            form = "qcow2" if kind in ROOTS else "raw"
            words += ["-drive", f"file={folder}/{name},format={form},"
                      f"cache=unsafe,if=none,id={name}"]
        # What is of QEMU's own making goes by the IOMMU only when it is told.
        told = ",iommu_platform=on" if shape.iommu and \
            SPARES[kind] == DISK else ""
        words += ["-device", SPARES[kind].format(name) +
                  f",bus=slot{number}{told}"]
    return words


def wire_options(shape):
    """A card of instance 0's at a wire to another machine: frames are lost while
    that is not there."""
    if not shape.wired:
        return []
    path, end = shape.wire[:-2], int(shape.wire[-1])
    return ["-netdev", "dgram,id=wire,local.type=unix,"
            f"local.path={path}.{end},remote.type=unix,"
            f"remote.path={path}.{1 - end}",
            "-device", "virtio-net-pci,netdev=wire,romfile="]


def make_spares(shape, folder, roots):
    """They are empty, or fresh roots, when a machine starts, from a checkpoint,
    too.  roots: the images, by kind."""
    for number, kind in enumerate(shape.spares):
        path = pathlib.Path(folder) / f"spare{number}"
        if kind in ROOTS:
            overlay(path, roots[kind])
            continue
        path.touch()
        os.truncate(path, SPARE_SIZE)


def accel_options(accel):
    """A thread per CPU, KVM, or icount: all CPUs in turn, in one thread.

    Then time is the number of instructions executed, four nanoseconds each,
    whatever the host does meanwhile, and an idle machine jumps to its next
    timer instead of waiting for it.
    """
    if accel == "icount":
        return ["-accel", "tcg,thread=single", "-icount", "shift=2,sleep=off"]
    return ["-accel", accel]


def overlay(path, below):
    """A disk of what is going to be written; the one below stays as it is."""
    kind = "qcow2" if below.suffix == ".qcow2" else "raw"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b",
                    str(below), "-F", kind, str(path)], check=True)


def port_options(folder):
    """Command ports: the first connects to us, others wait for a caller."""
    words = ["-device", "virtio-serial-pci,max_ports=8"]
    for number in range(1 + EXTRA_AGENTS):
        side = "server=on,wait=off" if number else "server=off"
        words += ["-chardev", f"socket,id=agent{number},{side},"
                  f"path={folder}/agent{number}.sock"]
        words += ["-device", f"virtserialport,chardev=agent{number},"
                  f"name=mios.agent.{number}"]
    return words


def options(shape, kernel, words, folder, accel, memory_fds):
    """The whole command; disks, and an initrd if there is one, are in the
    folder."""
    initrd = pathlib.Path(folder) / INITRD
    cpus = shape.nodes * shape.cpus_per_node
    sockets = 1 if shape.one_node else shape.nodes
    return ["qemu-system-x86_64", "-machine", "q35,usb=off",
            *accel_options(accel), "-cpu", "host" if accel == "kvm" else "max",
            "-smp", f"{cpus},sockets={sockets},cores={cpus // sockets},"
            "threads=1",
            "-m", f"{sum(shape.memory) // memmap.MIB}M",
            *numa_options(shape, memory_fds),
            "-nodefaults", "-display", "none", "-no-reboot",
            "-d", "cpu_reset", "-D", f"{folder}/{LOG}",
            "-kernel", str(kernel), "-append", words,
            *(["-initrd", str(initrd)] if initrd.exists() else []),
            "-chardev", f"file,id=log,append=on,path={folder}/instance0.log",
            "-serial", "chardev:log",
            "-qmp", f"unix:{folder}/qmp.sock,server=on,wait=off",
            "-qmp", f"unix:{folder}/events.sock,server=on,wait=off",
            *(["-device", "intel-iommu"] if shape.iommu else []),
            "-device", "virtio-rng-pci", *disk_options(folder),
            # A network card that nobody uses: its register is a lock.
            "-device", "e1000e,romfile=",
            *port_options(folder), *wire_options(shape),
            *spare_options(shape, folder)]


class Qmp:
    """QEMU's control socket, for fault injection: Qmp(path).do('stop')."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(str(path))
        self.file = self.sock.makefile("rw", encoding="utf-8")
        self.file.readline()
        self.do("qmp_capabilities")

    def do(self, command, **arguments):
        """One command; its 'return', or ValueError with QEMU's words."""
        request = {"execute": command}
        if arguments:
            request["arguments"] = arguments
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        while True:
            line = self.file.readline()
            if not line:
                raise ValueError(f"{command}: QEMU is gone")
            answer = json.loads(line)
            if "error" in answer:
                raise ValueError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def ignore_shared(self):
        """Memory that is in files of ours is no part of a migration."""
        self.do("migrate-set-capabilities", capabilities=[
            {"capability": "x-ignore-shared", "state": True}])

    def migrate(self, command, uri):
        """To or from a stream, to its end."""
        self.do(command, uri=uri)
        end = time.monotonic() + MIGRATION_LIMIT
        status = ""
        while status != "completed":
            status = self.do("query-migrate").get("status", "")
            if status == "failed" or time.monotonic() > end:
                raise ValueError(f"{command}: {status}")
            time.sleep(0.02)

    def shutdown_reason(self):
        """Why the machine ended, in QEMU's words; None if it does not say."""
        try:
            for line in self.file:
                event = json.loads(line)
                if event.get("event") == "SHUTDOWN":
                    return event["data"]["reason"]
        except (OSError, ValueError):
            pass
        return None

    def inject_nmi(self):
        """An NMI to every CPU."""
        self.do("inject-nmi")

    def close(self):
        """Close the socket."""
        self.file.close()
        self.sock.close()


def kvm_works(kernel):
    """Does KVM run this kernel here?  /dev/kvm alone proves nothing.

    The kernel has no root here, so it ends in a panic within seconds; what
    counts is that it got there.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        try:
            subprocess.run(
                ["qemu-system-x86_64", "-M", "q35", "-accel", "kvm", "-cpu",
                 "host", "-smp", "2", "-m", "512", "-nodefaults", "-display",
                 "none", "-no-reboot", "-serial", f"file:{log}", "-kernel",
                 str(kernel), "-append", "console=ttyS0 panic=-1"],
                timeout=20, check=False, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return False
        return b"Kernel panic - not syncing: VFS" in log.read_bytes()
