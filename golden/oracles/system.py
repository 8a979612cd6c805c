#!/usr/bin/env python3
"""Writes golden/control/, golden/random/, golden/collective/ and golden/host/.

Expectations are worked by hand or printed in the specification; random streams come from an implementation of
its formulas in Python (system_random.py, needs numpy and mpmath). Run it again after a change: output is
reproducible.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import written  # noqa: E402


class Table:
    """The files of one folder, by name."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}

    def add(self, name, header, entry, computations="", module=""):
        assert name not in self.files, name
        text = "".join(f"// {line}\n" for line in header) + f"HloModule {name}{module}\n\n"
        for computation in computations.strip().split("\n\n") if computations.strip() else []:
            text += indent(computation) + "\n\n"
        self.files[name] = text + "ENTRY main {\n" + lines(entry) + "}\n"

    def gives(self, name, entry, args=(), outs=(), oracle="hand", computations="", module="", options=None,
              decision=None, received=None, **named):
        """args and outs: values of arg0, arg1, ... and out0, out1, ...; other keys by name, '_' for '.' where
        they have no '/'; `received` are the values of host receives, by their keys."""
        header = [f"oracle: {oracle}"]
        header += [f"decision: {decision}"] if decision else []
        header += [f"options: {options}"] if options else []
        header += [f"arg{i}: {value}" for i, value in enumerate(args)]
        values = {key if "/" in key else key.replace("_", "."): value for key, value in named.items()}
        def is_out(key):
            return key.rsplit("/", 1)[-1].startswith("out")
        header += [f"{key}: {value}" for key, value in values.items() if not is_out(key)]
        header += [f"{key}: {value}" for key, value in (received or {}).items()]
        header += [f"out{i}: {value}" for i, value in enumerate(outs)]
        header += [f"{key}: {value}" for key, value in values.items() if is_out(key)]
        self.add(name, header, entry, computations, module)

    def refuses(self, name, code, text, entry, args=(), computations="", module="", options=None):
        header = [f"refuse: {code} {text}"] + ([f"options: {options}"] if options else [])
        header += [f"arg{i}: {value}" for i, value in enumerate(args)]
        self.add(name, header, entry, computations, module)

    def write(self, script):
        for name, text in self.files.items():
            script.write(self.folder, name, text)


def lines(text):
    return "".join(f"  {line.strip()}\n" for line in text.strip().splitlines())


def indent(computation):
    first, *rest = [line.strip() for line in computation.strip().splitlines()]
    return "\n".join([first] + [line if line == "}" else "  " + line for line in rest])


def main(dry_run):
    script = written.Script(__file__)
    import system_collective
    import system_control
    import system_host
    import system_random
    for part in (system_control, system_random, system_collective, system_host):
        part.table().write(script)
    script.finish(dry_run)


if __name__ == "__main__":
    main(written.dry_run(__doc__))
