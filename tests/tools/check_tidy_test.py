#!/usr/bin/env python3
""".clang-tidy shows what clang-tidy finds in every folder of LAYERS, and tools/check_tidy ends with 1 on it.

Usage: check_tidy_test.py CHECK_TIDY      (exit code 77, skipped: there is no clang-tidy)
"""

import importlib.machinery
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CLEAN = "inline int {0}(int x) {{ return x + 1; }}\n"
# bugprone-suspicious-semicolon
PLANTED = "inline int {0}(int x) {{\n  if (x > 1);\n  return x;\n}}\n"


def layers_of(check_tidy):
    loader = importlib.machinery.SourceFileLoader("check_tidy", str(check_tidy))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module.layers()


class Tree:
    """A tree with a header and a source in every layer, compiled as one batch."""

    def __init__(self, root, check_tidy, planted=(), unreached=()):
        self.root, self.check_tidy = pathlib.Path(root).resolve(), check_tidy
        shutil.copy(check_tidy.parent.parent / ".clang-tidy", self.root)
        lines = []
        for folder in layers_of(check_tidy):
            for ending in (".h", ".cc"):
                name = f"{folder}/a{ending}"
                function = re.sub(r"\W", "_", name)
                self.write(name, (PLANTED if name in planted else CLEAN).format(function))
                if name not in unreached:
                    lines.append(f'#include "{self.root / name}"\n')
        # What protoc writes is nobody's to mend.
        self.write("build/generated/hlo/proto/hlo.pb.h", PLANTED.format("Generated"))
        lines.append('#include "build/generated/hlo/proto/hlo.pb.h"\n')
        self.write("build/batch_cxx.cxx", "".join(lines))
        batch = str(self.root / "build/batch_cxx.cxx")
        commands = [{"directory": str(self.root), "command": f"clang++ -std=c++20 -I{self.root} -c {batch}",
                     "file": batch}]
        self.write("build/compile_commands.json", json.dumps(commands))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, *folders):
        command = [sys.executable, self.check_tidy, "--root", self.root, "--build", self.root / "build",
                   *folders]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def problems_of_filter(check_tidy):
    """The folders whose files the filter does not match, without a run of clang-tidy."""
    text = (check_tidy.parent.parent / ".clang-tidy").read_text(encoding="utf-8")
    pattern = re.compile(re.search(r"^HeaderFilterRegex: '(.*)'$", text, re.M)[1])
    for folder in layers_of(check_tidy):
        for name in ("some_file.h", "some_file.cc"):
            if not pattern.search(f"assay/{folder}/{name}"):
                yield f".clang-tidy: HeaderFilterRegex does not match {folder}/{name}"
    if pattern.search("assay/build/tidy/generated/hlo/proto/hlo.pb.h"):
        yield ".clang-tidy: HeaderFilterRegex matches what protoc writes"


def problems_of_runs(check_tidy):
    def run(wanted, *folders, **tree):
        with tempfile.TemporaryDirectory() as root:
            found = Tree(root, check_tidy, **tree).check(*folders)
            text = found.stdout.replace(f"{pathlib.Path(root).resolve()}/", "")
        missing = [line for line in wanted if f"\n{line}" not in f"\n{text}"]
        lines = [line for line in text.splitlines() if " error: " in line]
        if missing or len(lines) != len(wanted) or found.returncode != (1 if wanted else 0):
            yield f"wanted {wanted}, found exit code {found.returncode} and:\n{text}{found.stderr}"

    layers = layers_of(check_tidy)
    yield from run([])
    everywhere = [f"{folder}/a{ending}" for folder in layers for ending in (".h", ".cc")]
    semicolon = ":2:13: error: potentially unintended semicolon"
    yield from run([name + semicolon for name in everywhere], planted=everywhere)
    yield from run(["gpu/ptx/a.cc" + semicolon], planted=["gpu/ptx/a.cc"])
    yield from run(["python/a.cc: error: no compile command reaches it"], unreached=["python/a.cc"])
    yield from run([], "python", unreached=["gpu/a.cc"])
    yield from run(["gpu/a.cc: error: no compile command reaches it"], "gpu", unreached=["gpu/a.cc"])


def main():
    check_tidy = pathlib.Path(sys.argv[1]).resolve()
    problems = [*problems_of_filter(check_tidy)]
    if problems or shutil.which("clang-tidy") is None:
        print(*problems, sep="\n")
        return 1 if problems else 77
    problems = [*problems_of_runs(check_tidy)]
    print(*problems, f"{len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
