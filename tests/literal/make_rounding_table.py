"""Writes rounding_ml_dtypes.txt: what ml_dtypes gives for floats at and around every rounding boundary.

The numbers are f32 values: from f64 NumPy converts through f32, which rounds twice.

Run with a Python that has numpy and ml_dtypes. One line a type: name, then pairs of a double (C99 hex) and
the resulting bit pattern (hex).
"""
import math
import os

import ml_dtypes
import numpy as np

TYPES = {
    'f8e5m2': ml_dtypes.float8_e5m2, 'f8e4m3': ml_dtypes.float8_e4m3, 'f8e3m4': ml_dtypes.float8_e3m4,
    'f8e4m3fn': ml_dtypes.float8_e4m3fn, 'f8e4m3b11fnuz': ml_dtypes.float8_e4m3b11fnuz,
    'f8e5m2fnuz': ml_dtypes.float8_e5m2fnuz, 'f8e4m3fnuz': ml_dtypes.float8_e4m3fnuz,
    'f8e8m0fnu': ml_dtypes.float8_e8m0fnu, 'f6e3m2fn': ml_dtypes.float6_e3m2fn,
    'f6e2m3fn': ml_dtypes.float6_e2m3fn, 'f4e2m1fn': ml_dtypes.float4_e2m1fn,
}


def encode(x, dtype):
    with np.errstate(all='ignore'):
        return int(np.float32(x).astype(dtype).view(np.uint8))


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rounding_ml_dtypes.txt')
    with open(path, 'w') as out:
        for name, dtype in TYPES.items():
            values = sorted({float(v) for v in np.arange(256).astype(np.uint8).view(dtype).astype(np.float64)
                             if math.isfinite(v) and v >= 0})
            # The boundary after the largest value, were there one more.
            bounds = [(a + b) / 2 for a, b in zip(values, values[1:])]
            bounds.append(values[-1] + (values[-1] - values[-2]) / 2)
            bounds.append(values[-1] * 2)
            if values[0] > 0:
                bounds.append(values[0] / 2)
            points = set()
            for b in bounds + [values[-1]]:
                b = np.float32(b)
                points |= {float(v)
                           for v in (b, np.nextafter(b, np.float32(0)), np.nextafter(b, np.float32(np.inf)))}
            points |= {1e30, 2.0**-149, float('inf')}
            pairs = ['%s %x' % (float(x).hex(), encode(x, dtype)) for x in sorted(points)]
            pairs += ['%s %x' % (float(-x).hex(), encode(-x, dtype)) for x in sorted(points)[::7]]
            out.write(name + ' ' + ' '.join(pairs) + '\n')


main()
