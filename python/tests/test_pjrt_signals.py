"""Signals, the end of the interpreter and fork, while JAX runs programs on the plugin or after it: each in a
process of its own (docs/jax.md)."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest

pytest.importorskip("jax")
import assay.jax_plugin  # noqa: E402

if not assay.jax_plugin.LIBRARY.exists():
    pytest.skip(f"no plugin: {assay.jax_plugin.LIBRARY} is not there", allow_module_level=True)

# `long` runs for minutes, or as many iterations as one likes; `ready` tells the test that all is compiled and
# that the run begins.
HEAD = """
import os, signal, sys, threading, time
# A shell starts background jobs with SIGINT ignored, and Python then leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import jax
import jax.numpy as jnp
ASSAY = jax.devices("assay")
jax.config.update("jax_default_device", ASSAY[0])
LONG = 10**10

@jax.jit
def long(x, n):
    return jax.lax.fori_loop(0, n, lambda i, y: y * 3 + 1, x)

def ready():
    print("ready", flush=True)

def expected(n):
    y = np.arange(4, dtype=np.int32)
    for _ in range(n):
        y = (y * 3 + 1).astype(np.int32)
    return y

jax.config.update("jax_enable_x64", True)
X = jnp.arange(4, dtype=np.int32)
np.testing.assert_array_equal(long(X, 5), expected(5))
"""
SECONDS_AT_MOST = 2.0
SECONDS_OF_SCRIPT = 300  # then it is killed, so that no test waits for ever


class Script:
    """A process that runs HEAD and `text`, and has printed `ready`."""

    def __init__(self, text, **environment):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, "-c", HEAD + text], stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env={**os.environ, **environment})
        self.deadline = threading.Timer(SECONDS_OF_SCRIPT, self.process.kill)
        self.deadline.daemon = True
        self.deadline.start()
        first = self.process.stdout.readline()
        if first != "ready\n":
            raise AssertionError((first, *self.end()))

    def end(self, seconds=60):
        """(exit code, standard output, standard error)."""
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.deadline.cancel()
        with self.errors, self.process.stdout:
            self.errors.seek(0)
            return self.process.returncode, self.process.stdout.read(), self.errors.read()

    def send(self, number=signal.SIGINT):
        """Sends the signal once the run is on its way; the seconds until the next line, and that line."""
        time.sleep(0.3)
        start = time.monotonic()
        self.process.send_signal(number)
        line = self.process.stdout.readline()
        return time.monotonic() - start, line


CAUGHT = """
ready()
try:
    {run}
    print("ended")
except BaseException as error:
    print(type(error).__name__, *error.args, flush=True)
np.testing.assert_array_equal(long(X, 7), expected(7))
np.testing.assert_array_equal(X, np.arange(4))
print("goes on")
"""


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_ctrl_c_ends_a_run_and_later_runs_are_right(engine):
    script = Script(CAUGHT.format(run="long(X, LONG).block_until_ready()"), ASSAY_ENGINE=engine)
    seconds, line = script.send()
    assert line == "KeyboardInterrupt\n"
    assert seconds < SECONDS_AT_MOST
    assert script.end() == (0, "goes on\n", "")


def test_ctrl_c_without_a_handler_ends_the_process():
    script = Script("ready()\nlong(X, LONG)\n")
    seconds, line = script.send()
    code, output, errors = script.end()
    assert (line, code, output) == ("", -signal.SIGINT, "")
    assert seconds < SECONDS_AT_MOST + 3  # with the interpreter's end
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_ctrl_c_ends_a_run_on_several_devices():
    run = """
    mesh = jax.sharding.Mesh(np.array(ASSAY[:2]), ("d",))
    split = jax.device_put(X, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))
    body = lambda x: jax.lax.fori_loop(0, LONG, lambda i, y: y + jax.lax.psum(y, "d"), x)
    jax.jit(jax.shard_map(body, mesh=mesh, in_specs=jax.sharding.PartitionSpec("d"),
                          out_specs=jax.sharding.PartitionSpec("d"), check_vma=False))(split)"""
    script = Script(CAUGHT.format(run=run), ASSAY_DEVICES="2")
    time.sleep(2)  # for the compilation
    _, line = script.send()
    assert line == "KeyboardInterrupt\n"
    assert script.end() == (0, "goes on\n", "")


def test_ctrl_c_ends_a_callback():
    run = "jax.jit(lambda x: jax.pure_callback(lambda x: time.sleep(60), X, x))(X).block_until_ready()"
    script = Script(CAUGHT.format(run=run))
    time.sleep(1)
    _, line = script.send()
    assert line == "KeyboardInterrupt\n"
    assert script.end()[:2] == (0, "goes on\n")  # JAX logs the callback's traceback


def test_the_exception_of_another_handler_ends_a_run():
    script = Script(
        """
def handler(number, frame):
    raise TimeoutError("after", 3)
signal.signal(signal.SIGALRM, handler)
""" + CAUGHT.format(run="long(X, LONG)"))
    _, line = script.send(signal.SIGALRM)
    assert line == "TimeoutError after 3\n"
    assert script.end() == (0, "goes on\n", "")


def test_a_run_goes_on_after_a_handler_that_returns():
    script = Script(
        """
import itertools
seen = []
signal.signal(signal.SIGINT, lambda number, frame: print("handled", flush=True) or seen.append(number))
ready()
while not seen:
    result = long(X, 3_000_000)
print("ended", len(seen))
np.testing.assert_array_equal(result, long(X, 3_000_000))
""")
    seconds, line = script.send()
    assert line == "handled\n"
    assert seconds < SECONDS_AT_MOST
    assert script.end() == (0, "ended 1\n", "")


def test_the_interpreter_ends_while_a_thread_runs_a_program():
    script = Script("""
threading.Thread(target=lambda: long(X, LONG), daemon=True).start()
time.sleep(0.3)
ready()
""")
    assert script.end() == (0, "", "")


def test_ctrl_c_in_the_main_thread_leaves_other_threads_alone():
    script = Script("""
results = []
thread = threading.Thread(target=lambda: results.append(np.asarray(long(X, 5_000_000))))
thread.start()
ready()
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
thread.join()
np.testing.assert_array_equal(results[0], long(X, 5_000_000))
print("right")
""")
    _, line = script.send()
    assert line == "KeyboardInterrupt\n"
    assert script.end() == (0, "right\n", "")


def test_a_fork_runs_programs_that_were_compiled_before():
    # JAX compiles in threads, which a fork lacks.
    script = Script("""
import warnings
warnings.simplefilter("ignore")  # JAX warns of forks
big = jax.jit(lambda x: jnp.sort(x) @ x)
V = jnp.asarray(np.random.default_rng(5).standard_normal((300, 300)).astype(np.float32))
before = np.asarray(big(V))
ready()
child = os.fork()
if child == 0:
    np.testing.assert_array_equal(big(V), before)
    np.testing.assert_array_equal(long(X, 9), expected(9))
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert script.end() == (0, "7\n", "")
