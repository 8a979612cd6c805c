#!/usr/bin/env python3
"""The site that tools/make_site makes: no link leads nowhere; in a browser no page scrolls to the side, all
text is readable in light and dark, and the search finds operations. Usage: site_test.py ASSAY [--site DIR]
[--shots DIR]

--site is a site that was made; without it one is made, or the tests are skipped where Sphinx with its parts
(tools/site/requirements.txt) is not installed. Those in a browser are skipped without Chromium. --shots
writes pictures of some pages, for somebody to look at."""
import html.parser
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from browser import CHROMIUM, CONTRAST, Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]


def flag(name):
    """The value of a flag, which is taken out of the arguments; None: it is not given."""
    if name not in sys.argv:
        return None
    at = sys.argv.index(name)
    value = sys.argv[at + 1]
    del sys.argv[at:at + 2]
    return value


SHOTS, MADE = flag("--shots"), flag("--site")
ASSAY = os.path.abspath(sys.argv.pop(1))
LEAST_CONTRAST = 4.5  # of text, by WCAG 2 AA
# Of the pages of operations, which are made by one function.
SOME_OPS = ("gather", "dot", "convolution", "add", "while", "all-reduce", "tuple", "convert")


class Page(html.parser.HTMLParser):

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        for key in ("href", "src"):
            if attrs.get(key):
                self.links.append(attrs[key])


FOLDER = tempfile.TemporaryDirectory(prefix="assay_site_")
HTML = pathlib.Path(MADE or FOLDER.name + "/html").resolve()


def setUpModule():
    unittest.addModuleCleanup(FOLDER.cleanup)
    if MADE:
        return
    command = [sys.executable, ROOT / "tools" / "make_site", "--no-install", "--assay", ASSAY]
    made = subprocess.run([*command, "--output", HTML, "--work", FOLDER.name], capture_output=True, text=True)
    if made.returncode == 77:
        raise unittest.SkipTest(made.stderr.strip())
    assert made.returncode == 0, made.stdout + made.stderr  # where a link leads nowhere, too


class SiteCase(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.html = HTML
        cls.pages = {path.relative_to(HTML): Page(path) for path in sorted(HTML.rglob("*.html"))}


class Site(SiteCase):

    def test_links_lead_somewhere(self):
        for name, page in self.pages.items():
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or link.startswith("#") and len(link) < 2:
                    continue
                target = (self.html / name.parent / urllib.parse.unquote(parts.path)).resolve()
                if not parts.path:
                    target = self.html / name
                self.assertTrue(target.exists(), f"{name}: {link}")
                if parts.fragment and target.suffix == ".html":
                    there = self.pages[target.relative_to(self.html.resolve())]
                    self.assertIn(urllib.parse.unquote(parts.fragment), there.ids, f"{name}: {link}")

    def test_nothing_is_loaded_from_elsewhere(self):
        for name, page in self.pages.items():
            for link in page.links:
                if link.startswith(("http:", "https:", "//")):
                    self.assertNotRegex(link, r"\.(js|css|woff2?|png|svg)(\?|$)", name)

    def test_every_operation_has_a_page(self):
        listed = subprocess.run([ASSAY, "ops"], capture_output=True, text=True, check=True).stdout
        names = {line.split()[0] for line in listed.splitlines()}
        self.assertEqual({path.stem for path in (self.html / "ops").glob("*.html")}, names | {"index"})
        gather = (self.html / "ops" / "gather.html").read_text()
        for text in ("start_index_map", "Gather-C11", "From <code", "out0: ", "#gather-oob-clamp"):
            self.assertIn(text, gather)
        # A deviation of docs/found.md.
        power = (self.html / "ops" / "power.html").read_text()
        self.assertIn("integer powers use six bits of the exponent", power)


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InBrowser(SiteCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        profile = tempfile.TemporaryDirectory(prefix="assay_chromium_", ignore_cleanup_errors=True)
        cls.addClassCleanup(profile.cleanup)
        cls.browser = Browser(profile.name)
        cls.addClassCleanup(cls.browser.close)

    def open(self, name, width, theme="light"):
        self.browser.open(str(self.html / name), width, theme=theme)

    def some_pages(self):
        return [name for name in self.pages
                if name.parts[0] not in ("ops", "genindex.html", "search.html") or name.stem in SOME_OPS]

    def test_no_page_scrolls_to_the_side(self):
        for name in self.some_pages():
            for width in (390, 1280):
                self.open(name, width)
                seen = self.browser.value("document.scrollingElement.scrollWidth")
                self.assertLessEqual(seen, width, f"{name} at {width} pixels: {self.widest()}")

    def widest(self):
        return self.browser.value("""[...document.querySelectorAll('article *')]
            .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, .table-wrapper'))
            .slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join('; ')""")

    def test_all_text_is_readable(self):
        for name in self.some_pages():
            for theme in ("light", "dark"):
                self.open(name, 1280, theme)
                least, what, seen = self.browser.value(CONTRAST)
                self.assertGreaterEqual(least, LEAST_CONTRAST, f"{name}, {theme}: {what}")
                self.assertGreater(seen, 20, name)
        self.open("index.html", 1280, "dark")
        background = self.browser.value("getComputedStyle(document.body).backgroundColor")
        self.assertLess(max(map(int, background[4:-1].split(","))), 60, background)

    def test_search(self):
        for words, wanted in (("gather", "ops/gather.html"), ("start_index_map", "ops/gather.html"),
                              ("TF32", "bounds.html")):
            self.open("search.html?q=" + words, 1280)
            found = self.browser.value(f"const wanted = '{wanted}';" + """new Promise(done => {
              const end = Date.now() + 60000;  // results come one by one, slowly on a busy machine
              const look = () => {
                const links = [...document.querySelectorAll('#search-results li a')];
                const there = links.map(a => a.getAttribute('href')).join(' ');
                if (there.includes(wanted) || Date.now() > end) done(there); else setTimeout(look, 100);
              };
              look();
            })""")
            self.assertIn(wanted, found, words)

    @unittest.skipUnless(SHOTS, "pictures are not asked for")
    def test_shots(self):
        import base64
        os.makedirs(SHOTS, exist_ok=True)
        for name in ("index.html", "ops/gather.html", "ops/index.html", "bounds.html", "found.html"):
            for width in (390, 1280):
                for theme in ("light", "dark"):
                    self.open(name, width, theme)
                    data = self.browser.ask("Page.captureScreenshot", format="png")["data"]
                    shot = f"{name.replace('/', '_').removesuffix('.html')}_{width}_{theme}.png"
                    (pathlib.Path(SHOTS) / shot).write_bytes(base64.b64decode(data))


if __name__ == "__main__":
    unittest.main()
