"""What runs a case: JAX's platform or plugin, or a command."""

import os
import pathlib
import shlex
import signal
import subprocess
import tempfile

import numpy as np

from .element_types import NATIVE, as_ml_dtypes, parse_shape

NOT_SUPPORTED_STATUS = 4  # of a command: it lacks what the program asks for


class NotSupported(Exception):
    """The backend lacks something that the case needs: the case is skipped."""


class Refused(Exception):
    """The backend gives an error where it has to give a result."""


class Crashed(Exception):
    """The command ended by a signal."""


class TimedOut(Exception):
    """The command did not end in time."""


def make(spec):
    """spec: {'kind': 'platform' | 'plugin' | 'command', 'value': …, 'form': …, 'limit': seconds}"""
    return CommandBackend(spec) if spec['kind'] == 'command' else JaxBackend(spec)


class JaxBackend:
    """A platform of JAX, or the library of a plugin, which JAX loads."""

    def __init__(self, spec):
        os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '2')
        if spec['kind'] == 'plugin':
            library = pathlib.Path(spec['value']).resolve()
            if not library.is_file():
                raise RuntimeError(f'there is no library {library}')
            os.environ['PJRT_NAMES_AND_LIBRARY_PATHS'] = f'conformance:{library}'
            os.environ['JAX_PLATFORMS'] = 'conformance'
        else:
            os.environ['JAX_PLATFORMS'] = spec['value']
        try:
            import jax
            import jaxlib
        except ImportError as error:
            raise RuntimeError(
                f"JAX is not installed ({error}): pip install 'assay-conformance[jax]'") from None
        jax.config.update('jax_enable_x64', True)
        # A cache would answer for a compiler that has changed.
        jax.config.update('jax_enable_compilation_cache', False)
        self.jax, self.form = jax, spec['form']
        self.device = jax.devices()[0]
        client = self.device.client
        version = ' '.join(str(client.platform_version).split())
        self.lacking = {}  # element type -> why the backend has no such arrays; empty: it has
        self.about = (f'{client.platform} ({self.device.device_kind}), jaxlib {jaxlib.__version__}, '
                      f'{version}')

    def run(self, suite, case, arrays):
        form = self.form if self.form in case.files else 'hlo' if 'hlo' in case.files else 'mlir'
        for shape in (*case.arguments, *case.results):
            self._check_type(parse_shape(shape)[0])
        try:
            arguments = [as_ml_dtypes(arrays[f'arg{k}'], parse_shape(shape)[0])
                         for k, shape in enumerate(case.arguments)]
            placed = [self.jax.device_put(argument, self.device) for argument in arguments]
        except (TypeError, ValueError) as error:
            raise NotSupported(f'JAX has no such arrays: {error}') from None
        try:
            compiled = self._compile(form, suite.bytes(case, form).decode())
            return self._execute(compiled, placed)
        except Exception as error:  # whatever the backend raises is its answer
            message = f'{type(error).__name__}: {error}'
            if 'UNIMPLEMENTED' in message or isinstance(error, NotImplementedError):
                raise NotSupported(message) from None
            raise Refused(message) from None

    def _check_type(self, element):
        """NotSupported where a program that returns its argument does not run on arrays of the type."""
        if element not in self.lacking:
            program = (f'HloModule type\nENTRY main {{\n  x = {element}[2] parameter(0)\n'
                       f'  ROOT y = {element}[2] reverse(x), dimensions={{0}}\n}}\n')
            try:
                bits = np.array([0, 1], 'u1' if element == 'pred' else NATIVE[element])
            except KeyError:
                bits = np.array([0, 1], 'u2' if element == 'bf16' else 'u1')
            try:
                placed = self.jax.device_put(as_ml_dtypes(bits, element), self.device)
                result = self._execute(self._compile('hlo', program), [placed])[0]
                same = result.shape == (2,) and result.dtype == placed.dtype
                self.lacking[element] = '' if same else f'it gave {result.dtype}'
            except Exception as error:  # whatever the backend raises says the same
                self.lacking[element] = str(error).partition('\n')[0] or repr(error)
        if self.lacking[element]:
            raise NotSupported(f'the backend has no arrays of {element}: {self.lacking[element]}')

    @staticmethod
    def _execute(compiled, arguments):
        shards = compiled.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return [np.asarray(shard[0]) for shard in shards]

    def _compile(self, form, text):
        from jax._src.lib import xla_client
        from jaxlib import _jax
        program = self._stablehlo(text) if form == 'mlir' else self._of_hlo(text)
        return self.device.client.compile_and_load(program, _jax.DeviceList((self.device,)),
                                                   xla_client.CompileOptions())

    @staticmethod
    def _stablehlo(text):
        from jax._src.interpreters import mlir
        from jax._src.lib.mlir import ir
        context = mlir.make_ir_context()
        with context:
            return mlir.module_to_bytecode(ir.Module.parse(text))

    @staticmethod
    def _of_hlo(text):
        from jaxlib import _hlo, _jax
        module = _hlo.hlo_module_from_text(text)
        return _jax.mlir.xla_computation_to_mlir_module(
            _hlo.XlaComputation(module.as_serialized_hlo_module_proto()))


class CommandBackend:
    """A command with {program}, {inputs} and {outputs}: arg0, … of one .npz file, out0, … of another."""

    def __init__(self, spec):
        self.command, self.form, self.limit = spec['value'], spec['form'], spec['limit']
        self.about = self.command

    def run(self, suite, case, arrays):
        form = self.form if self.form in case.files else 'hlo' if 'hlo' in case.files else 'mlir'
        with tempfile.TemporaryDirectory(prefix='assay-conformance-') as folder:
            program = os.path.join(folder, f'program.{form}')
            inputs, outputs = os.path.join(folder, 'inputs.npz'), os.path.join(folder, 'outputs.npz')
            pathlib.Path(program).write_bytes(suite.bytes(case, form))
            np.savez(inputs, **{name: array for name, array in arrays.items() if name.startswith('arg')})
            command = self.command
            for name, path in (('program', program), ('inputs', inputs), ('outputs', outputs)):
                command = command.replace('{' + name + '}', shlex.quote(path))
            self._run(command)
            try:
                with np.load(outputs, allow_pickle=False) as stored:
                    return [stored[f'out{k}'] for k in range(len(case.results))]
            except (OSError, ValueError, KeyError) as error:
                raise Refused(f'the command ended well, but its outputs can not be read: {error}') from None

    def _run(self, command):
        process = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output = process.communicate(timeout=self.limit)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise TimedOut(f'{self.limit:g} s') from None
        status = process.returncode
        # A shell reports a signal of its child as 128 + N.
        number = -status if status < 0 else status - 128 if status > 128 else 0
        tail = output[-2000:].decode(errors='replace').strip()
        if number:
            raise Crashed(f'signal {number}: {tail}')
        if status == NOT_SUPPORTED_STATUS:
            raise NotSupported(tail)
        if status != 0:
            raise Refused(f'the command failed with exit status {status}: {tail}')
