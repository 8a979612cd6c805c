#!/usr/bin/env python3
"""Checks that what `assay print` writes, as text and as a proto, is to jaxlib the module that was read.

Usage: print_round_trip.py [--generated N] ASSAY_BINARY DIR...

For every *.hlo file below the directories that `assay verify` accepts: jaxlib must accept the printed text
and give for it the same text as for the original; printing the printed text must change nothing. The same of
`print --to pb` and jaxlib's reader of HloModuleProto, but for what that message has no field for; and Assay
must print that proto as it prints the file. Files that Assay or jaxlib refuse are skipped, listed by reason,
and so are goldens of decisions to read a text as another program than XLA does.

--generated N: the same of N programs that against_xla.py generates, and each must give from its proto and
from its printed text the bytes that it gives from the text.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import against_xla
import numpy as np
from jaxlib import _hlo


def assay(binary, command, path):
    done = subprocess.run([binary, command, path], capture_output=True, text=True, errors='replace',
                          timeout=60)
    return done.returncode, done.stdout, done.stderr


def table(text, name):
    """The numbered entries of one of the tables of source positions at the head of a module's text."""
    section = re.search(rf'^{name}\n((?:\d+ .*\n)*)', text, re.MULTILINE)
    return dict(line.split(' ', 1) for line in section[1].splitlines()) if section else {}


def with_frames_written_out(text):
    """The text with every stack_frame_id replaced by the positions it stands for.

    jaxlib numbers the tables anew in the order of the computations, which is Assay's choice to make.
    """
    tables = {name: table(text, name)
              for name in ('FileNames', 'FunctionNames', 'FileLocations', 'StackFrames')}

    def frame(number):
        found = tables['StackFrames'].get(number)
        if found is None:
            return number
        location, parent = re.fullmatch(r'{file_location_id=(\d+)(?: parent_frame_id=(\d+))?\s*}',
                                        found).groups()
        where = tables['FileLocations'][location]
        where = re.sub(r'file_name_id=(\d+)', lambda m: tables['FileNames'][m[1]], where)
        where = re.sub(r'function_name_id=(\d+)', lambda m: tables['FunctionNames'][m[1]], where)
        outer = int(parent or 1) - 1  # written one too high, so that 1 is no parent
        return where + (' < ' + frame(str(outer)) if outer else '')

    text = re.sub(r'stack_frame_id=(\d+)', lambda m: 'frame ' + frame(m[1]), text)
    return re.sub(r'^(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d+ .*\n)*\n?', '', text,
                  flags=re.M)


def jaxlib_text(text):
    """jaxlib's own text of a module, or (None, why)."""
    try:
        return with_frames_written_out(_hlo.hlo_module_from_text(text).to_string()), ''
    except Exception as error:  # jaxlib raises several kinds
        return None, str(error)


# Attributes of a module that HloModuleProto has no field for, and channel 0, which is no channel there.
WITHOUT_FIELD = re.compile(r', (?:channel_id=0\b|replica_count=\d+|num_partitions=\d+|alias_passthrough_params=true|'
                           r'allow_spmd_sharding_propagation_to_\w+=\{[^}]*\})')


def check_proto(binary, path, original, printed):
    """Compares jaxlib's text of the module that `assay print --to pb` writes with its text of the file."""
    done = subprocess.run([binary, 'print', path, '--to', 'pb'], capture_output=True, timeout=60)
    if done.returncode != 0:
        return 'failed', f'assay print --to pb: exit code {done.returncode}: {done.stderr[:300]}'
    try:
        read = _hlo.HloModule.from_serialized_hlo_module_proto(done.stdout)
    except Exception as error:
        module = _hlo.hlo_module_from_text(pathlib.Path(path).read_text(errors='replace'))
        try:
            _hlo.HloModule.from_serialized_hlo_module_proto(module.as_serialized_hlo_module_proto())
        except Exception:  # its own proto of this module is no better to it
            return 'passed', ''
        return 'failed', f'jaxlib refuses the proto: {str(error)[:400]}'
    text = with_frames_written_out(read.to_string())
    wanted = WITHOUT_FIELD.sub('', original)
    if text != wanted:
        return 'failed', 'proto: ' + first_difference(wanted, text)
    return printed_from_proto(binary, done.stdout, re.sub(r', channel_id=0\b', '', printed))


def printed_from_proto(binary, proto, printed):
    """Assay's text of its proto, against its text of the file."""
    with tempfile.NamedTemporaryFile(suffix='.pb') as file:
        file.write(proto)
        file.flush()
        code, text, errors = assay(binary, 'print', file.name)
    if code != 0:
        return 'failed', f'assay refuses its own proto: {errors[:300]}'
    return ('passed', '') if text == printed else ('failed',
                                                   'text of the proto: ' + first_difference(printed, text))


def reason(message):
    lines = [l.strip() for l in message.splitlines() if 'error' in l or 'INVALID' in l or 'Unknown' in l]
    return re.sub(r'[\w.:%]*\d[\w.:]*', '#', (lines or [message])[-1])[:110]


