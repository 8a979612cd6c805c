"""A suite written by hand, for tests of the runner."""

import hashlib
import json

import numpy as np

ADD_HLO = '''HloModule add
ENTRY main {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT r = f32[3] add(x, y)
}
'''
ADD_MLIR = '''module {
  func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
    %r = stablehlo.add %x, %y : tensor<3xf32>
    return %r : tensor<3xf32>
  }
}
'''


def add_case(folder, identifier, arrays=None, **changes):
    """The entry of a case of f32[3] addition, whose files are written."""
    op, element, what = identifier.split('/')
    if arrays is None:
        x, y = np.array([1, -0.0, np.inf], np.float32), np.array([2, 0.0, 1], np.float32)
        arrays = {'arg0': x, 'arg1': y, 'out0': x + y}
    stem = f'file{len(list(folder.iterdir()))}'
    np.savez(folder / f'{stem}.npz', **arrays)
    (folder / f'{stem}.hlo').write_text(ADD_HLO)
    (folder / f'{stem}.mlir').write_text(ADD_MLIR)
    files = {form: {'file': f'{stem}.{form}',
                    'sha256': hashlib.sha256((folder / f'{stem}.{form}').read_bytes()).hexdigest()}
             for form in ('hlo', 'mlir', 'npz')}
    entry = {
        'id': identifier,
        'op': op,
        'type': element,
        'what': what,
        'tags': ['elementwise'],
        'rules': ['ADD-C1'],
        'arguments': ['f32[3]', 'f32[3]'],
        'results': ['f32[3]'],
        'expected': {
            'elements': 3,
            'open': 0,
            'unbounded': 0,
            'points': []
        },
        'files': files
    }
    return {**entry, **changes}


def write_index(folder, cases):
    index = {'format': 1, 'generator': 'by hand', 'seed': 1, 'profiles': ['strict'],
             'without_cases': {'rng': 'random <b>numbers</b>'}, 'cases': cases}
    (folder / 'index.json').write_text(json.dumps(index))
