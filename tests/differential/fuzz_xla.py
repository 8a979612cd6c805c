#!/usr/bin/env python3
"""assay fuzz against JAX's platform (JAX_PLATFORMS, by default cpu), in one process of JAX.

Usage: fuzz_xla.py ASSAY OUTPUT [--profile xla-cpu] [flags of `assay fuzz`, such as --seconds 3600]

Findings are in OUTPUT. At the end a table shows how many programs each deviation explains that docs/found.md
has (known_deviations.py). The exit code is 1 if a finding is not explained, else that of `assay fuzz`, but 0
for findings.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys

from jax_backend import serving
from known_deviations import findings_of, table
from xla import Runner


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('output')
    parser.add_argument('--profile', default='xla-cpu')
    options, flags = parser.parse_known_args()
    runner = Runner()
    socket = pathlib.Path(options.output + '.socket').resolve()
    socket.unlink(missing_ok=True)
    # Always the same path, so that a later session asks the same question.
    with serving(runner, str(socket)) as path:
        script = pathlib.Path(__file__).resolve().parent / 'jax_backend.py'
        backend = shlex.join([sys.executable, '-S', '-E', str(script), '--at', path]) + \
            ' {program} {inputs} {outputs}'
        done = subprocess.run([options.assay, 'fuzz', '--backend', backend, '--profile', options.profile,
                               '--output', options.output, *flags])
    socket.unlink(missing_ok=True)
    runner.stop()
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    text, unexplained = table(findings_of(options.output))
    print(text)
    sys.exit(1 if unexplained else 0)


if __name__ == '__main__':
    main()
