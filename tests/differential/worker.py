"""A process that answers one question at a time, because what it asks ends or hangs
its process now and then."""

import multiprocessing

ANSWER_SECONDS = 60  # the first answer includes the start of Python and jax


class Worker:
    """serve(connection) receives questions and sends answers until the connection ends."""

    def __init__(self, serve, answer_seconds=ANSWER_SECONDS):
        self._serve, self._answer_seconds = serve, answer_seconds
        self._process = None

    def _start(self):
        context = multiprocessing.get_context('spawn')
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=self._serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, question, if_ended):
        """The answer; None if there is none in time, `if_ended` if the process ended.
        The next question starts another."""
        if self._process is None:
            self._start()
        answer = None
        try:
            self._connection.send(question)
            if self._connection.poll(self._answer_seconds):
                return self._connection.recv()
            self._process.kill()
        except (EOFError, ConnectionError):
            answer = if_ended
        self._process.join()
        self._process = None
        return answer

    def stop(self):
        if self._process is not None:
            self._connection.close()
            self._process.join()
            self._process = None
