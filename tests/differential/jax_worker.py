"""Lowers a program and runs it on XLA:CPU, in a process of its own,
because XLA ends the process on some programs."""

import os

from worker import Worker

ANSWER_SECONDS = 200  # some programs take XLA:CPU half a minute to compile
ATTEMPTS = 2


def _serve(connection):
    os.environ.setdefault('JAX_PLATFORMS', 'cpu')
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    import warnings
    warnings.simplefilter('ignore')
    import jax
    import lowered_programs
    import numpy as np

    def answer(case, seed, run):
        with jax.enable_x64(case.x64):
            lowered = lowered_programs.Lowered(case, seed)
            if run == 'hlo':
                return 'ok', lowered.program('hlo').decode()
            if not jax.tree_util.tree_leaves(lowered.lowered.out_info):
                return 'not lowered', 'no results'
            found = {'program': lowered.program(case.form), 'args': lowered.args,
                     'elements': lowered.elements, 'text': lowered.lowered.as_text()}
            if run:
                try:
                    results = jax.tree_util.tree_leaves(lowered.lowered.compile()(*lowered.args))
                    found['results'] = [np.asarray(r) for r in results]
                except Exception as error:  # whatever XLA raises is a reason, not a failure of the test
                    found['refused'] = str(error)
            return 'ok', found

    while True:
        try:
            case, seed, run = connection.recv()
        except EOFError:
            return
        try:
            connection.send(answer(case, seed, run))
        except Exception as error:  # what JAX doesn't lower is no program
            connection.send(('not lowered', f'{type(error).__name__}: {error}'))


class Lowering(Worker):
    """Lowers cases, and runs them on XLA:CPU where asked to."""

    def __init__(self):
        super().__init__(_serve, ANSWER_SECONDS)

    def hlo(self, case, seed):
        """The program as XLA's text, with the functions of CHLO written out as XLA computes them."""
        status, text = self.lower(case, seed, 'hlo')
        if status != 'ok':
            raise RuntimeError(text)
        return text

    def lower(self, case, seed, run):
        """('ok', {program, args, text, results}) or ('not lowered', why) or (another status, why)."""
        for _ in range(ATTEMPTS):
            answer = self.ask((case, seed, run), if_ended=('no answer from XLA:CPU', 'it ended its process'))
            if answer is not None:
                return answer
        return 'no answer from XLA:CPU', f'none in {ANSWER_SECONDS} s, {ATTEMPTS} times'
