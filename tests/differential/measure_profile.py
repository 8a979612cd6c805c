#!/usr/bin/env python3
"""Measures how far the functions of JAX's platform are from exact ones, and writes a profile of it.

Usage: JAX_PLATFORMS=cuda measure_profile.py ASSAY_BINARY [--output FILE.profile] [--count N] [--seed S]
                                             [--origin 'driver 580.1']

`assay profile measure` does the work; this script has it run programs on JAX (jax_backend.py), and says what
JAX knows of its versions and its device. docs/bounds.md has what a profile allows of what was measured.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys

from jax_backend import serving
from xla import Runner


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--output')
    parser.add_argument('--count', type=int, default=100000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--origin', action='append', default=[], help="a line, such as 'driver 580.1'")
    options = parser.parse_args()
    runner = Runner()
    about = runner.about()
    origin = [
        'made_by tests/differential/measure_profile.py',
        f"backend {about['label']} of jaxlib {about['jaxlib']} ({about['version']})",
        f"device {about['device']}"
    ] + options.origin
    command = [options.assay, 'profile', 'measure', '--count', str(options.count)]
    command += ['--seed', str(options.seed)]
    for line in origin:
        command += ['--origin', line]
    if options.output:
        command += ['--output', options.output]
    script = pathlib.Path(__file__).with_name('jax_backend.py')
    with serving(runner) as path:
        words = [sys.executable, '-S', str(script), '--at', path]
        backend = ' '.join(map(shlex.quote, words)) + ' {program} {inputs} {outputs}'
        code = subprocess.run([*command, '--backend', backend]).returncode
    runner.stop()
    return code


if __name__ == '__main__':
    sys.exit(main())
