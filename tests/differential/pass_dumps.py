#!/usr/bin/env python3
"""assay bisect on the dumps that XLA:CPU writes after each of its passes, and on dumps with planted faults.

Usage: pass_dumps.py ASSAY_BINARY [--only REGEX]

Small JAX functions are compiled by jaxlib with --xla_dump_hlo_pass_re=.*. What `assay bisect` finds is held
against what this script finds by other commands: `assay run` of every dump, whose files of outputs are
compared by their bytes, and `assay diff --actual --profile` of the program before all passes with them. Then
a fault is planted: the text of a dump from some pass on, and of all later ones, is edited as a wrong pass
would change the program. bisect must name that pass and, where the fault changes an instruction's own value,
the instruction.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

FOLDER = tempfile.TemporaryDirectory(prefix='assay_passes_')
os.environ['JAX_PLATFORMS'] = 'cpu'
os.environ['XLA_FLAGS'] = (f'--xla_dump_to={FOLDER.name}/dumps --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text '
                           '--xla_dump_large_constants --xla_force_host_platform_device_count=2')

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

GENERATOR = np.random.default_rng(17)


def normal(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


def softmax(x):
    return jax.nn.softmax(x)


def division(x):
    return jnp.tanh(x / 7.3)


def doubled(x):
    return x * 2 / 2 + 1


def select(x, y):
    return jnp.where(x > y, x * 2, jnp.sin(y))


def layer(x, w):
    return jnp.exp(-(x @ w)) + 0.5


def dots(x, w):
    return jnp.einsum('ij,kj->ik', x, w) * 1.5


def window(x):
    return jnp.cos(x[1:9]) + x[3:11]


def normalized(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def loop(x):
    return lax.fori_loop(0, 3, lambda i, s: jnp.sin(s) / 3.7 + i, x)


def integers(n):
    return (n * 6 // 3, n % 7, jnp.sort(n))


def sharded(x, w):
    return jnp.tanh(x @ w).sum(0)


# The function, its arguments, and the faults that are planted: what stands in a dump's text for what, and the
# names of operations one of which must be named first.
CASES = {
    'softmax': (softmax, (normal(4, 9),), []),
    'division': (division, (normal(200),), []),
    'doubled': (doubled, (normal(40),), []),
    'select': (select, (normal(30), normal(30)),
               [('flipped compare', r'direction=GT', 'direction=LT', ('compare', ))]),
    'layer': (layer, (normal(5, 5), normal(5, 5)),
              [('dropped negate', r' negate\(', ' copy(', ('copy', 'exponential')),
               ('changed constant', r'constant\(0\.5\)', 'constant(0.25)', ('constant', ))]),
    'dots': (dots, (normal(6, 6), normal(6, 6)),
             [('transposed dot', r'rhs_contracting_dims=\{(\d)\}',
               lambda m: f'rhs_contracting_dims={{{1 - int(m[1])}}}', ('dot', ))]),
    'window': (window, (normal(12),),
               [('off-by-one slice', r'slice=\{\[1:9\]\}', 'slice={[2:10]}', ('slice', ))]),
    'normalized': (normalized, (normal(5, 8),), []),
    'loop': (loop, (normal(10),), []),
    'integers': (integers, (GENERATOR.integers(-50, 50, 20).astype(np.int32),), []),
}
# jaxlib 0.10.2: the pass that is known to change bits.
KNOWN = {'division': 'algsimp', 'doubled': None, 'integers': None}


class Dumps:
    """The dumps of a function's module: names in order of the passes, and its inputs."""

    def __init__(self, name, function, arguments, **jit_options):
        self.folder = pathlib.Path(FOLDER.name) / 'dumps'
        jax.jit(function, **jit_options).lower(*arguments).compile()
        files = [path.name for path in self.folder.iterdir()
                 if re.fullmatch(rf'module_\d+\.jit_{name}\..*\.txt', path.name)]
        self.module = re.match(r'module_\d+\.jit_\w+?(?=\.)', files[0])[0]
        rest = {file: file.removeprefix(self.module + '.') for file in files}
        steps = sorted(file for file in files if re.match(r'\d{4}\..*\.after_', rest[file]))
        self.files = [
            *(file for file in files if rest[file] == 'before_optimizations.txt'), *steps,
            *(file for file in files if rest[file] == 'cpu_after_optimizations.txt')
        ]
        self.inputs = pathlib.Path(FOLDER.name) / f'{name}.npz'
        np.savez(self.inputs, **{f'arg{k}': np.asarray(a) for k, a in enumerate(arguments)})

    def text(self, file):
        return (self.folder / file).read_text()


