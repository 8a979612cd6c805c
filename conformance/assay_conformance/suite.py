"""The folder of a suite: index.json, and the files of each case."""

import dataclasses
import fnmatch
import hashlib
import io
import json
import pathlib

import numpy as np

FORMAT = 1


class SuiteError(Exception):
    """The suite, or a file of the user's, can't be used: exit code 2."""


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    op: str
    type: str
    what: str
    tags: tuple
    rules: tuple
    arguments: tuple  # shapes
    results: tuple
    expected: dict
    files: dict  # form -> {'file', 'sha256'}


class Suite:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        path = self.folder / 'index.json'
        try:
            index = json.loads(path.read_text(encoding='utf-8'))
        except (OSError, ValueError) as error:
            raise SuiteError(f'{path} can not be read: {error}') from None
        if not isinstance(index, dict) or index.get('format') != FORMAT:
            raise SuiteError(f'{path} is not an index of format {FORMAT}')
        try:
            self.profiles = list(index['profiles'])
            self.generator = str(index['generator'])
            self.seed = index['seed']
            self.without_cases = dict(index['without_cases'])
            self.cases = [_case(entry) for entry in index['cases']]
        except (KeyError, TypeError, AttributeError) as error:
            raise SuiteError(f'{path}: an entry is wrong: {error!r}') from None

    def chosen(self, patterns, sample=0):
        """Cases whose id or one of whose tags fits one of the patterns; of these `sample`, evenly spread."""
        cases = self.cases
        if patterns:
            cases = [case for case in cases
                     if any(fnmatch.fnmatchcase(word, pattern) or word.startswith(pattern.rstrip('/') + '/')
                            for pattern in patterns for word in (case.id, *case.tags))]
        if sample and sample < len(cases):
            cases = [cases[k * len(cases) // sample] for k in range(sample)]
        return cases

    def path(self, case, form):
        return self.folder / case.files[form]['file']

    def bytes(self, case, form):
        """A file of the case, whose digest is the index's."""
        path = self.path(case, form)
        if pathlib.PurePosixPath(case.files[form]['file']).is_absolute() or '..' in path.parts:
            raise SuiteError(f'{case.id}: the file {path} is outside of the suite')
        try:
            data = path.read_bytes()
        except OSError as error:
            raise SuiteError(f'{case.id}: {error}') from None
        digest = hashlib.sha256(data).hexdigest()
        if digest != case.files[form]['sha256']:
            raise SuiteError(f'{path} has the digest {digest}, the index says {case.files[form]["sha256"]}')
        return data

    def arrays(self, case):
        with np.load(io.BytesIO(self.bytes(case, 'npz')), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}


def _case(entry):
    files = {form: {'file': str(of['file']), 'sha256': str(of['sha256'])}
             for form, of in entry['files'].items()}
    return Case(str(entry['id']), str(entry['op']), str(entry['type']), str(entry['what']),
                tuple(entry['tags']), tuple(entry.get('rules', ())), tuple(entry['arguments']),
                tuple(entry['results']), dict(entry['expected']), files)
