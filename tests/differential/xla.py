"""Runs HLO text on JAX's platform (JAX_PLATFORMS; cpu) in a process of its own, because XLA ends the process
on some programs it dislikes."""

import os

import numpy as np

from worker import ANSWER_SECONDS, Worker

ATTEMPTS = 2
LABELS = {'cpu': 'XLA:CPU', 'gpu': 'XLA:GPU', 'tpu': 'XLA:TPU'}


def _processor():
    """The name that Linux has for the CPU, with what of AVX it has."""
    with open('/proc/cpuinfo') as file:
        facts = dict(line.split(':', 1) for line in file.read().split('\n\n')[0].splitlines() if ':' in line)
    facts = {key.strip(): value.strip() for key, value in facts.items()}
    avx = [word for word in facts.get('flags', '').split() if word in ('avx2', 'avx512f', 'fma')]
    return f"{facts.get('model name', 'unknown CPU')}, {' '.join(avx)}"


def _about(jax, device):
    import jaxlib
    platform = jax.default_backend()
    kind = _processor() if platform == 'cpu' else device.device_kind
    version = ' '.join(device.client.platform_version.split())
    return {'label': LABELS.get(platform, platform), 'jaxlib': jaxlib.__version__, 'version': version,
            'device': kind}


def _serve(connection):
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')
    import jax
    jax.config.update('jax_enable_x64', True)
    from jax._src.lib import xla_client
    from jaxlib import _hlo, _jax, lapack
    devices = jax.devices()[:1]
    # JAX does this where it lowers a decomposition; XLA calls null pointers in text that has one otherwise.
    lapack._lapack.initialize()

    def compile_text(text):
        module = _hlo.hlo_module_from_text(text)
        proto = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
        mlir = _jax.mlir.xla_computation_to_mlir_module(proto)
        return devices[0].client.compile_and_load(mlir, _jax.DeviceList(tuple(devices)),
                                                  xla_client.CompileOptions())

    def execute(compiled, args):
        placed = [jax.device_put(a, devices[0]) for a in args]
        shards = compiled.execute_sharded(placed).disassemble_into_single_device_arrays()
        return [np.asarray(s[0]) for s in shards]

    while True:
        try:
            text, runs = connection.recv()
        except EOFError:
            return
        if text is None:
            connection.send(('ok', _about(jax, devices[0])))
            continue
        try:
            compiled = compile_text(text)
            connection.send(('ok', [execute(compiled, args) for args in runs]))
        except Exception as error:  # whatever XLA raises is a reason, not a failure of the test
            connection.send(('refused', str(error)))


class Runner(Worker):
    """run(text, [args, ...]) -> ('ok', [results, ...]) | ('refused', why)."""

    def __init__(self):
        super().__init__(_serve)

    def about(self):
        """What runs: 'label' ("XLA:GPU"), 'jaxlib', 'version' and 'device'."""
        answer = self.ask((None, None), if_ended=('refused', 'JAX ended its process'))
        status, facts = answer or ('refused', 'no answer')
        if status != 'ok':
            raise RuntimeError(f'JAX does not start: {facts}')
        return facts

    def label(self):
        return self.about()['label']

    def run(self, text, runs):
        """Asks a second process if the first gives no answer: XLA:CPU's threads have been seen to wait for
        ever."""
        for _ in range(ATTEMPTS):
            answer = self.ask((text, runs), if_ended=('refused', 'XLA ended its process'))
            if answer is not None:
                return answer
        return 'refused', f'XLA gave no answer in {ANSWER_SECONDS} s, {ATTEMPTS} times'
