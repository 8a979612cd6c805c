#!/usr/bin/env python3
"""Runs a program on JAX's platform: what `assay diff` and `assay profile measure` take for a backend.

Usage: assay ... --backend 'python3 jax_backend.py {program} {inputs} {outputs}'
       assay ... --backend 'python3 jax_backend.py --at SOCKET {program} {inputs} {outputs}'

JAX_PLATFORMS chooses the platform (cpu). The program is HLO text, the inputs are arg0, ... and the outputs
out0, ...; raw bytes are of the types that the program says. With --at the process behind that socket
(serving), in which JAX has started, runs it.
"""

import contextlib
import json
import os
import re
import socket
import socketserver
import sys
import tempfile
import threading

ENDED = 'ended its process'


def parameter_types(text):
    """The element types of the entry computation's parameters, by number; of arrays alone."""
    entry = text[text.index('ENTRY '):]
    found = re.findall(r'= (\w+)\[[^\]]*\](?:\{[^}]*\})? parameter\((\d+)\)', entry)
    return {int(number): element for element, number in found}


def result_keys(text):
    """Names of the entry computation's results in order: out0, ...; of a tuple in the tuple out1.0, ..."""
    header = text[text.index('ENTRY '):].partition('\n')[0]
    result = re.sub(r'/\*.*?\*/', '', header[header.rindex('->') + 2:])
    keys, path = [], []  # numbers of the element in the tuples around it
    for token in re.findall(r'\w+\[[^\]]*\](?:\{[^}]*\})?|[(),]', result):
        if token == '(':
            path.append(0)
        elif token == ')':
            path.pop()
        elif token == ',':
            path[-1] += 1
        else:
            keys.append('out' + ('.'.join(map(str, path)) or '0'))
    return keys


def run(runner, program, inputs, outputs):
    """Why not; empty: it ran."""
    import numpy as np
    from values import NUMPY

    with open(program) as file:
        text = file.read()
    types = parameter_types(text)
    with np.load(inputs) as stored:
        arguments = [stored[f'arg{k}'] for k in range(len(stored.files))]
    dtypes = [np.dtype(NUMPY[types[k]]) for k in range(len(arguments))]
    arguments = [a if a.dtype == dtype else a.view(dtype) for a, dtype in zip(arguments, dtypes)]
    status, results = runner.run(text, [arguments])
    if status != 'ok':
        return f'{runner.label()} refuses the program: {results}'
    np.savez(outputs, **dict(zip(result_keys(text), results[0], strict=True)))
    return ''


@contextlib.contextmanager
def serving(runner, path=None):
    """The socket of a server that runs programs one after the other, as long as the context lasts; at `path`,
    if given."""

    class Handler(socketserver.StreamRequestHandler):

        def handle(self):
            try:
                why = run(runner, *json.loads(self.rfile.readline()))
            except Exception as error:  # the client shows it
                why = repr(error)
            self.wfile.write(json.dumps(why).encode() + b'\n')

    with tempfile.TemporaryDirectory() as directory:
        path = path or os.path.join(directory, 'socket')
        with socketserver.UnixStreamServer(path, Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield path
            server.shutdown()


def ask(path, paths):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(json.dumps(paths).encode() + b'\n')
        with connection.makefile() as answer:
            return json.loads(answer.readline())


def main():
    if sys.argv[1] == '--at':
        why = ask(sys.argv[2], sys.argv[3:])
        if ENDED in why:
            os.abort()  # as the process behind the socket did
        sys.exit(why or 0)
    from xla import Runner
    runner = Runner()
    why = run(runner, *sys.argv[1:])
    runner.stop()
    sys.exit(why or 0)


if __name__ == '__main__':
    main()
