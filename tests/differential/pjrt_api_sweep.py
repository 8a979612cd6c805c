#!/usr/bin/env python3
"""Runs JAX's public functions on the plugin and on XLA:CPU, in one process, and compares what comes back.

Usage: pjrt_api_sweep.py ASSAY_BINARY [--count N] [--every N] [--seed S] [--only REGEX] [--share PERCENT]

The plugin is the installed package's (docs/jax.md), or that of PJRT_NAMES_AND_LIBRARY_PATHS=assay:LIB.so. The
functions and their arguments are the tables of jax_programs/, which have every public function of jax.numpy,
lax, scipy, nn, random, fft and image; each is called as a user calls it, jitted, with arrays on the device,
as it is, under vmap and under grad, with and without x64. Results are compared by jax_comparison.py: integers
exactly, floats within a few units or what rounding can do to the program, or of a class that
docs/semantics.md explains, where Assay's command gives the plugin's bits; where XLA:CPU raises an error, the
plugin has to raise one of the same kind. It fails where fewer than --share per cent (98) of the cases agree,
and lists all that do not.
"""

import argparse
import collections
import concurrent.futures
import os
import queue
import re
import sys
import tempfile

import numpy as np
from jax_comparison import compare, equal
from jax_functions import Variants, in_types, run_assay, write
from worker import Worker

ANSWER_SECONDS = 200
SHOWN = 4
# What JAX itself refuses, whatever the device, is no case.
NO_CASE = ('not lowered', 'no results', 'no answer')
FINE = ('ok', 'both refuse', 'refused by XLA:CPU alone')


def _serve(connection):
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    os.environ.pop('JAX_PLATFORMS', None)
    os.environ['ASSAY_LAPACK'] = '1'  # as in run_assay
    import warnings
    warnings.simplefilter('ignore')
    import jax
    import lowered_programs
    devices = {'assay': jax.devices('assay')[0], 'xla': jax.devices('cpu')[0]}

    def run_on(device, function, args):
        with jax.default_device(device):
            try:
                placed = [jax.device_put(a, device) for a in args]
                results = jax.tree_util.tree_leaves(jax.jit(function, keep_unused=True)(*placed))
                for r in results:
                    if isinstance(r, jax.Array) and not r.devices() <= {device}:
                        return 'error', f'WrongDevice: {r.devices()}'
                return 'ok', [np.asarray(r) for r in results]
            except Exception as error:  # what is raised is the answer
                return 'error', f'{type(error).__name__}: {error}'

    def as_it_was_read(function, args):
        """The plugin's program as a proto: on its way there JAX writes some functions out."""
        device = devices['assay']
        with jax.default_device(device):
            placed = [jax.device_put(a, device) for a in args]
            compiled = jax.jit(function, keep_unused=True).lower(*placed).compile()
        return compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()

    def answer(case, seed, what):
        with jax.enable_x64(case.x64):
            lowered = lowered_programs.Lowered(case, seed)
            if what == 'hlo':
                return 'ok', lowered.program('hlo').decode()
            if what == 'proto':
                return 'ok', as_it_was_read(lowered.function, lowered.args)
            if not jax.tree_util.tree_leaves(lowered.lowered.out_info):
                return 'no results', ''
            found = {name: run_on(device, lowered.function, lowered.args) for name, device in devices.items()}
            return 'ok', found | {'args': lowered.args}

    while True:
        try:
            case, seed, what = connection.recv()
        except EOFError:
            return
        try:
            connection.send(answer(case, seed, what))
        except Exception as error:
            connection.send(('not lowered', f'{type(error).__name__}: {error}'))


class Both(Worker):

    def __init__(self):
        super().__init__(_serve, ANSWER_SECONDS)

    def get(self, case, seed, what):
        answer = self.ask((case, seed, what), if_ended=('no answer', 'the process ended'))
        return answer or ('no answer', f'none in {ANSWER_SECONDS} s')


def kind_of(error):
    """JaxRuntimeError's code, which stands before its message, else the exception's class."""
    found = re.match(r'JaxRuntimeError: ([A-Z_]+)', error)
    return found[1] if found else error.split(':')[0]


def is_assays(ours, assay, base, program):
    """The command gives the same bits. What explains a difference between Assay and XLA:CPU
    explains none of the plugin's."""
    path = write(base + '.pb', program)
    status, found = run_assay(assay, path, base + '_in.npz', base + '_own.npz')
    if status != 'ok':
        return False
    return all(np.array_equal(a, b) or np.array_equal(a.view('u1'), b.view('u1')) or bool(np.all(equal(a, b)))
               for a, b in zip(in_types(found, ours), ours, strict=True))


