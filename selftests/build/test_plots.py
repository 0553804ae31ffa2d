# SPDX-License-Identifier: GPL-2.0
"""make bench's plots: what they show of a table, and what they must not."""
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as tree

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "selftests" / "bench"))
import figures                                               # noqa: E402
import plots                                                 # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def figure(name, ratios, **more):
    """A figure of these ratios, a round each."""
    made = figures.Figure(name, "a", "b", "ns", **more)
    for ratio in ratios:
        made.add(1000 * ratio, 1000)
    return made.as_dict()


def drawn(*entries):
    """The SVG of a table of them, as run makes it, parsed."""
    table = figures.table({"title": "A < B & C", "date": "today",
                           "figures": list(entries)})
    svg = plots.draw("A < B & C", table)
    return svg and tree.fromstring(svg)


def words(svg):
    """All that is written."""
    return [element.text for element in svg.iter(SVG + "text")]


class Plots(unittest.TestCase):
    """One table each."""

    def test_resolved(self):
        """Median, spread and aim are where the axis has them."""
        svg = drawn(figure("half", [0.5] * 20, limit=1.1),
                    figure("wide", [0.5 + i / 19 for i in range(20)]),
                    figure("twice <&", [2] * 20, limit=1.1))
        self.assertIn("twice <&", words(svg))
        half, wide, twice = [float(c.get("cx")) for c in svg.iter(SVG + "circle")]
        self.assertLess(half, wide)
        self.assertLess(wide, twice)
        one = [float(t.get("x")) for t in svg.iter(SVG + "text")
               if t.text == "1"][0]
        self.assertAlmostEqual(one, (half + twice) / 2, delta=0.2)
        spread = [e for e in svg.iter(SVG + "line") if e.get("stroke-width") == "3"]
        self.assertLess(float(spread[1].get("x1")), wide)
        self.assertGreater(float(spread[1].get("x2")), wide)
        aims = [e for e in svg.iter(SVG + "line") if e.get("stroke-width") == "2"]
        self.assertEqual(len(aims), 2)
        self.assertIn("0.500, met", words(svg))
        self.assertIn("1.000, no aim", words(svg))
        self.assertIn("2.000, not met", words(svg))

    def test_not_resolved(self):
        """What a table does not resolve is counted, not drawn."""
        svg = drawn(figure("good", [1.0] * 20, limit=1.1),
                    figure("unfit", [1.0] * 20, unfit="a reason"),
                    figure("few", [1.0] * 3, limit=1.1), figure("none", []))
        self.assertEqual(len(list(svg.iter(SVG + "circle"))), 1)
        for name in ("unfit", "few", "none"):
            self.assertNotIn(name, words(svg))
        self.assertIn("; 3 not resolved", words(svg)[-1])

    def test_few_runs(self):
        """What was measured rarely says so."""
        self.assertIn("1.200, no aim, 1 run",
                      words(drawn(figure("once", [1.2]))))

    def test_nothing(self):
        """No figure, no plot."""
        self.assertIsNone(drawn())
        self.assertIsNone(drawn(figure("few", [1.0], limit=1.1)))

    def test_page(self):
        """docs/figures.md shows the plots that its tables have, and no others."""
        page = (TOP / "docs" / "figures.md").read_text(encoding="utf-8")
        shown = set()
        for section in re.split(r"^## ", page, flags=re.M)[1:]:
            title = section.split("\n", 1)[0]
            svg = plots.draw(title, section)
            image = re.search(r"^!\[.*\]\((figures/.*\.svg)\)$", section, re.M)
            self.assertEqual(svg is None, image is None, title)
            if svg:
                path = TOP / "docs" / image[1]
                shown.add(path)
                self.assertEqual(path.read_text(encoding="utf-8"), svg, title)
        self.assertEqual(set((TOP / "docs/figures").iterdir()), shown)


if __name__ == "__main__":
    unittest.main()
