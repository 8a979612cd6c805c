#!/usr/bin/env python3
"""How many faults of a backend are found by derived bounds, and by tolerances. Usage:

  bounds_mutations.py ASSAY_BINARY [--kinds REGEX] [--programs REGEX] [--each N] [--most N] [--seed S]
                                   [--folder DIR] [--exact]

The backend is XLA:CPU (jaxlib), given the program with a fault planted into one of its instructions
(mutations.py). A fault counts where it changes an output of the program, computed exactly but for it, by more
than COUNTS_ULPS ulps of the output's largest element, or one that is no float at all: smaller ones a correct
backend may have, and some that the profile allows (ALLOWED). Of each fault it is told whether
`assay diff --profile xla-cpu --isolate` finds it and names the instruction, and whether allclose and
run_hlo_module's rule find it in the outputs. False alarms are those on the backend without a fault. It fails
where less than 95 % are found or named, or where there is a false alarm.

--folder: the programs are DIR/NAME.hlo with inputs in DIR/NAME_in.npz, such as the modules that
`optimized_bounds.py --keep DIR` writes, after XLA:CPU's passes. --exact: the backend is Assay with the fault:
XLA:CPU does not run all modules that it has optimized."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import socket
import subprocess
import sys
import tempfile
import threading

import ml_dtypes
import numpy as np
from mutations import KINDS, marked, places, plant, right_names
from xla import Runner

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTS_ULPS = 16
ALLOWED = ('subnormals-flushed',)
SHARE_WANTED = 0.95
# Programs whose runs take minutes with this many faults, and one whose every value is the backend's own.
LEFT_OUT = ('tiny_gpt_train_step', 'random_draws')
CLIENT = """import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall("\\n".join(sys.argv[2:]).encode() + b"\\0")
answer = s.makefile().read()
sys.stderr.write(answer)
sys.exit(1 if answer else 0)
"""
TYPES = {'bf16': ml_dtypes.bfloat16, 'f8e4m3fn': ml_dtypes.float8_e4m3fn, 'f8e5m2': ml_dtypes.float8_e5m2,
         's4': ml_dtypes.int4}


def parameter_types(text):
    """Element types of the entry computation's parameters, which are arrays, in order."""
    entry = text[text.index('\nENTRY'):]
    found = re.findall(r'= (\w+)\[[^=]* parameter\((\d+)\)', entry)
    return [t for t, _ in sorted(found, key=lambda f: int(f[1]))]


class Server:
    """The faulty backend: one XLA:CPU for all programs, which Assay's commands ask through a socket."""

    def __init__(self, directory, assay):
        self.assay = assay  # the backend where it is not empty
        self.path = os.path.join(directory, 'backend.socket')
        self.client = os.path.join(directory, 'client.py')
        pathlib.Path(self.client).write_text(CLIENT)
        self.runners = queue.SimpleQueue()
        self.made = [] if assay else [Runner(), Runner()]
        for runner in self.made:
            self.runners.put(runner)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def command(self, kind):
        return f'{sys.executable} -S {self.client} {self.path} {kind} {{program}} {{inputs}} {{outputs}}'

    def stop(self):
        for runner in self.made:
            runner.stop()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        request = b''
        while not request.endswith(b'\0'):
            part = connection.recv(65536)
            if not part:
                return
            request += part
        try:
            answer = self.run(*request[:-1].decode().split('\n'))
        except Exception as error:  # the command fails with it
            answer = repr(error)
        connection.sendall(answer.encode())
        connection.close()

    def run(self, kind, program, inputs, outputs):
        text = pathlib.Path(program).read_text()
        if kind != 'none':
            text = plant(text, kind)
        if self.assay:
            planted = outputs + '.hlo'
            pathlib.Path(planted).write_text(text)
            done = subprocess.run([self.assay, 'run', planted, '--inputs', inputs, '--output', outputs],
                                  capture_output=True, text=True, errors='replace', timeout=120)
            return done.stderr
        with np.load(inputs) as stored:
            arrays = [stored[f'arg{k}'] for k in range(len(stored.files))]
        arguments = [a.view(TYPES[t]) if t in TYPES else a for a, t in zip(arrays, parameter_types(text))]
        runner = self.runners.get()
        try:
            status, results = runner.run(text, [arguments])
        finally:
            self.runners.put(runner)
        if status != 'ok':
            return results
        with open(outputs, 'wb') as file:
            np.savez(file, **{f'out{k}': as_stored(a) for k, a in enumerate(results[0])})
        return ''


