#!/usr/bin/env python3
"""Runs generated programs of several devices with Assay and with XLA:CPU (jaxlib, host devices) and compares
the results.

Usage: devices_against_xla.py ASSAY_BINARY [--programs N] [--seed S] [--keep DIR]

Each program is a chain of collectives and elementwise steps on a grid of replicas and partitions, with groups
of every mode that the op has. Values are integers, in s32 or in f32 that holds each sum and product exactly,
so that results are equal or wrong. What XLA:CPU refuses is counted; more than a tenth is a failure of this
test. All-to-all of tuples is left out: it ends the process of XLA:CPU.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

from worker import Worker

GRIDS = [(2, 1), (1, 2), (4, 1), (1, 4), (2, 2), (3, 2), (2, 3), (6, 1), (1, 6), (8, 1), (1, 8), (2, 4)]
MOST_ELEMENTS = 512
MOST_MAGNITUDE = 2 ** 22  # of values in f32, far below where integers are rounded
MOST_REFUSED = 0.1


class Program:
    """The text, and the arguments of each device."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f'devices_{seed}'
        self.replicas, self.partitions = self.random.choice(GRIDS)
        self.type = self.random.choice(['s32', 'f32'])
        self.lines, self.computations, self.count = [], {}, 0
        self.shape = [self.random.randint(1, 4) for _ in range(self.random.randint(1, 3))]
        self.most = 9  # magnitude of the value
        self.argument_shape = tuple(self.shape)
        self.value = self.emit(self.text_of(self.shape), 'parameter(0)')
        for _ in range(self.random.randint(2, 6)):
            self.random.choice(
                [self.all_reduce, self.all_gather, self.reduce_scatter, self.all_to_all, self.permute,
                                self.add_id, self.widen])()
        self.lines[-1] = self.lines[-1].replace('  ', '  ROOT ', 1)
        generator = np.random.default_rng(seed)
        dtype = np.int32 if self.type == 's32' else np.float32
        self.args = [generator.integers(-9, 10, self.argument_shape).astype(dtype)
                     for _ in range(self.replicas * self.partitions)]

    def text(self):
        header = f'HloModule {self.name}, replica_count={self.replicas}, num_partitions={self.partitions}\n\n'
        return header + ''.join(self.computations.values()) + 'ENTRY main {\n' + ''.join(self.lines) + '}\n'

    def text_of(self, shape, type_=None):
        return f"{type_ or self.type}[{','.join(map(str, shape))}]"

    def emit(self, shape, op):
        name = f'v{self.count}'
        self.count += 1
        # XLA's partitioner leaves alone what is manual: shapes are those of one device.
        manual = ', sharding={manual}' if self.partitions > 1 else ''
        self.lines.append(f'  {name} = {shape} {op}{manual}\n')
        return name

    def groups(self, has_global_ids):
        """Attributes, and the sizes of the groups."""
        modes = ['replica'] + (['partition'] if not has_global_ids else ['both', 'global'])
        mode = self.random.choice(modes)
        n = {'replica': self.replicas, 'partition': self.partitions, 'both': self.replicas,
             'global': self.replicas * self.partitions}[mode]
        ids = list(range(n))
        self.random.shuffle(ids)
        size = self.random.choice([d for d in range(1, n + 1) if n % d == 0])
        lists = [ids[i:i + size] for i in range(0, n, size)]
        text = ', replica_groups={' + ','.join('{' + ','.join(map(str, g)) + '}' for g in lists) + '}'
        if mode != 'replica':
            self.channel = getattr(self, 'channel', 0) + 1
            text += f', channel_id={self.channel}'
        if mode == 'global':
            text += ', use_global_device_ids=true'
        return text, size * (self.partitions if mode == 'both' else 1)

    def reducer(self, op):
        name = f'{op}_of'
        self.computations[name] = (f'{name} {{\n  a = {self.type}[] parameter(0)\n  b = {self.type}[] parameter(1)\n'
                                   f'  ROOT r = {self.type}[] {op}(a, b)\n}}\n\n')
        return name

    def all_reduce(self):
        attributes, size = self.groups(True)
        op = self.random.choice(['add', 'maximum', 'minimum'])
        if op == 'add' and self.most * size > MOST_MAGNITUDE:
            return
        self.most *= size if op == 'add' else 1
        self.value = self.emit(self.text_of(self.shape),
                               f'all-reduce({self.value}), to_apply={self.reducer(op)}{attributes}')

    def all_gather(self):
        attributes, size = self.groups(True)
        d = self.random.randrange(len(self.shape))
        if int(np.prod(self.shape)) * size > MOST_ELEMENTS:
            return
        self.shape[d] *= size
        self.value = self.emit(self.text_of(self.shape),
                               f'all-gather({self.value}), dimensions={{{d}}}{attributes}')

    def reduce_scatter(self):
        attributes, size = self.groups(True)
        fitting = [d for d, n in enumerate(self.shape) if n % size == 0]
        if not fitting or self.most * size > MOST_MAGNITUDE:
            return
        d = self.random.choice(fitting)
        self.shape[d] //= size
        self.most *= size
        self.value = self.emit(self.text_of(self.shape), f'reduce-scatter({self.value}), dimensions={{{d}}}, '
                               f'to_apply={self.reducer("add")}{attributes}')

    def all_to_all(self):
        attributes, size = self.groups(False)
        fitting = [d for d, n in enumerate(self.shape) if n % size == 0]
        if fitting:
            self.value = self.emit(self.text_of(self.shape),
                                   f'all-to-all({self.value}), dimensions={{{self.random.choice(fitting)}}}{attributes}')

    def permute(self):
        by_partition = self.random.random() < 0.5
        n = self.partitions if by_partition else self.replicas
        sources, targets = list(range(n)), list(range(n))
        self.random.shuffle(sources)
        self.random.shuffle(targets)
        pairs = list(zip(sources, targets))[:self.random.randint(1, n)]
        text = '{' + ','.join(f'{{{s},{t}}}' for s, t in pairs) + '}'
        if by_partition:
            self.channel = getattr(self, 'channel', 0) + 1
            text += f', channel_id={self.channel}'
        self.value = self.emit(self.text_of(self.shape),
                               f'collective-permute({self.value}), source_target_pairs={text}')

    def add_id(self):
        kind = self.random.choice(['replica-id', 'partition-id'])
        number = self.emit('u32[]', f'{kind}()')
        converted = self.emit(f'{self.type}[]', f'convert({number})')
        spread = self.emit(self.text_of(self.shape), f'broadcast({converted}), dimensions={{}}')
        self.most += 8
        self.value = self.emit(self.text_of(self.shape), f'add({self.value}, {spread})')

    def widen(self):
        if int(np.prod(self.shape)) * 2 > MOST_ELEMENTS:
            return
        d = self.random.randrange(len(self.shape))
        self.shape[d] *= 2
        self.value = self.emit(self.text_of(self.shape),
                               f'concatenate({self.value}, {self.value}), dimensions={{{d}}}')


