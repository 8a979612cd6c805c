"""The commands, besides `assay run` by its engines, in which inject.py lets calls fail."""

import os
import pathlib
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / 'golden/programs/softmax'
# Four devices, with messages between them.
DEVICES = ROOT / 'golden/devices/all_gather_cross_replica_2x1_all.hlo'
SMALL = """HloModule small
ENTRY e {
  x = f32[2,3] parameter(0)
  e = f32[2,3] exponential(x)
  ROOT y = f32[3,2] transpose(e), dimensions={1,0}
}
"""
ZERO_OUT = """HloModule m
ENTRY e {
  x = s32[4] constant({5, 6, 7, 8})
  ROOT r = s32[4] custom-call(x), custom_call_target="Acme.ZeroOut", backend_config="{preserve_index = 1 : i64}"
}
"""


class Scenario:
    """A command, with {out} for a folder that each run has for itself; the folder `given` is copied there
    before. Files whose names end with one of `varying` differ from run to run. Not `preload`: the command
    loads the library of faults itself, where it wants it. It `degrades`: it says what it had to leave out,
    and goes on. Kinds of `without` are left out.
    """

    def __init__(self, name, command, given=None, varying=(), environment=None, preload=True, degrades=False,
                 without=()):
        self.name, self.command, self.given = name, [str(part) for part in command], given
        self.varying, self.environment, self.preload = varying, environment or {}, preload
        self.degrades, self.without = degrades, without

    def prepare(self, out):
        if self.given is not None:
            shutil.copytree(self.given, out, dirs_exist_ok=True)

    def arguments(self, out):
        return [part.replace('{out}', out) for part in self.command]


def command_scenarios(options, folder):
    """Commands of `assay`. `folder` is for files that they read."""
    assay = options.assay
    program, inputs, actual = (PROGRAM / name for name in ('program.hlo', 'inputs.npz', 'xla_cpu.npz'))
    small, zero_out = os.path.join(folder, 'small.hlo'), os.path.join(folder, 'zero_out.hlo')
    for path, text in ((small, SMALL), (zero_out, ZERO_OUT)):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
    # A backend's process has no faults of its own.
    backend = ('env -u LD_PRELOAD -u ASSAY_FAULT ' + shlex.quote(assay) +
               ' run {program} --inputs {inputs} --output {outputs}')
    fails = 'echo boom; exit 3; {program} {inputs}'
    goldens = os.path.join(folder, 'goldens')
    os.makedirs(goldens, exist_ok=True)
    for path in sorted((ROOT / 'golden/shape').glob('reverse*'))[:3]:
        if path.is_file():
            shutil.copy(path, goldens)
    recorded = os.path.join(folder, 'recorded')
    os.makedirs(recorded, exist_ok=True)
    subprocess.run([assay, 'golden', 'record', small, '--random-inputs', '3', '--output',
                    os.path.join(recorded, 'small.hlo')], check=True, capture_output=True)
    run, diff = ([assay, command, program, '--inputs', inputs] for command in ('run', 'diff'))
    scenarios = [
        Scenario('verify', [assay, 'verify', program]),
        Scenario('plan', [assay, 'plan', program]),
        Scenario('audit', [assay, 'audit', program]),
        Scenario('diff --profile --html', [*diff, '--actual', actual, '--profile', 'xla-cpu', '--html',
                                           '{out}/page.html']),
        Scenario('diff --json', [*diff, '--actual', actual, '--profile', 'strict', '--json']),
        Scenario('diff of files', [assay, 'diff', inputs, actual]),
        Scenario('diff --backend', [*diff, '--backend', backend]),
        Scenario('diff --isolate', [assay, 'diff', small, '--random-inputs', '4', '--backend', backend,
                                    '--profile', 'strict', '--isolate'], degrades=True),
        Scenario('diff --plugin', [*diff, '--plugin', options.plugin]),
        Scenario('run --plugin', [*run, '--plugin', options.plugin, '--output',
                                  '{out}/out.npz']),
        Scenario('run --trace', [*run, '--trace', '{out}/trace.json'], varying=['.json']),
        Scenario('run of devices', [assay, 'run', DEVICES, '--random-inputs', '5', '--output',
                                     '{out}/out.npz']),
        Scenario('run --load-ops', [assay, 'run', zero_out, '--load-ops',
                                    os.path.join(options.libraries, 'zero_out.so')]),
        Scenario('golden check', [assay, 'golden', 'check', goldens]),
        Scenario('golden update', [assay, 'golden', 'update', '{out}'], given=recorded),
        Scenario('golden record', [assay, 'golden', 'record', small, '--random-inputs', '3', '--output',
                                   '{out}/small.hlo']),
        Scenario('reduce', [assay, 'reduce', small, '--random-inputs', '3', '--while-message', 'boom',
                            '--command', fails, '--output', '{out}/small'], degrades=True),
        Scenario('fuzz', [assay, 'fuzz', '--programs', '3', '--seed', '2', '--output', '{out}/found'],
                 varying=['.txt']),
        Scenario('conformance make', [assay, 'conformance', 'make', '{out}/suite', '--sample', '4']),
        Scenario('profile show', [assay, 'profile', 'show', 'xla-cpu']),
        Scenario('doctor', [assay, 'doctor'], degrades=True),
        Scenario('ops', [assay, 'ops', 'dot']),
    ]
    scenarios += [Scenario(f'print --to {form}', [assay, 'print', program, '--to', form])
                  for form in ('hlo', 'pb', 'mlir')]
    for scenario in scenarios:
        if scenario.name not in ('verify', 'ops', 'doctor', 'profile show', 'conformance make'):
            scenario.environment['ASSAY_FAULT_START'] = 'open'
    return scenarios


