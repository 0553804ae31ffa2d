# SPDX-License-Identifier: GPL-2.0
"""For tests of who is host when instance 0 has died: a program on each survivor that
makes names in /mios, holds a lock of a file, says what it sees, and ends its own
instance when its time has come.  All speak through their own logs, which the test
reads from the machine's memory: their root has gone with instance 0."""
import re
import time

from outside import BOUND, PARAMETERS, fail, heard, run, said

# What it needs of its root it has by the time instance 0 dies.
WORK = r"""
import ctypes, errno, fcntl, os, re, struct, sys, threading, time
me, nodes, when, then = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
SYSFS = "/sys/kernel/mios/"
KNOBS = "/sys/module/%s/parameters/inject_%s"
kmsg = os.open("/dev/kmsg", os.O_WRONLY)
host = os.open(SYSFS + "host", os.O_RDONLY)
states = [os.open(f"{SYSFS}instance{i}/state", os.O_RDONLY) for i in range(nodes)]
sysrq = os.open("/proc/sysrq-trigger", os.O_WRONLY)
stop = os.open(KNOBS % ("mios_fs", "stop"), os.O_WRONLY)
dev = os.open("/dev/mios", os.O_RDWR)
scribble = os.open("/sys/kernel/debug/mios/scribble", os.O_WRONLY)
with open(f"{SYSFS}instance2/incarnation") as file:
    second = file.read().strip()
still = os.open(KNOBS % ("mios", "stand_still"), os.O_WRONLY)
def say(text):
    os.write(kmsg, f"work: {text}\n".encode())
def ends(kind, value, trace):
    say(f"FAILED: {value!r}")
sys.excepthook = ends
def get(fd):
    return os.pread(fd, 100, 0).decode().strip()
os.chdir("/mios")
files = {i: os.open(f"locked{i}", os.O_CREAT | os.O_RDWR) for i in range(1, nodes)}
fcntl.flock(files[me], fcntl.LOCK_EX)
def free(i):
    try:
        fcntl.flock(files[i], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    fcntl.flock(files[i], fcntl.LOCK_UN)
    return True
def ioctl(how, number, data):
    data = bytearray(data)
    fcntl.ioctl(dev, how << 30 | len(data) << 16 | ord("M") << 8 | number, data)
    return data
def claim():
    for left in range(100, -1, -1):
        try:
            return ioctl(3, 1, struct.pack("IIQQII", 2, 0, 0, 0, 0, 0))
        except OSError:
            if not left:
                raise
            time.sleep(0.1)
def load():
    base, = struct.unpack_from("Q", claim(), 8)
    image = ctypes.create_string_buffer(
        struct.pack("QQQQII", 0, 0, base, 512 << 20, 0, 0))
    try:
        ioctl(1, 2, struct.pack("QIIQQ", ctypes.addressof(image), 1, 0, base, base))
        say("load: done")
    except OSError as error:
        why = ioctl(2, 8, bytes(168)).split(bytes(1))[0].decode()
        say(f"load: {errno.errorcode[error.errno]}, {why}")
def half():
    os.write(stop, b"1")
    os.mkdir(f"half{me}")
def die():
    if "wait" in then:
        time.sleep(6)
    say(f"does it: {then}")
    if "word" in then:
        os.write(scribble, b"host 63 7")
        time.sleep(2.5)
        os.write(scribble, f"host 2 {second}".encode())
        return
    if "half" in then:
        threading.Thread(target=half, daemon=True).start()
    if "load" in then:
        threading.Thread(target=load, daemon=True).start()
        time.sleep(1.5)
    if "half" in then or "later" in then:
        time.sleep(0.3)
    if "hang" in then:
        os.write(still, b"60")
    os.write(sysrq, b"o" if "poweroff" in then else b"c")
was, waits = None, True
for count in range(1, 10**9):
    name = f"of{me}-{count}"
    os.mkdir(name)
    os.rmdir(name)
    now = f"{get(host)}, {' '.join(get(fd) for fd in states)}"
    if now != was or count % 20 == 0:
        halves = "".join(sorted(n[4:] for n in os.listdir() if n[:4] == "half"))
        locks = "".join(str(i) for i in files if i != me and free(i))
        say(f"host {now}, half: {halves}, locks: {locks}, {count} names")
    was = now
    if then != "goes-on" and waits and re.fullmatch(when, now):
        threading.Timer(0.1, die).start()
        waits = False
    time.sleep(0.02)
"""
PREPARE = """set -e
cat > /scratch/work.py <<'END'
{work}
END
for i in {instances}; do
    mios exec $i -- sh -c "echo on > /proc/sys/kernel/printk_devkmsg;
        echo 1 > /proc/sys/kernel/sysrq;
        mountpoint -q /sys/kernel/debug ||
            mount -t debugfs none /sys/kernel/debug"
    mios exec $i -- cp /scratch/work.py /tmp/
done
"""
START = """setsid mios exec {i} -- python3 /tmp/work.py {i} {nodes} '{when}' \\
    '{then}' > /dev/null 2>&1 < /dev/null &
"""
PANIC = """(sleep 1; echo 1 > /proc/sys/kernel/sysrq
echo c > /proc/sysrq-trigger) > /dev/null 2>&1 &
"""
HANG = f"(sleep 1; echo 60 > {PARAMETERS}inject_stand_still) > /dev/null 2>&1 &"