def serve(connection):
    """XLA:CPU on as many host devices as a grid has, in a process of its own."""
    os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=8'
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    import jax
    from jax._src.lib import xla_client
    from jaxlib import _hlo, _jax

    def run(text, replicas, partitions, args):
        proto = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        options = xla_client.CompileOptions()
        for o in (options, options.executable_build_options):
            o.num_replicas, o.num_partitions = replicas, partitions
            o.device_assignment = xla_client.DeviceAssignment.create(
                np.arange(replicas * partitions).reshape(replicas, partitions))
        options.executable_build_options.use_spmd_partitioning = partitions > 1
        devices = jax.devices()[:replicas * partitions]
        compiled = devices[0].client.compile_and_load(_jax.mlir.xla_computation_to_mlir_module(proto),
                                                      _jax.DeviceList(tuple(devices)), options)
        layout = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices), ('d',)),
                                            jax.sharding.PartitionSpec('d'))
        whole = (len(devices) * args[0].shape[0],) + args[0].shape[1:]
        placed = jax.make_array_from_single_device_arrays(
            whole, layout, [jax.device_put(a, d) for a, d in zip(args, devices)])
        return [np.asarray(s)
                for s in compiled.execute_sharded([placed]).disassemble_into_single_device_arrays()[0]]

    while True:
        try:
            question = connection.recv()
        except EOFError:
            return
        try:
            connection.send(('ok', run(*question)))
        except Exception as error:  # whatever XLA raises is a reason, not a failure of the test
            connection.send(('refused', str(error)))


def run_assay(assay, program, directory):
    path = os.path.join(directory, program.name)
    with open(path + '.hlo', 'w') as file:
        file.write(program.text())
    names = [f'r{r}p{p}' for r in range(program.replicas) for p in range(program.partitions)]
    np.savez(path + '_in.npz', **{f'{name}/arg0': a for name, a in zip(names, program.args)})
    done = subprocess.run(
        [assay, 'run', path + '.hlo', '--inputs', path + '_in.npz', '--output', path + '_out.npz',
                           '--crosscheck', 'full'], capture_output=True, text=True, errors='replace',
        timeout=120)
    if done.returncode != 0:
        return f'exit code {done.returncode}: {done.stderr.strip()[:600]}'
    with np.load(path + '_out.npz') as stored:
        return [stored['out0' if 'out0' in stored else f'{name}/out0'] for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('--programs', type=int, default=320)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep', help='a directory for the programs and their inputs')
    flags = parser.parse_args()
    failures, refused, compared = 0, {}, 0
    worker = Worker(serve)
    with tempfile.TemporaryDirectory() as temporary:
        directory = flags.keep or temporary
        os.makedirs(directory, exist_ok=True)
        for seed in range(flags.seed * 100000, flags.seed * 100000 + flags.programs):
            program = Program(seed)
            answer = worker.ask((program.text(), program.replicas, program.partitions, program.args),
                                if_ended=('refused', 'XLA:CPU ended its process'))
            status, theirs = answer or ('refused', 'XLA:CPU gave no answer')
            ours = run_assay(flags.assay, program, directory)
            if isinstance(ours, str):
                failures += 1
                print(f'{program.name}: {ours}\n{program.text()}')
            elif status == 'refused':
                reason = theirs.strip().splitlines()[0][:160] if theirs.strip() else 'no reason'
                refused.setdefault(reason, []).append(program.name)
            else:
                compared += 1
                wrong = [k for k, (a, b) in enumerate(zip(ours, theirs)) if not np.array_equal(a, b)]
                if wrong:
                    failures += 1
                    print(f'{program.name}: device {wrong[0]} differs\nassay {ours[wrong[0]]}\nxla   {theirs[wrong[0]]}\n'
                          f'{program.text()}')
    worker.stop()
    for reason, names in sorted(refused.items()):
        print(f'XLA:CPU refuses {len(names)} ({names[0]}, ...): {reason}')
    print(f'{compared} programs of several devices compared with XLA:CPU, {failures} failed')
    return 1 if failures or compared < flags.programs * (1 - MOST_REFUSED) else 0


if __name__ == '__main__':
    sys.exit(main())
