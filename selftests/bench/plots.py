# SPDX-License-Identifier: GPL-2.0
"""A table of the benchmark as SVG: a row for each figure, on a logarithmic axis
of the ratio to Linux a line from the 10th to the 90th percentile, a dot at the
median, a tick at the aim.

Drawn from the Markdown, so that a table that docs/figures.md keeps from an older
run has its plot, too.  What is not resolved is left out: a plot would say more
than the figure may.
"""
import dataclasses
import math
import re
from xml.sax.saxutils import escape

from figures import RUNS_WANTED

SCALE, SAID, LETTER = 330, 150, 6.6     # widths: axis, verdicts, a name's letter
TOP, STEP, BOTTOM = 48, 22, 46
# The axis: at least from NARROW down to up; ticks where there is room.
NARROW = 0.9, 1.1
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1,
         1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10000)
APART = 34
COLOUR = {"met": "#27825a", "not met": "#c0392b", "no aim": "#5d6d7e"}


@dataclasses.dataclass
class Row:
    """What a line of the table says."""
    name: str
    ratio: float
    low: float
    high: float
    aim: float
    runs: int
    verdict: str

    def said(self):
        """The ratio, and what may be thought of it."""
        few = f", {self.runs} runs" if self.runs < RUNS_WANTED else ""
        return f"{self.ratio:.3f}, {self.verdict}{few.replace(' 1 runs', ' 1 run')}"


def rows(section):
    """The figures of a table that are resolved, and how many are not."""
    found, dropped = [], 0
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 9 or not re.fullmatch(r"\d+", cells[6]):
            continue
        spread = re.fullmatch(r"([\d.]+) to ([\d.]+)", cells[5])
        if cells[8] not in COLOUR or not spread or \
                min(float(v) for v in (cells[4], *spread.groups())) <= 0:
            dropped += 1
            continue
        aim = re.fullmatch(r"at most ([\d.]+)", cells[7])
        found.append(Row(cells[0], float(cells[4]), float(spread[1]),
                         float(spread[2]), float(aim[1]) if aim else None,
                         int(cells[6]), cells[8]))
    return found, dropped


class Axis:
    """From ratios to places."""

    def __init__(self, values, left):
        self.left = left
        self.low = math.log(min(NARROW[0], *values))
        self.high = math.log(max(NARROW[1], *values))

    def at(self, value):
        """The x of a ratio."""
        share = (math.log(value) - self.low) / (self.high - self.low)
        return round(self.left + 10 + share * (SCALE - 20), 1)

    def ticks(self):
        """Those that fit; 1 is always there."""
        kept = [1]
        for tick in sorted(TICKS, key=lambda v: abs(math.log(v))):
            if self.low <= math.log(tick) <= self.high and \
                    all(abs(self.at(tick) - self.at(k)) >= APART for k in kept):
                kept.append(tick)
        return sorted(kept)


def text(x, y, said, more=""):
    """One word of it."""
    return f'<text x="{x}" y="{y}"{more}>{escape(said)}</text>'


def line(x1, y1, x2, y2, colour, width=1):
    """One stroke."""
    return (f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" '
            f'stroke-width="{width}"/>')


def draw_row(row, axis, y):
    """Name, spread, median, aim, and what the table says."""
    colour = COLOUR[row.verdict]
    out = [text(axis.left, y + 4, row.name, ' text-anchor="end"'),
           line(axis.at(row.low), y, axis.at(row.high), y, colour, 3),
           f'<circle cx="{axis.at(row.ratio)}" cy="{y}" r="4" fill="{colour}"/>',
           text(axis.left + SCALE + 6, y + 4, row.said(),
                f' fill="{colour}"')]
    if row.aim:
        out.append(line(axis.at(row.aim), y - 8, axis.at(row.aim), y + 8,
                        "#1b6ca8", 2))
    return out


def draw(title, section):
    """The SVG of a table, or None if nothing in it is a resolved ratio."""
    found, dropped = rows(section)
    if not found:
        return None
    axis = Axis([v for r in found for v in (r.low, r.high, r.aim or 1)],
                20 + round(LETTER * max(len(r.name) for r in found)))
    width, end = axis.left + SCALE + SAID, TOP + STEP * len(found)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
           f'height="{end + BOTTOM}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           text(16, 22, title, ' font-size="15"')]
    for tick in axis.ticks():
        out += [line(axis.at(tick), TOP - 8, axis.at(tick), end,
                     "#999" if tick == 1 else "#ddd"),
                text(axis.at(tick), end + 14, f"{tick:g}",
                     ' text-anchor="middle"')]
    for number, row in enumerate(found):
        out += draw_row(row, axis, TOP + STEP * number + STEP // 2)
    said = "ratio: median, 10 % to 90 %; blue: at most so much is the aim"
    if dropped:
        said += f"; {dropped} not resolved, not drawn"
    out += [text(16, end + 34, said, ' fill="#555"'), "</svg>"]
    return "\n".join(out) + "\n"