class Assay:

    def __init__(self, binary):
        self.binary = binary

    def run(self, *arguments, codes=(0,)):
        done = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, timeout=300)
        if done.returncode not in codes:
            raise RuntimeError(f"assay {' '.join(map(str, arguments))}: exit code {done.returncode}: "
                               f"{done.stderr.decode(errors='replace').strip()[:300]}")
        return done.stdout

    def outputs(self, program, inputs):
        """The bytes of the program's outputs by key, and the file that has them."""
        path = str(program) + '.npz'
        self.run('run', program, '--inputs', inputs, '--output', path)
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}, path

    def conforms(self, program, inputs, actual):
        """Whether no element is outside of the bounds, and whether all are inside."""
        report = json.loads(self.run('diff', program, '--inputs', inputs, '--actual', actual, '--profile',
                                     'xla-cpu', '--samples', '0', '--json', codes=(0, 1)))['outputs'].values()
        return not any(o['outside'] for o in report), all(o['inside'] == o['elements'] for o in report)

    def bisect(self, folder, module, inputs):
        return json.loads(self.run('bisect', folder, '--module', f'^{re.escape(module)}$', '--inputs', inputs,
                                   '--profile', 'xla-cpu', '--json', codes=(0, 1)))[0]


def expected(assay, dumps, folder):
    """The first dump with other bits, and the first one that is outside of the bounds, by other commands."""
    wanted, _ = assay.outputs(folder / dumps.files[0], dumps.inputs)
    first_change = first_outside = None
    seen = {}
    for file in dumps.files[1:]:
        text = (folder / file).read_text()
        if text in seen:
            continue
        seen[text] = file
        outputs, path = assay.outputs(folder / file, dumps.inputs)
        if outputs == wanted:
            continue
        first_change = first_change or file
        if not assay.conforms(folder / dumps.files[0], dumps.inputs, path)[0]:
            first_outside = first_outside or file
    return first_change, first_outside


def after(found, file):
    """The detail of the pass that this file comes after."""
    return next((detail for detail in found['passes'] if detail['after'] == file), None)


def pass_of(file):
    """The pass in a dump's name; empty for the dump after optimization."""
    if file is None:
        return None
    named = re.search(r'\.\d{4}\.[^.]+\.after_([^.]*)', file)
    return named[1] if named else ''


def check_real(assay, name, dumps):
    found = assay.bisect(dumps.folder, dumps.module, dumps.inputs)
    change, outside = expected(assay, dumps, dumps.folder)
    problems = []
    if (found['dumps'], found['first_change'], found['first_outside']) != (len(dumps.files), pass_of(change),
                                                                          pass_of(outside)):
        problems.append(f"{found['dumps']} dumps, {found['first_change']}, {found['first_outside']}, want "
                        f'{len(dumps.files)}, {pass_of(change)}, {pass_of(outside)}')
    if change and not after(found, change):
        problems.append(f'no detail of {change}')
    if change and not after(found, change).get('first_difference'):
        problems.append(f'no first difference of {change}')
    if name in KNOWN and found['first_change'] != KNOWN[name]:
        problems.append(f"first change by {found['first_change']}, want {KNOWN[name]}")
    print(f"{name}: {found['dumps']} dumps, {found['distinct']} distinct, {found['evaluated']} evaluated; first "
          f"change {found['first_change']}, outside {found['first_outside']}, {found['undecided']} undecided")
    return problems


