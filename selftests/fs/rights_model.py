#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Three users on three instances, at once: fs/69-rights-drawn runs it on instance
0.  rights_model.py SEED ROUNDS

In each round a call on instance 1 is judged and comes to the lock a second later
(inject_linger); meanwhile one is made on instance 2 and then one on instance 0.
What the three answer, and what is there then, must be what a model of rights says
of the three in one order or another.
"""
import copy
import random
import sys
import time

import rights

USERS = 1001, 1002, 1003
DIRS = "d", "e"
NAMES = "x", "y"
MODES = "0600", "0644", "0666", "0660"
DIR_MODES = "0777", "1777", "0755", "1770", "0700"


class Refused(Exception):
    """An error, by its name."""


class File:
    """What rights are about."""

    def __init__(self, uid, gid, mode):
        self.uid, self.gid, self.mode = uid, gid, mode

    def bits(self, who):
        """Of owner, group or others."""
        if who == 0:
            return 7
        if who == self.uid:
            return self.mode >> 6 & 7
        return (self.mode >> 3 if who == self.gid else self.mode) & 7

    def __str__(self):
        return f"{self.uid}:{self.gid} {self.mode:o}"


class Model:
    """Directories, names in them, and who may what, on one kernel."""

    def __init__(self):
        self.dirs = {name: File(0, 0, 0o1777) for name in DIRS}
        self.files = {}

    def seen(self):
        """As rights.seen() has it."""
        found = {name: str(file) for name, file in self.dirs.items()}
        for place in places():
            file = self.files.get(place)
            found[place] = str(file) if file else "nothing"
        return found

    def enter(self, who, place):
        """The directory, which must be searched for the name."""
        directory = self.dirs[place[0]]
        if not directory.bits(who) & 1:
            raise Refused("EACCES")
        return directory

    def find(self, who, place):
        """The file that has the name, or the directory."""
        if place in self.dirs:
            return self.dirs[place]
        self.enter(who, place)
        if place not in self.files:
            raise Refused("ENOENT")
        return self.files[place]

    def may_take(self, who, directory, file):
        """A name away, or put another file there."""
        if directory.bits(who) & 3 != 3:
            raise Refused("EACCES")
        if (file and directory.mode & 0o1000 and
                who not in (0, file.uid, directory.uid)):
            raise Refused("EPERM")

    def create(self, who, place, mode):
        """With these permissions."""
        directory = self.enter(who, place)
        if place in self.files:
            raise Refused("EEXIST")
        self.may_take(who, directory, None)
        self.files[place] = File(who, who, int(mode, 8))

    def unlink(self, who, place):
        """It has one name."""
        file = self.find(who, place)
        self.may_take(who, self.dirs[place[0]], file)
        del self.files[place]

    def rename(self, who, place, other):
        """Over what is there."""
        self.enter(who, place)
        to_dir = self.enter(who, other)
        file = self.find(who, place)
        if place == other:
            return
        self.may_take(who, self.dirs[place[0]], file)
        self.may_take(who, to_dir, self.files.get(other))
        self.files[other] = self.files.pop(place)

    def own(self, who, place):
        """Of a file or a directory."""
        file = self.find(who, place)
        if who not in (0, file.uid):
            raise Refused("EPERM")
        return file

    def chmod(self, who, place, mode):
        """All bits."""
        self.own(who, place).mode = int(mode, 8)

    def chown(self, who, place, uid, gid):
        """A user gives a file to no user, and to no group but his."""
        file = self.own(who, place)
        uid, gid = int(uid), int(gid)
        if who and (uid not in (-1, file.uid) or gid not in (-1, who, file.gid)):
            raise Refused("EPERM")
        file.uid = file.uid if uid == -1 else uid
        file.gid = file.gid if gid == -1 else gid

    def utime(self, who, place):
        """To now."""
        file = self.find(who, place)
        if who not in (0, file.uid) and not file.bits(who) & 2:
            raise Refused("EACCES")

    def call(self, who, words):
        """What it says."""
        name, *arguments = words.split()
        try:
            getattr(self, name)(who, *arguments)
        except Refused as error:
            return str(error)
        return "done"


def places():
    """All names there may be."""
    return [f"{directory}/{name}" for directory in DIRS for name in NAMES]


def draw_call(lots, who):
    """Something that anybody may try; root gives and takes."""
    place = lots.choice(places())
    any_place = lots.choice(places() + list(DIRS))
    mode = lots.choice(DIR_MODES if any_place in DIRS else MODES)
    calls = [f"create {place} {lots.choice(MODES)}", f"unlink {place}",
             f"rename {place} {lots.choice(places())}",
             f"rename {place} {lots.choice(places())}",
             f"chmod {any_place} {mode}", f"utime {place}",
             f"chown {any_place} -1 {who or lots.choice(USERS)}"]
    if not who:
        owner = lots.choice((0,) + USERS)
        calls += [f"chown {any_place} {owner} {owner}"] * 4
    return lots.choice(calls)


ORDERS = (0, 1, 2), (1, 0, 2), (1, 2, 0)


def outcomes(model, calls):
    """What may come of them: the second and third are made in that order."""
    for order in ORDERS:
        other, said = copy.deepcopy(model), [None] * 3
        for i in order:
            said[i] = other.call(*calls[i])
        yield said, other


def check_round(lots, model, servers):
    """The model after it, or the end."""
    users = lots.sample(USERS, 3)
    calls = []
    for i in range(3):
        who = users[i] if lots.randrange(4) else 0
        calls.append((who, draw_call(lots, who)))
    servers[1].begin(*calls[0])
    time.sleep(0.4)
    servers[2].begin(*calls[1])
    two = servers[2].said()
    servers[0].begin(*calls[2])
    zero = servers[0].said()
    said = [servers[1].said(), two, zero]
    found = {name: rights.seen(name) for name in model.seen()}
    for wanted, then in outcomes(model, calls):
        if (said, found) == (wanted, then.seen()):
            return then
    print(f"before: {model.seen()}")
    for call, answer in zip(calls, said):
        print(f"{call}: {answer}")
    print(f"after: {found}")
    return sys.exit("not ok: no order of the three calls says that")


def main():
    """As many rounds as that."""
    lots, rounds = random.Random(int(sys.argv[1])), int(sys.argv[2])
    servers = rights.begin(0, 1, 2)
    model = Model()
    for name in DIRS:
        servers[2].must(0, f"mkdir {name} 1777")
    rights.linger(1000)
    for _ in range(rounds):
        model = check_round(lots, model, servers)
    rights.linger(0)
    rights.clean(servers[2])
    rights.end(servers)


main()
