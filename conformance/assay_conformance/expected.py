"""Files of failures that are known:

    # Lines that begin with # and empty lines are passed over.
    popcnt/s4/finite: the bits are counted in a wider integer
    power/f32/* [crash]: the compiler ends the process

An id, in which * stands for anything; in brackets what is expected, where it is not 'fail', one of several
as in [fail|crash]; and a reason.
"""

import fnmatch
import re

from .suite import SuiteError

LINE = re.compile(r'(?P<id>[^\s:\[\]]+)'
                  r'(?:\s+\[(?P<status>(?:fail|crash|hang)(?:\|(?:fail|crash|hang))*)\])?\s*:\s*(?P<reason>\S.*)')


class ExpectedFailures:
    def __init__(self, path=None):
        self.exact, self.patterns = {}, []
        if path is None:
            return
        try:
            with open(path, encoding='utf-8') as file:
                lines = file.read().splitlines()
        except (OSError, ValueError) as error:
            raise SuiteError(f'{path} can not be read: {error}') from None
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith('#'):
                self._add(line.strip(), f'{path}:{number}')

    def _add(self, line, where):
        match = LINE.fullmatch(line)
        if match is None:
            raise SuiteError(f"{where}: want 'ID: reason' or 'ID [crash]: reason', found {line!r}")
        name, reason = match['id'], match['reason']
        statuses = (match['status'] or 'fail').split('|')
        if name in self.exact or name in (pattern for pattern, _, _ in self.patterns):
            raise SuiteError(f'{where}: {name} is listed twice')
        if '*' in name:
            self.patterns.append((name, statuses, reason))
        else:
            self.exact[name] = (statuses, reason)

    def of(self, identifier):
        """(statuses, reason), or None: nothing is expected to fail."""
        if identifier in self.exact:
            return self.exact[identifier]
        for pattern, statuses, reason in self.patterns:
            if fnmatch.fnmatchcase(identifier, pattern):
                return statuses, reason
        return None

    def unused(self, identifiers):
        """Entries that fit none of the suite's ids."""
        known = set(identifiers)
        lost = [name for name in self.exact if name not in known]
        return lost + [pattern for pattern, _, _ in self.patterns if not fnmatch.filter(known, pattern)]


def classify(results, expected):
    """Adds 'outcome' to each result: pass, fail, crash, hang, skip, expected (failed as expected) or
    unexpected-pass."""
    for identifier, result in results.items():
        known = expected.of(identifier)
        status = result['status']
        result['outcome'] = status
        if known is None or status == 'skip':
            continue
        if status == 'pass':
            result['outcome'] = 'unexpected-pass'
        elif status in known[0]:
            result['outcome'] = 'expected'
        result['reason'] = known[1]