def check_planted(assay, name, dumps, fault, part):
    """The fault from the dump on that lies at this share of all."""
    what, pattern, replacement, ops = fault
    applicable = [bool(re.search(pattern, dumps.text(file))) for file in dumps.files]
    first = max(1, int(part * len(dumps.files)))
    while first < len(dumps.files) and not all(applicable[first:]):
        first += 1
    if first == len(dumps.files):
        return [f'{what}: the last dump has no place for it']
    folder = pathlib.Path(FOLDER.name) / re.sub(r'\W', '_', f'{name}_{what}_{part}')
    folder.mkdir()
    for k, file in enumerate(dumps.files):
        text = dumps.text(file)
        (folder / file).write_text(re.sub(pattern, replacement, text) if k >= first else text)
    found = assay.bisect(folder, dumps.module, dumps.inputs)
    detail = after(found, dumps.files[first])
    named = detail and detail.get('first_difference') and detail['first_difference']['pair']['second']
    print(f"{name}: {what} from {pass_of(dumps.files[first])} on ({first} of {len(dumps.files)}): "
          f"{found['first_outside']}, {named and named['op']}")
    if not detail or found['first_outside'] != pass_of(dumps.files[first]):
        return [f"{what}: named {found['first_outside']}, want {dumps.files[first]}"]
    return [] if named and named['op'] in ops else [f'{what}: named {named}, want one of {ops}']


def check_sharded(assay):
    """Two devices: dumps after the partitioner are compared with the whole program."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ('d',))
    spec = lambda *axes: jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
    dumps = Dumps('sharded', sharded, (normal(4, 8), normal(8, 6)), in_shardings=(spec(None, 'd'), spec('d')),
                  out_shardings=spec())
    partitioned = [bool(re.search(r'f32\[4,4\]\S* parameter\(0\)', dumps.text(file))) for file in dumps.files]
    found = assay.bisect(dumps.folder, dumps.module, dumps.inputs)
    problems = []
    skipped = [step['file'] for step in found['steps'] if step['kind'] == 'skipped']
    if found['first_outside'] or skipped or not any(partitioned) or partitioned[0]:
        problems.append(f"outside {found['first_outside']}, skipped {skipped}")
    for file, is_partitioned in zip(dumps.files, partitioned):
        if is_partitioned:
            assay.run('diff', '--spmd', dumps.folder / file, dumps.folder / dumps.files[0], '--inputs',
                      dumps.inputs)
    print(f"sharded: {found['dumps']} dumps, {sum(partitioned)} partitioned, {found['distinct']} distinct, "
          f"{found['evaluated']} evaluated; first change {found['first_change']}, {found['undecided']} undecided")
    fault = ('sine for tanh', r' tanh\(', ' sine(', ('sine', 'tanh'))
    return problems + check_planted(assay, 'sharded', dumps, fault, 0.6)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--only', default='')
    options = parser.parse_args()
    assay = Assay(os.path.abspath(options.assay))
    failures = count = planted = 0
    for name, (function, arguments, faults) in CASES.items():
        if not re.search(options.only, name):
            continue
        dumps = Dumps(name, function, arguments)
        problems = check_real(assay, name, dumps)
        count += 1
        for fault in faults:
            for part in (0.2, 0.6):
                problems += check_planted(assay, name, dumps, fault, part)
                planted += 1
        failures += len(problems)
        for problem in problems:
            print(f'FAILED {name}: {problem}')
    if re.search(options.only, 'sharded'):
        problems = check_sharded(assay)
        count, planted, failures = count + 1, planted + 1, failures + len(problems)
        for problem in problems:
            print(f'FAILED sharded: {problem}')
    print(f'{count} functions, {planted} planted faults, {failures} failures')
    return 1 if failures or not count else 0


if __name__ == '__main__':
    sys.exit(main())