def first_difference(one, two):
    for a, b in zip(one.splitlines(), two.splitlines()):
        if a != b:
            return f'original: {a.strip()[:300]}\n    printed:  {b.strip()[:300]}'
    return 'one text is longer'


# Decisions of docs/semantics.md by which a text is another program than XLA reads;
# only the fixed point is looked at.
READ_AS_ANOTHER = {'complex-nan-literal', 'single-nested-operand'}


def check(binary, path):
    """(passed | failed | skipped, why)"""
    code, _, _ = assay(binary, 'verify', path)
    if code != 0:
        return 'skipped', f'assay verify: exit code {code}'
    source = pathlib.Path(path).read_text(errors='replace')
    original, why = jaxlib_text(source)
    if original is None:
        return 'skipped', f'jaxlib: {reason(why)}'
    code, printed, errors = assay(binary, 'print', path)
    if code != 0:
        return 'failed', f'assay print: exit code {code}: {errors[:300]}'
    # for which jaxlib makes up values, others for each text, or which it refuses
    if 'constant({...})' in printed:
        status, why = fixed_point(binary, printed)
        return ('skipped', 'elided constants') if status == 'passed' else (status, why)
    decision = re.search(r'^// decision: (\S+)$', source, re.MULTILINE)
    if decision and decision[1] in READ_AS_ANOTHER:
        status, why = fixed_point(binary, printed)
        return ('skipped', f'decision {decision[1]}') if status == 'passed' else (status, why)
    again, why = jaxlib_text(printed)
    if again is None:
        return 'failed', f'jaxlib refuses the printed text: {why[:400]}'
    if again != original:
        return 'failed', first_difference(original, again)
    status, why = fixed_point(binary, printed)
    return check_proto(binary, path, original, printed) if status == 'passed' else (status, why)


def fixed_point(binary, printed):
    with tempfile.NamedTemporaryFile('w', suffix='.hlo') as file:
        file.write(printed)
        file.flush()
        code, twice, errors = assay(binary, 'print', file.name)
    if code != 0:
        return 'failed', f'assay refuses its own text: {errors[:300]}'
    if twice != printed:
        return 'failed', 'print is not a fixed point: ' + first_difference(printed, twice)
    return 'passed', ''


def results_of(binary, path, inputs):
    """The bytes of the results' file, or None and why."""
    output = path + '.out.npz'
    done = subprocess.run([binary, 'run', path, '--inputs', inputs, '--output', output], capture_output=True,
                          text=True, errors='replace', timeout=120)
    if done.returncode != 0:
        return None, f'exit code {done.returncode}: {done.stderr.strip()[:300]}'
    return pathlib.Path(output).read_bytes(), ''


def check_generated(binary, program, directory):
    """check, and the same results from the text, the printed text and the proto."""
    path = os.path.join(directory, program.name + '.hlo')
    pathlib.Path(path).write_text(program.text())
    inputs = os.path.join(directory, program.name + '.npz')
    np.savez(inputs, **{f'arg{k}': a for k, a in enumerate(program.args)})
    status, why = check(binary, path)
    wanted, refused = results_of(binary, path, inputs)
    if status == 'failed' or wanted is None:
        return (status, why) if status == 'failed' else ('skipped', f'assay run: {reason(refused)}')
    for form in ('hlo', 'pb'):
        printed = os.path.join(directory, f'{program.name}_printed.{form}')
        with open(printed, 'wb') as out:
            subprocess.run([binary, 'print', path, '--to', form], stdout=out, check=True, timeout=60)
        results, refused = results_of(binary, printed, inputs)
        if results != wanted:
            return 'failed', f'printed as {form}: {refused or "other results"}'
    return status, why


def check_all(binary, directories, generated):
    """(path, (status, why)) of each file and program."""
    paths = sorted(str(p) for d in directories for p in pathlib.Path(d).rglob('*.hlo'))
    programs = against_xla.generate(generated, seed=20) if generated else []
    with concurrent.futures.ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as directory:
        results = list(zip(paths, pool.map(lambda p: check(binary, p), paths)))
        work = lambda program: check_generated(binary, program, directory)
        return results + list(zip([p.name for p in programs], pool.map(work, programs)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('assay')
    parser.add_argument('directories', nargs='*')
    parser.add_argument('--generated', type=int, default=0)
    options = parser.parse_args()
    results = check_all(options.assay, options.directories, options.generated)
    skipped = collections.defaultdict(list)
    count = collections.Counter(status for _, (status, _) in results)
    for path, (status, why) in results:
        if status == 'failed':
            print(f'{path}: {why}')
        elif status == 'skipped':
            skipped[why].append(os.path.basename(path))
    for why, names in sorted(skipped.items()):
        print(f'skipped ({len(names)}): {why}: {", ".join(names[:4])}')
    print(f'{count["passed"]} passed, {count["failed"]} failed, {count["skipped"]} skipped')
    return 1 if count['failed'] or not count['passed'] else 0


if __name__ == '__main__':
    sys.exit(main())