def as_stored(array):
    """Types that NumPy lacks as raw bytes."""
    return array.view(f'V{array.dtype.itemsize}') if hasattr(ml_dtypes, array.dtype.name) else array


def as_numbers(array):
    if array.dtype.kind == 'V':
        array = array.view(ml_dtypes.bfloat16) if array.dtype.itemsize == 2 else array.view(np.uint8)
    if array.dtype.kind == 'c':
        return array
    return array.astype(np.float64)


def close(exact, actual, rtol, atol):
    return all(np.allclose(as_numbers(actual[k]), as_numbers(exact[k]), rtol=rtol, atol=atol, equal_nan=True)
               for k in exact)


def close_by_run_hlo_module(exact, actual):
    """Within 1e-3 absolute or relative, NaN as NaN and infinities as such."""
    for key in exact:
        e, a = as_numbers(exact[key]), as_numbers(actual[key])
        with np.errstate(all='ignore'):
            difference = np.abs(e - a)
            fine = (e == a) | (np.isnan(e) & np.isnan(a)) | (difference <= 1e-3) | (
                difference / np.abs(e) <= 1e-3)
        if not fine.all():
            return False
    return True


RULES = {
    'allclose(1e-3, 1e-3)': lambda e, a: close(e, a, 1e-3, 1e-3),
    'allclose(1e-5, 1e-8)': lambda e, a: close(e, a, 1e-5, 1e-8),
    "run_hlo_module's": close_by_run_hlo_module,
}


class Program:

    def __init__(self, assay, path, inputs, directory):
        self.name, self.inputs = path.parent.name if path.name == 'program.hlo' else path.stem, str(inputs)
        self.text = re.sub(r', metadata=\{[^{}]*\}', '',
                           subprocess.run([assay, 'print', str(path)], capture_output=True, text=True,
                                          check=True).stdout)
        self.directory = directory

    def file(self, name, text):
        path = os.path.join(self.directory, re.sub(r'[^\w.-]', '_', f'{self.name}.{name}'))
        pathlib.Path(path).write_text(text)
        return path