def start(vm, nodes, plans, end=PANIC):
    """Work on all but instance 0, which then panics, or does what end says.  plans:
    of an instance, when it does something (host and states, as they are said) and
    what."""
    run(vm, PREPARE.format(work=WORK,
                           instances=" ".join(map(str, range(1, nodes)))))
    for i in range(1, nodes):
        when, then = plans.get(i, ("", "goes-on"))
        run(vm, START.format(i=i, nodes=nodes, when=when, then=then))
    for i in range(1, nodes):
        heard(vm, i, "work: host 0", "no work")
    dying = "".join(map(str, [0, *plans]))
    vm.watch.excuse(rf"instance [{dying}]: .*(?:Kernel panic|sysrq: |rcu:)")
    run(vm, end)


def sees(vm, instance, host, states, half="", locks="", limit=BOUND):
    """What it says in the end."""
    heard(vm, instance, rf"work: host {host}, {states}, half: {half}, "
          rf"locks: {locks},", "nobody is host, or nothing is recovered", limit)


def goes_on(vm, instance):
    """It makes names."""
    def names():
        vm.watch.check()
        text = (vm.logs / f"instance{instance}.log").read_text(errors="replace")
        return max(map(int, re.findall(r"(\d+) names", text)), default=0)
    before, end = names(), time.monotonic() + BOUND
    while names() < before + 60:
        if time.monotonic() > end:
            fail(f"instance {instance} makes no names any more")
        time.sleep(0.5)


def stopped(vm, cpus):
    """They wait for a start-up interrupt, or halt in the park page, in real mode as
    both is: so the machine sees it."""
    qmp = vm.qmp()
    text = qmp.do("human-monitor-command",
                  **{"command-line": "info registers -a"})
    qmp.close()
    each = re.split(r"CPU#\d+", text)[1:]
    for cpu in cpus:
        if not re.search(r"HLT=1.*CR0=[0-9a-f]{7}[02468ace] ", each[cpu], re.S):
            print(each[cpu][:600])
            fail(f"CPU {cpu} has not been stopped")


def fenced(vm, by, instance, cpus=1):
    """Who says so."""
    heard(vm, by, f"instance {instance} fenced: {cpus} CPUs stopped",
          f"nobody stops instance {instance}")
    if said(vm, by, "work: FAILED"):
        fail(said(vm, by, "work: FAILED.*").group(0))