def several_processes(options):
    """Two processes under mpirun, the second of which has the faults. Open MPI itself ends by a signal where
    it has no memory."""
    own = [options.assay, 'run', str(DEVICES), '--random-inputs', '5']
    faulty = ['env', f'LD_PRELOAD={options.library}', *own]
    root = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
    return [Scenario('mpirun', ['mpirun', '--oversubscribe', '-n', '1', *own, ':', '-n', '1', *faulty],
                     environment=root, preload=False, without=('memory', 'map'))]


PYTHON = """
import ctypes, sys
import numpy as np
import assay
faults = ctypes.CDLL(None)
text = open({program!r}).read()
inputs = np.load({inputs!r})
inputs = [inputs[f"arg{{i}}"] for i in range(len(inputs.files))]
def work():
    module = assay.load(text)
    module.to_mlir()
    return np.asarray(module.evaluate(*inputs))
right = work()
faults.assay_faults_begin()
try:
    result = work()
except (assay.Error, MemoryError, OSError) as error:
    result = error
faults.assay_faults_end()
if isinstance(result, Exception):
    print(type(result).__name__, file=sys.stderr)
else:
    np.testing.assert_array_equal(result, right)
np.testing.assert_array_equal(work(), right)
sys.exit(5 if isinstance(result, Exception) else 0)
"""

# Calls fail within calls of the plugin alone (window_plugin.cc): JAX ends the process where its own fail.
JAX = """
import sys
import numpy as np
import jax
import jax.numpy as jnp
x = np.arange(12, dtype=np.float32).reshape(3, 4)
def work(k):
    return np.asarray(jax.jit(lambda x: jnp.sort(jnp.exp(x) @ x.T + k))(x))
right = [work(0), work(1)]
jax.clear_caches()
import ctypes
faults = ctypes.CDLL(None)
faults.assay_faults_begin_in_window()
try:
    result = work(0)
except Exception as error:
    result = error
faults.assay_faults_end()
if isinstance(result, Exception):
    print(type(result).__name__, file=sys.stderr)
else:
    np.testing.assert_array_equal(result, right[0])
np.testing.assert_array_equal(work(0), right[0])
np.testing.assert_array_equal(work(1), right[1])
import os
sys.stdout.flush()
sys.stderr.flush()
os._exit(5 if isinstance(result, Exception) else 0)
"""


def python_scenarios(options):
    program, inputs = str(PROGRAM / 'program.hlo'), str(PROGRAM / 'inputs.npz')
    counted = {'ASSAY_FAULT_START': 'call'}
    package = PYTHON.format(program=program, inputs=inputs)
    scenarios = [Scenario('Python package', [options.python, '-c', package], environment=counted)]
    plugins = {'PJRT_NAMES_AND_LIBRARY_PATHS': f'window:{options.window_plugin}',
               'JAX_PLATFORMS': 'window,cpu', 'ASSAY_WINDOW_PLUGIN': options.plugin, **counted}
    scenarios.append(Scenario('JAX on the plugin', [options.python, '-c', JAX], environment=plugins))
    return scenarios


def all_scenarios(options, folder):
    scenarios = command_scenarios(options, folder)
    if shutil.which('mpirun'):
        scenarios += several_processes(options)
    if options.python:
        scenarios += python_scenarios(options)
    return scenarios