class Bench:

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.server = Server(directory, options.assay if options.exact else '')
        self.exact = {}

    def assay(self, *arguments):
        return subprocess.run([self.options.assay, *arguments], capture_output=True, text=True,
                              errors='replace', timeout=280)

    def load(self, path):
        with np.load(path) as stored:
            return {k: stored[k] for k in stored.files}

    def outputs_of(self, program):
        if program.name not in self.exact:
            out = os.path.join(self.directory, program.name + '.exact.npz')
            done = self.assay('run', program.file('hlo', program.text), '--inputs', program.inputs,
                              '--output', out)
            if done.returncode:
                raise RuntimeError(done.stderr)
            self.exact[program.name] = self.load(out)
        return self.exact[program.name]

    def change(self, program, text, kind):
        """Whether the fault counts."""
        if kind in ALLOWED:
            return False
        found = []
        for planted in (text, plant(text, kind)):
            path = program.file(f'{kind}.hlo', planted)
            out = path + '.npz'
            done = self.assay('run', path, '--inputs', program.inputs, '--output', out)
            if done.returncode:
                return None
            found.append(self.load(out))
        for key, before in found[0].items():
            b, a = as_numbers(before), as_numbers(found[1][key])
            if b.dtype.kind == 'c':
                b, a = b.view(np.float64), a.view(np.float64)
            same = (b == a) | (np.isnan(b) & np.isnan(a))
            if before.dtype.kind not in 'fV' and not same.all():
                return True
            bits = {'f8': 52, 'f4': 23, 'f2': 10}.get(before.dtype.str[1:], 7)
            with np.errstate(all='ignore'):
                largest = max(np.nanmax(np.abs(np.where(np.isfinite(b), b, 0)), initial=0), 2.0**-126)
                if not (same | (np.abs(b - a) <= COUNTS_ULPS * largest * 2.0**-bits)).all():
                    return True
        return False

    def diff(self, program, path, kind):
        done = self.assay('diff', path, '--inputs', program.inputs, '--backend', self.server.command(kind),
                          '--profile', 'xla-cpu', '--samples', '0',
                          '--isolate', '--json')
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.strip()[:500])
        return json.loads(done.stdout)

    def one(self, work):
        program, kind, name = work
        text = marked(program.text, name)
        outcome = {'program': program.name, 'kind': kind, 'name': name}
        try:
            outcome['counts'] = self.change(program, text, kind)
            if not outcome['counts']:
                return outcome
            path = program.file(f'{kind}.{name}.hlo', text)
            actual = path + '.npz'
            refused = self.server.run(kind, path, program.inputs, actual)
            if refused:
                outcome['refused'] = refused
                return outcome
            exact, actual = self.outputs_of(program), self.load(actual)
            report = self.diff(program, path, kind)
            wrong = report['isolate']['first_wrong']
            outcome['found'] = not report['conforms']
            outcome['named'] = wrong['name'] if wrong else None
            outcome['right'] = wrong is not None and wrong['name'] in right_names(text, name)
            outcome['rules'] = {rule: not fits(exact, actual) for rule, fits in RULES.items()}
        except (RuntimeError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
            outcome['failed'] = str(error)[:500] or repr(error)
        return outcome

    def without_fault(self, program):
        path = program.file('hlo', program.text)
        actual = path + '.npz'
        refused = self.server.run('none', path, program.inputs, actual)
        if refused:
            return None
        exact, actual = self.outputs_of(program), self.load(actual)
        report = self.diff(program, path, 'none')
        return report, {rule: not fits(exact, actual) for rule, fits in RULES.items()}


def programs_of(options, directory):
    found = []
    if options.folder:
        folder = pathlib.Path(options.folder)
        found = [(path, path.with_name(path.stem + '_in.npz')) for path in sorted(folder.glob('*.hlo'))]
        return chosen_of(options, found, directory)
    for path in sorted((ROOT / 'golden' / 'programs').iterdir()):
        if path.name not in LEFT_OUT:
            found.append((path / 'program.hlo', path / 'inputs.npz'))
    for path in sorted((ROOT / 'tests' / 'differential' / 'mutated').glob('*.hlo')):
        inputs = os.path.join(directory, path.stem + '.inputs.npz')
        np.savez(inputs, **inputs_for(path.read_text(), options.seed))
        found.append((path, inputs))
    return chosen_of(options, found, directory)


def chosen_of(options, found, directory):
    programs = []
    for path, inputs in found:
        program = Program(options.assay, path, inputs, directory)
        if re.fullmatch(options.programs, program.name):
            programs.append(program)
    return programs


def inputs_for(text, seed):
    """Numbers of all sizes, of both signs, with ties, NaN and infinities where the
    parameter's name says so."""
    rng = np.random.default_rng(seed)
    arrays = {}
    entry = text[text.index('\nENTRY'):]
    for name, element, sizes, number in re.findall(r'(\w+) = (\w+)\[([\d,]*)\]\S* parameter\((\d+)\)', entry):
        shape = [int(n) for n in sizes.split(',') if n]
        if element[0] in 'su':
            low, high = (0, 4) if 'index' in name else (-100, 100) if 'small' in name else (-2**31, 2**31)
            array = rng.integers(low, high, shape).astype({'s32': np.int32, 's8': np.int8}[element])
        else:
            array = 3 * rng.standard_normal(shape)
            if 'ties' in name:
                array = np.round(array) + 0.5
            array = array.astype(np.float32)
            if 'special' in name:
                array.reshape(-1)[:3] = np.nan, np.inf, -np.inf
            if 'tiny' in name:
                array = (array * 1e-19).astype(np.float32)
        arrays[f'arg{number}'] = array
    return arrays


def works_of(options, programs):
    for kind in KINDS:
        if not re.fullmatch(options.kinds, kind):
            continue
        count = 0
        for program in reversed(programs):  # the small ones, which have something of everything, first
            names = list(places(program.text, kind))
            for name in names[:: max(1, len(names) // options.each)][:options.each]:
                if count < options.most:
                    yield program, kind, name
                count += 1


def report(outcomes, alarms):
    failed = [o for o in outcomes if 'failed' in o]
    counted = [o for o in outcomes if o.get('counts') and 'refused' not in o and 'failed' not in o]
    found = [o for o in counted if o['found']]
    named = [o for o in found if o['right']]
    kinds = collections.defaultdict(list)
    for outcome in counted:
        kinds[outcome['kind']].append(outcome)
    print(f'{len(outcomes)} faults planted, {sum("refused" in o for o in outcomes)} refused; '
          f'{len(counted)} of {len(kinds)} kinds change a value by more than a correct backend could')
    for outcome in failed:
        print(f"  failed: {outcome['kind']} {outcome['program']} {outcome['name']}: "
              f"{outcome['failed'][:200]}")
    for outcome in outcomes:
        if 'refused' in outcome:
            print(f"  refused: {outcome['kind']} {outcome['program']} {outcome['name']}: {outcome['refused'][:200]}")
    print(f'| rule | faults found | false alarms on {len(alarms)} programs |\n|---|---|---|')
    total = max(len(counted), 1)
    wrong = {name for name, (r, _) in alarms.items() if not r['conforms']}
    print(f'| derived bounds, --isolate | {len(found)} ({len(found) / total:.1%}), '
          f'{len(named)} with the right instruction ({len(named) / max(len(found), 1):.1%}) | {len(wrong)} |')
    for rule in RULES:
        hits = sum(o['rules'][rule] for o in counted)
        false_alarms = sum(rules[rule] for _, rules in alarms.values())
        print(f'| {rule} | {hits} ({hits / total:.1%}) | {false_alarms} |')
    for name in sorted(wrong):
        print(f"  false alarm: {name}: {json.dumps(alarms[name][0]['isolate']['first_wrong'])[:600]}")
    for outcome in counted:
        if not outcome['found'] or not outcome['right']:
            what = f"named {outcome['named']}" if outcome['found'] else 'not found'
            print(f"  {what}: {outcome['kind']} {outcome['program']} {outcome['name']}")
    return bool(counted) and not failed and len(found) >= SHARE_WANTED * total and len(
        named) >= SHARE_WANTED * len(found) and not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('assay')
    parser.add_argument('--kinds', default='.*')
    parser.add_argument('--programs', default='.*')
    parser.add_argument('--each', type=int, default=1, help='places in a program')
    parser.add_argument('--most', type=int, default=4, help='places of a kind')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--folder', default='', help='programs and inputs other than the repository has')
    parser.add_argument('--exact', action='store_true', help='the backend is Assay')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='assay_mutations_') as directory:
        bench = Bench(options, directory)
        programs = programs_of(options, directory)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(bench.one, works_of(options, programs)))
            alarms = {p.name: a for p, a in zip(programs, pool.map(bench.without_fault, programs)) if a}
        bench.server.stop()
    return 0 if report(outcomes, alarms) else 1


if __name__ == '__main__':
    sys.exit(main())
