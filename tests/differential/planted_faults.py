#!/usr/bin/env python3
"""A backend with one planted fault: Assay on a program that was changed.

Usage: planted_faults.py FAULT ASSAY {program} {inputs} {outputs}
       planted_faults.py --list

The text of the program is edited where an instruction of some kind stands; what has none is run as it is.
Each fault is one that compilers have had: the wrong opcode, direction, side of a padding, branch, operand.
"""

import os
import re
import sys


def swapped_operands(opcode, first, second):
    """Operands `first` and `second` of these instructions change places, where their shapes are equal."""

    def change(text):
        shapes = dict(re.findall(r'%([\w.\-]+) = (\w+\[[^\]]*\])', text))

        def swap(match):
            operands = re.findall(r'%[\w.\-]+', match[2])
            if len(operands) <= max(first, second):
                return match[0]
            a, b = operands[first], operands[second]
            if shapes.get(a[1:]) != shapes.get(b[1:]) or shapes.get(a[1:]) is None:
                return match[0]
            operands[first], operands[second] = b, a
            return match[1] + ', '.join(operands) + ')'

        return re.sub(rf'( {opcode}\()((?:%[\w.\-]+(?:, )?)+)\)', swap, text)

    return change


def replaced(pattern, by):
    return lambda text: re.sub(pattern, by, text)


def crashing(pattern):

    def change(text):
        if re.search(pattern, text):
            os.abort()
        return text

    return change


FAULTS = {
    'floor_is_ceil': replaced(r' floor\(', ' ceil('),
    'maximum_is_minimum': replaced(r' maximum\(', ' minimum('),
    'less_is_less_or_equal': replaced('direction=LT', 'direction=LE'),
    'reverse_is_copy': replaced(r' reverse\(([^)]*)\), dimensions=\{[^}]*\}', r' copy(\1)'),
    'padding_on_the_other_side': replaced(r'padding=(-?\d+)_(-?\d+)', r'padding=\2_\1'),
    'window_padding_on_the_other_side': replaced(r'pad=(-?\d+)_(-?\d+)', r'pad=\2_\1'),
    'tanh_is_logistic': replaced(r' tanh\(', ' logistic('),
    'shift_without_sign': replaced(' shift-right-arithmetic', ' shift-right-logical'),
    'and_is_or': replaced(r' and\(', ' or('),
    'reduce_precision_loses_a_bit':
        lambda text: re.sub(r'mantissa_bits=(\d+)', lambda m: f'mantissa_bits={max(0, int(m[1]) - 1)}', text),
    'expm1_is_exp': replaced(' exponential-minus-one', ' exponential'),
    'ties_away_from_zero': replaced(' round-nearest-even', ' round-nearest-afz'),
    'select_takes_the_other': swapped_operands('select', 1, 2),
    'subtract_the_other_way': swapped_operands('subtract', 0, 1),
    'popcnt_is_clz': replaced(r' popcnt\(', ' count-leading-zeros('),
    'concatenate_in_another_order': swapped_operands('concatenate', 0, 1),
    'branches_are_swapped':
        replaced(r'branch_computations=\{([^,}]*), ([^,}]*)', r'branch_computations={\2, \1'),
    'fft_is_its_inverse': replaced('fft_type=FFT', 'fft_type=IFFT'),
    'cholesky_of_the_other_triangle':
        lambda text: re.sub(r'( cholesky\([^)]*\))(, lower=\w+)?', lambda m: m[1] +
                            ('' if m[2] == ', lower=true' else ', lower=true'), text),
    'unit_diagonal_is_ignored': replaced('unit_diagonal=true', 'unit_diagonal=false'),
    'rsqrt_is_sqrt': replaced(r' rsqrt\(', ' sqrt('),
    'sum_is_maximum': replaced(r'(ROOT %[\w.\-]+ = \w+\[\] )add\(', r'\1maximum('),
    'crash_on_reverse': crashing(r' reverse\('),
    'crash_on_reverse_and_pad': crashing(r' (reverse|pad)\('),
    'crash_on_dot_of_bytes': crashing(r's8\[[^\]]*\]\S* dot\('),
}


def main():
    if sys.argv[1:] == ['--list']:
        print('\n'.join(FAULTS))
        return
    fault, assay, program, inputs, outputs = sys.argv[1:]
    with open(program) as file:
        text = file.read()
    changed = FAULTS[fault](text)
    if changed != text:
        program = os.path.join(os.path.dirname(outputs), 'changed.hlo')
        with open(program, 'w') as file:
            file.write(changed)
    os.execv(assay, [assay, 'run', program, '--inputs', inputs, '--output', outputs])


if __name__ == '__main__':
    main()
