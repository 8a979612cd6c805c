"""Worker processes that run cases. One that crashes or hangs is ended and started again; its case is tried
once more in a fresh process, because an earlier case may have left the first one in a bad state."""

import multiprocessing
import os
import queue
import tempfile
import threading
import time

START_SECONDS = 120
TAIL_BYTES = 2000


class StartError(Exception):
    """The backend does not start: exit code 2."""


def judge_case(backend, suite, case, profile, exact_only):
    """The result of one case, as a dict of JSON's types."""
    from . import backends
    from .judge import compare
    arrays = suite.arrays(case)
    try:
        outputs = backend.run(suite, case, arrays)
    except backends.NotSupported as error:
        return {'status': 'skip', 'why': str(error)}
    except backends.Refused as error:
        return {'status': 'fail', 'why': str(error)}
    except backends.Crashed as error:
        return {'status': 'crash', 'why': str(error)}
    except backends.TimedOut as error:
        return {'status': 'hang', 'why': f'no answer in {error}'}
    verdicts = [
        compare(shape, arrays, f'out{k}', outputs[k] if k < len(outputs) else None, profile, exact_only)
        for k, shape in enumerate(case.results)
    ]
    result = {'status': 'pass' if all(verdict.ok for verdict in verdicts) else 'fail'}
    for name in ('judged', 'open', 'unbounded', 'wrong', 'zero_signs'):
        result[name] = sum(getattr(verdict, name) for verdict in verdicts)
    errors = [verdict.error for verdict in verdicts if verdict.error]
    if len(outputs) > len(case.results):
        errors.append(f'the backend gave {len(outputs)} outputs, expected {len(case.results)}')
        result['status'] = 'fail'
    if errors:
        result['why'] = '; '.join(errors)
    result['details'] = [detail for verdict in verdicts for detail in verdict.details][:5]
    return result


def _serve(connection, spec, folder, profile, exact_only, errors):
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    from . import backends
    from .suite import Suite
    try:
        backend = backends.make(spec)
        suite = Suite(folder)
        cases = {case.id: case for case in suite.cases}
    except Exception as error:
        connection.send(('failed', f'{error}'))
        return
    connection.send(('ready', backend.about))
    while True:
        try:
            identifier = connection.recv()
        except EOFError:
            return
        try:
            connection.send(judge_case(backend, suite, cases[identifier], profile, exact_only))
        except Exception as error:  # the suite's files, or the runner: no result of the backend
            connection.send({'status': 'error', 'why': f'{type(error).__name__}: {error}'})


class _Worker:
    def __init__(self, arguments):
        self.context = multiprocessing.get_context('spawn')
        self.arguments = arguments
        self.process = self.connection = None
        self.about = ''
        handle, self.errors = tempfile.mkstemp(prefix='assay-conformance-')
        os.close(handle)

    def start(self):
        self.connection, theirs = self.context.Pipe()
        self.process = self.context.Process(target=_serve, args=(theirs, *self.arguments, self.errors),
                                            daemon=True)
        self.process.start()
        theirs.close()
        kind, text = 'failed', f'no answer in {START_SECONDS} s'
        try:
            if self.connection.poll(START_SECONDS):
                kind, text = self.connection.recv()
        except EOFError:
            self.process.join(5)
            text = f'its process ended with {self.process.exitcode}: {self._tail()}'
        if kind != 'ready':
            self.stop()
            raise StartError(f'the backend does not start: {text}')
        self.about = text

    def _tail(self):
        with open(self.errors, 'rb') as file:
            return file.read()[-TAIL_BYTES:].decode(errors='replace').strip()

    def ask(self, case, limit):
        if self.process is None:
            self.start()
        os.truncate(self.errors, 0)
        try:
            self.connection.send(case.id)
            # A command has its own limit, and says itself that it is over.
            if self.connection.poll(limit):
                return self.connection.recv()
        except (EOFError, OSError):
            self.process.join(5)
            code = self.process.exitcode
            ended = f'signal {-code}' if code is not None and code < 0 else f'exit status {code}'
            result = {'status': 'crash', 'why': f'the process ended by {ended}: {self._tail()}'}
            self.stop()
            return result
        self.stop()
        return {'status': 'hang', 'why': f'no answer in {limit:g} s'}

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
        self.process = None

    def close(self):
        self.stop()
        os.unlink(self.errors)


def run_cases(cases, spec, folder, profile, exact_only=False, jobs=1, limit=30.0, on_result=None):
    """(what the backend is, {id: result}); results have 'seconds', and 'first_try' where there were two."""
    arguments = (spec, str(folder), profile, exact_only)
    waiting = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    results, failures, lock = {}, [], threading.Lock()
    first = _Worker(arguments)
    first.start()  # one that does not start at all is told before anything else
    grace = limit + (10 if spec['kind'] == 'command' else 0)

    def work(worker):
        try:
            while not failures:
                try:
                    case = waiting.get_nowait()
                except queue.Empty:
                    return
                begin = time.monotonic()
                result = worker.ask(case, grace)
                if result['status'] in ('crash', 'hang'):
                    worker.stop()
                    again = worker.ask(case, grace)
                    result = {**again, 'first_try': result['status'], 'why': again.get('why', result['why'])}
                result['seconds'] = round(time.monotonic() - begin, 3)
                with lock:
                    results[case.id] = result
                    if on_result is not None:
                        on_result(case, result, len(results))
        except BaseException as error:
            failures.append(error)
        finally:
            worker.close()

    workers = [first] + [_Worker(arguments) for _ in range(min(jobs, len(cases)) - 1)]
    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return first.about, results
