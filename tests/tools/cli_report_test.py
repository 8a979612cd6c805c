#!/usr/bin/env python3
"""assay diff --html: the page of a comparison, and how it is in a browser, where there is one. Usage:
cli_report_test.py ASSAY

The browser is Chromium without a window; where it is not installed those tests are skipped."""
import html
import html.parser
import json
import os
import re
import time
import unittest

from browser import CHROMIUM, CONTRAST, Browser
from cli_isolate_test import FAULTY, PROGRAM
from cli_testing import ASSAY, CliCase, floats

VOID = {"meta", "link", "br", "input", "wbr", "rect", "path", "img", "hr"}


class Tree(html.parser.HTMLParser):
    """Fails where an element is not closed, or an id is there twice."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags = [], set(), set(), set()
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        attrs = dict(attrs)
        if "id" in attrs:
            assert attrs["id"] not in self.ids, attrs["id"]
            self.ids.add(attrs["id"])
        if attrs.get("href", "").startswith("#"):
            self.links.add(attrs["href"][1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class ReportCase(CliCase):
    def setUp(self):
        super().setUp()
        self.program = self.file("program.hlo", PROGRAM)
        self.inputs = self.npz("in.npz", arg0=floats(0.5, 1, 1.5, 2))
        self.page = self.path("report.html")

    def backend(self, *fault):
        faulty = self.file("faulty.py", FAULTY)
        fault = (*fault, "", "", "")[:3]
        words = " ".join("'" + word + "'" for word in ("python3", faulty, *fault, ASSAY))
        return words + " {program} {inputs} {outputs}"

    def report(self, code, *fault, more=(), isolate=True, **expected):
        return self.expect(code, "diff", self.program, "--inputs", self.inputs, "--backend",
                           self.backend(*fault), "--profile",
                           "strict", "--html", self.page, *(["--isolate"] if isolate else []), *more,
                           **expected)

    def text(self):
        with open(self.page, encoding="utf-8") as file:
            return file.read()


class Report(ReportCase):
    def test_the_page_is_whole_and_links_to_what_is_there(self):
        for isolate in (False, True):
            for code, fault in ((0, ()), (1, (r"exponential\(", "exponential-minus-one("))):
                self.report(code, *fault, isolate=isolate)
                tree = Tree(self.text())
                self.assertEqual(tree.links - tree.ids, set())
                for tag in ("main", "nav", "header", "table", "caption", "svg", "figure"):
                    self.assertIn(tag, tree.tags)

    def test_the_first_wrong_instruction_is_on_it(self):
        self.report(1, r"exponential\(", "exponential-minus-one(")
        text = self.text()
        self.assertIn("<strong>First wrong instruction:</strong>", text)
        self.assertIn("<code>%e</code></a> = f32[4] exponential, in <code>%f</code>", text)
        self.assertIn("✗ 4 outside", text)
        self.assertIn("<h3 id=\"c", text)
        self.assertIn("diff ", text[text.index("<dt>Command</dt>"):][:200])

    def test_what_wrong_elements_are_made_of(self):
        self.report(0)
        self.assertIn("<p>No element is outside or implausible.</p>", self.text())
        self.report(1, r"exponential\(", "exponential-minus-one(", isolate=False)
        page = self.text()
        section = page[page.index('<h2 id="h-origins">'):page.index('<h2 id="h-graph">')]
        found = json.loads(self.report(1, r"exponential\(", "exponential-minus-one(", isolate=False,
                                       more=["--json"]).stdout)["outputs"]
        key, output = next((key, output) for key, output in found.items() if output["outside"] > 0)
        index = ",".join(map(str, output["worst"][0]["index"]))
        element = key + (f"[{index}]" if index else "")
        self.assertIn(f"<summary><code>{element}</code></summary>", section)
        # The tree is that of --why, a list in a list for each step down.
        lines = self.expect(0, "run", self.program, "--inputs", self.inputs, "--why",
                            element).stdout.decode().splitlines()
        self.assertGreater(len(lines), 5)
        for line in lines:
            self.assertIn(f"<li><code>{html.escape(line.strip())}</code>", section)
        depth, deepest = 0, 0
        for tag in re.findall(r"</?ul", section):
            depth += 1 if tag == "<ul" else -1
            deepest = max(deepest, depth)
        self.assertEqual(depth, 0)
        self.assertEqual(deepest - 1, max((len(line) - len(line.lstrip())) // 2 for line in lines))

    def test_it_comes_with_the_text_and_with_json(self):
        shown = self.report(0).stdout.decode()
        self.assertIn("isolated: 16 instructions", shown)
        page = self.text()
        json.loads(self.report(0, more=["--json"]).stdout)
        # The same, but for the command.
        self.assertEqual(page.count("<tr"), self.text().count("<tr"))

    def test_wrong_usage(self):
        self.expect(2, "diff", self.program, "--inputs", self.inputs, "--actual", self.inputs, "--html",
                    self.page, error="--profile")
        self.expect(2, "diff", self.program, "--inputs", self.inputs, "--actual", self.inputs, "--profile",
                    "strict", "--html", self.inputs, error="which is read")
        self.assertFalse(os.path.exists(self.page))

    def test_a_page_that_can_not_be_written_leaves_nothing(self):
        self.page = self.path("no such folder/report.html")
        self.report(5, error="no such folder/report.html")
        self.page = self.path("report.html")
        self.file("report.html", "older")
        self.report(5, more=["--memory-limit", "3000"], error="memory")
        self.assertEqual(self.text(), "older")
        self.assertEqual(sorted(name for name in os.listdir(self.folder.name) if "report" in name),
                         ["report.html"])

    def test_time_covers_it(self):
        lines = "".join(f"  {'ROOT ' if k == 59999 else ''}x{k} = f32[4] negate(x{k - 1})\n"
                        for k in range(1, 60000))
        program = self.file("long.hlo", f"HloModule m\nENTRY e {{\n  x0 = f32[4] parameter(0)\n{lines}}}\n")
        actual = self.npz("out.npz", out0=floats(-0.5, -1, -1.5, -2))
        began = time.monotonic()
        result = self.call("diff", program, "--inputs", self.inputs, "--actual", actual, "--profile",
                           "strict", "--html", self.page)
        took = time.monotonic() - began
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(len(self.text()), 12_000_000)
        self.assertIn("Of this computation 300 instructions are drawn", self.text())
        os.remove(self.page)
        self.expect(5, "diff", program, "--inputs", self.inputs, "--actual", actual, "--profile", "strict",
                    "--html", self.page, "--timeout", f"{took / 10:.3f}", error="timeout")
        self.assertEqual([name for name in os.listdir(self.folder.name) if "report" in name], [])


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InBrowser(ReportCase):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.profile = tempfile.TemporaryDirectory(prefix="assay_chromium_", ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.profile.cleanup)
        cls.browser = Browser(cls.profile.name)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        self.report(1, r"exponential\(", "exponential-minus-one(")

    def test_nothing_is_asked_of_a_network_or_complained_about(self):
        self.browser.open(self.page, 1280)
        self.browser.value("new Promise(done => setTimeout(done, 300))")
        requests, wrong = [], []
        for event in self.browser.events:
            if event.get("method") == "Network.requestWillBeSent":
                requests.append(event["params"]["request"]["url"])
            if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded",
                                       "Runtime.consoleAPICalled"):
                wrong.append(event["params"])
        self.assertEqual(wrong, [])
        self.assertEqual([url for url in requests if not url.startswith("data:")], ["file://" + self.page])
        # The style and the script hold, under the page's own policy.
        self.assertEqual(self.browser.value("getComputedStyle(document.querySelector('.skip')).position"),
                         "absolute")
        self.assertGreater(self.browser.value("document.querySelectorAll('.tools button').length"), 3)

    def test_the_graph_is_reached_and_walked_by_keys(self):
        self.browser.open(self.page, 1280)
        for _ in range(60):
            self.browser.press("Tab", 9)
            if self.browser.value("document.activeElement.classList.contains('n')"):
                break
        where = "document.activeElement.getAttribute('aria-label')"
        first = self.browser.value(where)
        self.assertTrue(self.browser.value("document.activeElement.classList.contains('n')"))
        self.browser.press("ArrowUp", 38)
        above = self.browser.value(where)
        self.assertNotEqual(first, above)
        self.assertTrue(self.browser.value("document.activeElement.classList.contains('n')"))
        detail = self.browser.value("document.activeElement.closest('.graph').querySelector('.detail').textContent")
        self.assertIn(" = ", detail)
        width = self.browser.value("getComputedStyle(document.activeElement.querySelector('rect')).strokeWidth")
        self.assertEqual(width, "3.5px")
        self.browser.press("Tab", 9)
        self.assertFalse(self.browser.value("document.activeElement.classList.contains('n')"))

    def test_text_stands_out_in_both_themes(self):
        backgrounds = set()
        for theme in ("light", "dark"):
            self.browser.open(self.page, 1280, theme=theme)
            self.browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
            for chosen in ("t-system", "t-light", "t-dark"):
                for mode in ("m-share", "m-ulps", "m-bound"):
                    self.browser.value(f"document.getElementById('{chosen}').checked = true")
                    self.browser.value(f"document.getElementById('{mode}').checked = true")
                    least, what, seen = self.browser.value(CONTRAST)
                    self.assertGreater(seen, 300)
                    self.assertGreaterEqual(least, 4.5, f"{theme}, {chosen}, {mode}: {what}")
                    background = self.browser.value("getComputedStyle(document.body).backgroundColor")
                    backgrounds.add((theme if chosen == "t-system" else chosen[2:], background))
        self.assertEqual(len(backgrounds), 2)

    def test_pages_are_no_wider_than_the_window(self):
        for width in (390, 1280):
            self.browser.open(self.page, width)
            self.browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
            for root in ("documentElement", "body"):
                self.assertLessEqual(self.browser.value(f"document.{root}.scrollWidth"), width)


if __name__ == "__main__":
    unittest.main()
