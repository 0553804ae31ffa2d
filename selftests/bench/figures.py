# SPDX-License-Identifier: GPL-2.0
"""A figure: two things measured in turn in one run, and what may be said.

The parts of the benchmark make Figures, run prints them and keeps them as
JSON.  The rules (docs/performance.md, "How to read a figure") are here and
nowhere else: no part judges its own numbers.
"""
import dataclasses
import statistics

RUNS_WANTED = 20


def percentile(values, share):
    """The value below which a share of the values lies, interpolated."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


@dataclasses.dataclass
class Figure:
    """MIOS (a) against Linux (b): a[i] and b[i] come from the same round.

    Both are costs, less is better.  limit is the aim for a/b, None: there
    is no aim.  tolerance: the aim is "equal up to", so a spread beyond
    limit - 1 resolves nothing.  unfit: why no number can tell here.
    """
    name: str
    what_a: str
    what_b: str
    unit: str
    limit: float = None
    tolerance: bool = False
    unfit: str = ""
    a: list = dataclasses.field(default_factory=list)
    b: list = dataclasses.field(default_factory=list)

    def add(self, a, b):
        """What one round gave."""
        self.a.append(a)
        self.b.append(b)

    def ratios(self):
        """a/b of each round."""
        return [a / b for a, b in zip(self.a, self.b) if b]

    def spread(self):
        """10th and 90th percentile of the ratios."""
        ratios = self.ratios()
        return percentile(ratios, 0.1), percentile(ratios, 0.9)

    def verdict(self):
        """'met', 'not met', 'not resolved: why', or '' without an aim."""
        if self.unfit:
            return f"not resolved: {self.unfit}"
        if self.limit is None:
            return ""
        if len(self.ratios()) < RUNS_WANTED:
            return f"not resolved: {len(self.ratios())} runs"
        low, high = self.spread()
        if low > self.limit:
            return "not met"
        if self.tolerance and high - low > self.limit - 1:
            return "not resolved: the spread is wider than the aim"
        if high <= self.limit:
            return "met"
        return "not resolved: the aim lies within the spread"

    def aim(self):
        """The aim in words."""
        return f"at most {self.limit:g}" if self.limit else "-"

    def as_dict(self):
        """For the JSON file."""
        out = dataclasses.asdict(self)
        if self.ratios():
            low, high = self.spread()
            out.update(median_a=statistics.median(self.a),
                       median_b=statistics.median(self.b),
                       ratio=statistics.median(self.ratios()),
                       ratio_p10=low, ratio_p90=high, runs=len(self.ratios()),
                       aim=self.aim(), verdict=self.verdict())
        return out


@dataclasses.dataclass
class Count:
    """Something counted once, exactly; nothing to compare it with in time."""
    name: str
    value: float
    unit: str
    limit: float = None
    note: str = ""

    def verdict(self):
        """Against the limit, if there is one."""
        if self.limit is None:
            return ""
        return "met" if self.value < self.limit else "not met"

    def as_dict(self):
        """For the JSON file."""
        return {**dataclasses.asdict(self), "verdict": self.verdict()}


def number(value):
    """Three digits that count, no exponent."""
    if value is None:
        return "-"
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def figure_row(entry):
    """A Figure's dictionary as a row of the table."""
    if not entry.get("runs"):
        return (f"| {entry['name']} | - | - | {entry['unit']} | - | - | "
                f"0 | - | no run succeeded |")
    return (f"| {entry['name']} | {number(entry['median_a'])} | "
            f"{number(entry['median_b'])} | {entry['unit']} | "
            f"{entry['ratio']:.3f} | {entry['ratio_p10']:.3f} to "
            f"{entry['ratio_p90']:.3f} | {entry['runs']} | {entry['aim']} | "
            f"{entry['verdict'] or 'no aim'} |")


def count_row(entry):
    """A Count's dictionary as a row."""
    limit = f"under {number(entry['limit'])}" if entry["limit"] else "-"
    said = ", ".join(t for t in (entry["verdict"], entry["note"]) if t)
    return (f"| {entry['name']} | {number(entry['value'])} {entry['unit']} | "
            f"{limit} | {said or '-'} |")


def table(result):
    """Markdown of one part's result, as the JSON file holds it."""
    where = f", kernel {result['kernel']}, QEMU's {result['accel']}, " \
        f"{result['host_cpus']} host cores, of which other programs took " \
        f"{result['others']:.0%}" if result.get("accel") else ""
    lines = [f"## {result['title']}", "", f"{result['date']}{where}.", ""]
    figures = [e for e in result["figures"] if "a" in e]
    counts = [e for e in result["figures"] if "a" not in e]
    if figures:
        ours, theirs = result.get("columns", ("MIOS", "Linux"))
        lines += [f"| figure | {ours} | {theirs} | unit | ratio | 10 % to 90 % | "
                  "runs | aim | verdict |",
                  "|---|---:|---:|---|---:|---|---:|---|---|"]
        lines += [figure_row(e) for e in figures] + [""]
    if counts:
        lines += ["| count | value | aim | |", "|---|---:|---|---|"]
        lines += [count_row(e) for e in counts] + [""]
    return "\n".join(lines)