def judge(both, assay, case, seed, directory):
    """(status, what there is to say)."""
    status, found = both.get(case, seed, 'run')
    if status != 'ok':
        return status, found
    (ours_status, ours), (theirs_status, theirs) = found['assay'], found['xla']
    if theirs_status == 'error':
        if ours_status == 'ok':
            return 'refused by XLA:CPU alone', theirs
        same = kind_of(ours) == kind_of(theirs)
        return ('both refuse', ours) if same else ('other error', f'assay {ours}; xla {theirs}')
    if ours_status == 'error':
        return 'refused', ours
    base = os.path.join(directory, case.name)
    np.savez(base + '_in.npz', **{f'arg{k}': a for k, a in enumerate(found['args'])})

    def asked(what):
        kind, program = both.get(case, seed, what)
        if kind != 'ok':
            raise RuntimeError(program)
        return program

    try:
        differences = compare(ours, theirs, Variants(assay, base, lambda: asked('hlo'), theirs))
        if differences and not is_assays(ours, assay, base, asked('proto')):
            return 'different', 'not what Assay itself gives; ' + '; '.join(map(str, differences))
    except (RuntimeError, ValueError, KeyError) as error:
        return 'not compared', str(error)
    unknown = [d for d in differences if not d.tag]
    return ('different',
            '; '.join(map(str, unknown))) if unknown else ('ok', ' '.join(d.tag for d in differences))


def show(case, status, why):
    print(f'{status}: {case.name}: {" ".join(why.split())[:300]}', flush=True)


def judge_all(cases, options, directory):
    idle = queue.SimpleQueue()
    workers = [Both() for _ in range(options.jobs)]
    for worker in workers:
        idle.put(worker)

    def work(case):
        worker = idle.get()
        try:
            return case, *judge(worker, options.assay, case, options.seed, directory)
        except Exception as error:  # one case must not hide the others
            return case, 'the comparison itself failed', repr(error)
        finally:
            idle.put(worker)

    judged = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for one in pool.map(work, cases):
            judged.append(one)
            if one[1] not in FINE + NO_CASE:
                show(*one)
            if len(judged) % 100 == 0:
                print(f'{len(judged)} of {len(cases)}', file=sys.stderr, flush=True)
    for worker in workers:
        worker.stop()
    return judged


def report(judged, share):
    by_status = collections.defaultdict(list)
    for case, status, why in judged:
        by_status[status].append((case.name, why))
    print(f'differences that are explained: {dict(collections.Counter(tag for _, why in by_status["ok"] for tag in why.split()))}')
    for status, found in sorted(by_status.items()):
        for name, why in found[:SHOWN] if status in FINE + NO_CASE and status != 'ok' else []:
            print(f'such as {status}: {name}: {" ".join(why.split())[:300]}')
    counted = [one for one in judged if one[1] not in NO_CASE]
    fine = sum(status in FINE for _, status, _ in counted)
    rows = len({case.label for case, _, _ in counted})
    print(f'{len(counted)} cases of {rows} calls: ' + ', '.join(
        f'{len(found)} {status}'
        for status, found in sorted(by_status.items(), key=lambda item: -len(item[1]))))
    reached = 100 * fine / max(len(counted), 1)
    print(f'{reached:.2f} % agree, want {share}')
    return bool(counted) and reached >= share


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--count', type=int, default=1634, help='cases (1634: each call of the tables once)')
    parser.add_argument('--first', type=int, default=0, help='leave out so many of them')
    parser.add_argument('--every', type=int, default=1, help='take each N-th of them only')
    parser.add_argument('--seed', type=int, default=23)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', default='', help='only cases whose name matches this')
    parser.add_argument('--share', type=float, default=98,
                        help='per cent of the cases that have to agree (98)')
    options = parser.parse_args()
    os.environ['JAX_PLATFORMS'] = 'cpu'  # here; the workers have both
    from jax_programs.rows import missing
    from lowered_programs import all_cases
    if missing():
        print('functions that are in no table:', ', '.join(missing()))
        return 1
    cases = [c for c in all_cases(options.seed) if re.search(options.only, c.name)]
    with tempfile.TemporaryDirectory() as directory:
        return 0 if report(judge_all(cases[options.first:options.count:options.every], options, directory),
                           options.share) else 1


if __name__ == '__main__':
    sys.exit(main())
