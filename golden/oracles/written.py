"""Which goldens a script of this folder wrote: written/SCRIPT.txt, a line "FOLDER/NAME.hlo HASH" for each.

A script replaces and deletes these alone. It writes all of its files or, where one of them is somebody
else's, none: a file of the same name that is not in its list, or that was edited by hand since and would
become another.

    script = written.Script(__file__)
    script.write("shape", name, text)...
    script.finish()            with --dry-run: says what would change, and changes nothing

Header lines `// rule: …` that were added by hand count for nothing here, and stay when a file is written
anew.
"""
import argparse
import hashlib
import pathlib
import sys


RULE = "// rule: "


def rules_of(text):
    return "".join(line for line in text.splitlines(keepends=True) if line.startswith(RULE))


def without_rules(text):
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(RULE))


def hash_of(text):
    return hashlib.sha256(without_rules(text).encode()).hexdigest()[:16]


def is_hash_of(digest, text):
    """Also that of the whole text, with the rules that a script writes by itself."""
    return digest in (hash_of(text), hashlib.sha256(text.encode()).hexdigest()[:16])


class Script:
    def __init__(self, path):
        path = pathlib.Path(path).resolve()
        self.golden = path.parent.parent
        self.list = path.parent / "written" / (path.stem + ".txt")
        self.before = dict(line.split()
                           for line in self.list.read_text().splitlines()) if self.list.exists() else {}
        self.texts = {}

    def write(self, folder, name, text, ending="hlo"):
        file = f"{folder}/{name}.{ending}"
        assert file not in self.texts, file
        self.texts[file] = text

    def of_others(self):
        """What is there under a name of ours, and is not ours to change."""
        found = []
        for file in sorted(self.before.keys() | self.texts.keys()):
            path = self.golden / file
            if not path.exists():
                continue
            now = path.read_text()
            if without_rules(now) == without_rules(self.texts.get(file, "")):
                continue
            if file not in self.before:
                found.append(f"{file}: not written by {self.list.stem}.py")
            elif not is_hash_of(self.before[file], now):
                found.append(f"{file}: edited since {self.list.stem}.py wrote it")
        return found

    def finish(self, dry_run=False):
        """Writes and deletes files, and the list; returns how many of each changed."""
        others = self.of_others()
        if others:
            sys.exit(
                "\n".join(others + ["nothing was changed: rename those, or make the script write them so"]))
        gone = [file for file in self.before.keys() - self.texts.keys() if (self.golden / file).exists()]
        new = [file for file, text in self.texts.items()
               if not (self.golden / file).exists()
               or without_rules((self.golden / file).read_text()) != without_rules(text)]
        for what, files in (("write", new), ("delete", gone)):
            for file in sorted(files):
                print(what, file)
        print(f"{self.list.stem}: {len(self.texts)} goldens, {len(new)} {'to change' if dry_run else 'changed'}, "
              f"{len(gone)} {'to delete' if dry_run else 'deleted'}")
        if not dry_run:
            self.change(new, gone)
        return len(new), len(gone)

    def change(self, new, gone):
        for file in new:
            path = self.golden / file
            path.parent.mkdir(parents=True, exist_ok=True)
            rules = rules_of(path.read_text()) if path.exists() else ""
            path.write_text(rules + without_rules(self.texts[file]) if rules else self.texts[file])
        for file in gone:
            (self.golden / file).unlink()
        self.list.parent.mkdir(exist_ok=True)
        self.list.write_text(
            "".join(f"{file} {hash_of(text)}\n" for file, text in sorted(self.texts.items())))


def dry_run(doc):
    """The command line of a script: --help, --dry-run."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Touches only goldens that are in written/SCRIPT.txt, the list of those that it wrote.")
    parser.add_argument("--dry-run", action="store_true", help="says what would be written and deleted")
    return parser.parse_args().dry_run
