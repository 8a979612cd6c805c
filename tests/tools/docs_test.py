#!/usr/bin/env python3
"""The commands of documentation pages give the output that the pages show. Usage:
docs_test.py ASSAY [--update]

A command is a line of an indented block that begins with "$ "; a line that ends with a backslash goes on in
the next one, and a here-document ends with END. What follows, to the next command or the end of the block, is
its output; a line "...", which may be indented, stands for any lines. The commands of a page run one after
the other in an empty folder, in which `golden` is the repository's folder and `assay` the program that is
tested. Commands for JAX on Assay run where python3 has both: python/tests/test_readme.py calls this so.
--update writes what commands give today into the pages, other than "...", for somebody to read."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ASSAY = os.path.abspath(sys.argv.pop(1))
UPDATE = "--update" in sys.argv
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/bounds.md", "docs/find.md", "docs/command.md")
INDENT = "    "


class Command:
    """Lines [first, end) of a page are the command, [end, last) its output."""

    def __init__(self, lines, first):
        self.first, self.end = first, first + 1
        while lines[self.end - 1].endswith("\\"):
            self.end += 1
        if "<<'END'" in lines[first]:
            self.end = lines.index(INDENT + "END", first) + 1
        self.last = self.end
        while self.last < len(lines) and lines[self.last].startswith(INDENT) and not lines[
                self.last].startswith(INDENT + "$ "):
            self.last += 1
        self.text = "\n".join(line.removeprefix(INDENT) for line in lines[first:self.end]).removeprefix("$ ")
        self.output = [line.removeprefix(INDENT) for line in lines[self.end:self.last]]

    def run(self, folder):
        environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run(["bash", "-c", self.text], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)
        return done.stdout.decode(errors="replace").splitlines()


def has_jax():
    """python3 has JAX and the package assay, whose plugin they find."""
    return subprocess.run(["python3", "-c", "import assay, jax"], capture_output=True).returncode == 0


def commands_of(lines):
    return [Command(lines, k) for k, line in enumerate(lines)
            if line.startswith(INDENT + "$ ") and (k == 0 or not lines[k - 1].endswith("\\"))]


def matches(wanted, found):
    """Whether the lines are those that are wanted, where "..." is any lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + r"\n" for line in wanted)
    return re.fullmatch(pattern, "".join(line + "\n" for line in found)) is not None


def updated(wanted, found):
    """The lines that were found; what a "..." left out is left out again."""
    if matches(wanted, found):
        return wanted
    if "..." not in wanted:
        return found
    shown = wanted.index("...")
    after = wanted[shown + 1:]
    return found[:shown] + ["..."] + (found[-len(after):] if after else [])


class Folder:

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="assay_docs_")
        self.path = self.temporary.name
        os.symlink(ROOT / "golden", os.path.join(self.path, "golden"))
        os.mkdir(os.path.join(self.path, "bin"))
        os.symlink(ASSAY, os.path.join(self.path, "bin", "assay"))


def update(page):
    lines = (ROOT / page).read_text().split("\n")
    folder, result, at = Folder(), [], 0
    for command in commands_of(lines):
        result += lines[at:command.end]
        shown = updated(command.output, command.run(folder.path))
        result += [INDENT + line if line else "" for line in shown]
        at = command.last
    (ROOT / page).write_text("\n".join(result + lines[at:]))
    folder.temporary.cleanup()


class Docs(unittest.TestCase):

    def test_commands_give_what_pages_show(self):
        for page in PAGES:
            folder = Folder()
            self.addCleanup(folder.temporary.cleanup)
            commands = commands_of((ROOT / page).read_text().split("\n"))
            self.assertGreater(len(commands), 1, page)
            for command in commands:
                if "JAX_PLATFORMS=assay" in command.text and not has_jax():
                    with self.subTest(page=page, line=command.first + 1):
                        self.skipTest("python3 has no jax, or no package assay")
                    continue
                found = command.run(folder.path)
                with self.subTest(page=page, line=command.first + 1):
                    if not matches(command.output, found):
                        self.assertEqual(command.output, found)

    def test_what_matches(self):
        self.assertTrue(matches(["a", "b"], ["a", "b"]))
        self.assertTrue(matches(["a", "...", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(matches(["a", "..."], ["a", "b"]))
        self.assertTrue(matches(["a", "..."], ["a"]))
        self.assertTrue(matches(["a", "...", "b"], ["a", "b"]))
        self.assertFalse(matches(["a"], ["a", "b"]))
        self.assertFalse(matches(["a", "...", "d"], ["a", "b"]))
        self.assertFalse(matches(["a.c"], ["abc"]))
        self.assertFalse(matches([], ["a"]))
        self.assertTrue(matches([], []))


if __name__ == "__main__":
    if UPDATE:
        for name in PAGES:
            update(name)
    else:
        unittest.main()
