# SPDX-License-Identifier: GPL-2.0
"""Which test runs next, in one of two lanes that run side by side.

Those that wait, most of their time, for the host's clock have a third lane of
their own: they would leave a core idle.

A test needs nothing that another one leaves behind, so any order will do:
those that took longest go first, that both lanes end together.  Two lanes do
not wait for one checkpoint that the first of them makes: the other one takes
a test that needs none of its kind.
"""
import threading
import time

UNKNOWN = 0.25          # of its limit: what a test may take that never ran


class Lanes:
    """The tests still to run.  The lock guards both lists."""

    def __init__(self, tests, times, deadline=None, late=lambda test: None):
        self.expected = {t: times.get(t.name, t.limit * UNKNOWN)
                         for t in tests}
        self.waiting = sorted(tests, key=lambda t: -self.expected[t])
        self.deadline = deadline        # of time.time()
        self.late = late                # called with what is left out
        self.making = []                # machines that are on their way
        self.changed = threading.Condition()

    def take(self, waits=False):
        """The next test, or None when there is none; one that waits only, or
        one that does not as long as there is any."""
        with self.changed:
            while True:
                self.drop_late()
                asked = [t for t in self.waiting if t.waits == waits]
                if not asked and not waits:
                    asked = self.waiting
                if not asked:
                    return None
                for test in asked:
                    if not test.machine or test.machine not in self.making:
                        self.waiting.remove(test)
                        if test.machine:
                            self.making.append(test.machine)
                        return test
                self.changed.wait(1)

    def started(self, test):
        """Its machine is there, or will never be."""
        with self.changed:
            if test.machine in self.making:
                self.making.remove(test.machine)
            self.changed.notify_all()

    def drop_late(self):
        """A run that passes its deadline is worth nothing: leave out what
        would not end in time."""
        if self.deadline is None:
            return
        left = self.deadline - time.time()
        for test in [t for t in self.waiting if self.expected[t] > left]:
            self.waiting.remove(test)
            self.late(test)

    def run(self, count, work):
        """Call work(test) for each, in so many lanes, and in one more for
        those that wait where there is more than one; work calls started()."""
        def lane(waits):
            while (test := self.take(waits)) is not None:
                try:
                    work(test)
                finally:
                    self.started(test)
        which = [False] * count + [True] * (count > 1)
        threads = [threading.Thread(target=lane, args=(waits,), daemon=True)
                   for waits in which]          # ^C ends them with us
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
