#!/usr/bin/env python3
"""Sums of tensor cores by the package mmasim. Usage: tensor_core_vectors.py > tensor_core_vectors.txt

Needs mmasim 2.1.1 and the torch that it wants; a CPU is enough. A line is: the device, the type, the 8 words
of a row of A, the 8 words of a column of B, c, the result; words are hexadecimal, of one tf32 or two floats
of 16 bits, the first one low.
"""
import random

import torch
from mmasim.nv_ptx import MMA

SHAPES = {"tf32": "m16n8k8", "bf16": "m16n8k16", "f16": "m16n8k16"}
TYPES = {"tf32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
DEVICES = {"ampere": "Ampere", "hopper": "Hopper"}
ROWS, COLUMNS, PER_KIND = 16, 8, 8


def normal(rng):
    return rng.gauss(0, 1)


def positive(rng):
    return abs(rng.gauss(0, 1)) + 0.1


def wide(rng):
    return rng.gauss(0, 1) * 2.0 ** rng.randint(-14, 14)


def wider(rng):
    return rng.gauss(0, 1) * 2.0 ** rng.randint(-60, 60)


def tiny(rng):
    return rng.gauss(0, 1) * 2.0 ** rng.randint(-80, -60)


def subnormal(rng):
    return rng.gauss(0, 1) * 2.0 ** rng.choice([-140, -128, -20, -24, 0])


def sparse(rng):
    return rng.choice([0.0, -0.0, 0.0, rng.gauss(0, 1)])


def special(rng):
    return rng.choice([rng.gauss(0, 1)] * 60 + [float("inf"), float("-inf"), float("nan"), 3e38])


KINDS = [normal, positive, wide, wider, tiny, subnormal, sparse, special]


def cancelled(a, b):
    """The second half of each row of A is minus the first one, and B has the same beside it."""
    k = a.shape[1] // 2
    a[:, k:] = -a[:, :k]
    b[k:, :] = b[:k, :]


def words(values, kind):
    if kind == "tf32":
        return [w & 0xffffffff for w in values.view(torch.int32).tolist()]
    halves = [h & 0xffff for h in values.view(torch.int16).tolist()]
    return [halves[i] | halves[i + 1] << 16 for i in range(0, len(halves), 2)]


def main():
    rng = random.Random(40)
    for device, arch in DEVICES.items():
        for kind, shape in SHAPES.items():
            mma = MMA(arch, f"{shape}.f32.{kind}.{kind}.f32")
            for number, draw in enumerate(KINDS):
                def matrix(rows, columns, dtype):
                    numbers = [[draw(rng) for _ in range(columns)] for _ in range(rows)]
                    return torch.tensor(numbers, dtype=dtype)

                a, b = matrix(ROWS, mma.k, TYPES[kind]), matrix(mma.k, COLUMNS, TYPES[kind])
                c = matrix(ROWS, COLUMNS, torch.float32)
                if number % 2 == 0:
                    cancelled(a, b)
                d = mma(a, b, c)
                for i in range(PER_KIND):
                    row, column = 2 * i, i
                    fields = words(a[row], kind) + words(b[:, column].contiguous(), kind)
                    for matrix_of_sums in (c, d):
                        fields += words(matrix_of_sums[row, column].reshape(1), "tf32")
                    print(device, kind, *(f"{word:x}" for word in fields))


main()
