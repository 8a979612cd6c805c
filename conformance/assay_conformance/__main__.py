"""python -m assay_conformance run DIR --platform cpu
python -m assay_conformance run DIR --plugin LIB.so
python -m assay_conformance run DIR --command 'CMD {program} {inputs} {outputs}'

Exit codes: 0 every case passed, was skipped or failed as expected; 1 some did not; 2 wrong usage, a suite
that can't be read, or a backend that does not start.
"""

import argparse
import os
import sys

from . import __version__, page, report
from .expected import ExpectedFailures, classify
from .pool import StartError, run_cases
from .suite import Suite, SuiteError


def _parser():
    parser = argparse.ArgumentParser(prog='assay_conformance', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--version', action='version', version=f'assay-conformance {__version__}')
    commands = parser.add_subparsers(dest='command_name', required=True)
    run = commands.add_parser('run', help='run the cases of a suite on a backend')
    run.add_argument('suite', metavar='DIR', help='the folder that assay conformance make has written')
    backend = run.add_mutually_exclusive_group(required=True)
    backend.add_argument('--platform', help='a platform of JAX: cpu, cuda, tpu, ...')
    backend.add_argument('--plugin', metavar='LIB.so', help="a library with PJRT's C API, which JAX loads")
    backend.add_argument('--command', help='a command with {program}, {inputs} and {outputs}')
    run.add_argument('--profile',
                     help="the bounds to judge by; the suite's first profile where it is left out")
    run.add_argument('--exact', action='store_true', help='want equal bits (of NaNs any), not bounds')
    run.add_argument('--form', choices=('mlir', 'hlo'), default='mlir',
                     help='StableHLO where a case has it (the default), or HLO')
    run.add_argument('--only', action='append', default=[], metavar='PATTERN',
                     help='cases whose id or tag fits, such as add, reduce/f32, "*/nans", empty (repeatable)')
    run.add_argument('--sample', type=int, default=0, help='so many cases, evenly spread')
    run.add_argument('--expected-failures', metavar='FILE', help="lines 'ID: reason' (docs/conformance.md)")
    run.add_argument('--fail-on-unexpected-pass', action='store_true',
                     help='exit 1 also where cases pass that are expected to fail')
    run.add_argument('--timeout', type=float, default=30.0, help='seconds for a case (30)')
    run.add_argument('--jobs', type=int, default=max(1, (os.cpu_count() or 1) // 2),
                     help='worker processes (half of the cores)')
    run.add_argument('--json', metavar='FILE', help='write every result')
    run.add_argument('--junit', metavar='FILE', help='write JUnit XML')
    run.add_argument('--html', metavar='FILE', help='write a page with a table of operations and types')
    return parser


def _spec(options):
    for kind in ('platform', 'plugin', 'command'):
        value = getattr(options, kind)
        if value is not None:
            if kind == 'command' and '{outputs}' not in value:
                raise SuiteError('--command takes a command with {outputs}, which it writes, and {program} and '
                                 '{inputs}, which it reads')
            return {'kind': kind, 'value': value, 'form': options.form, 'limit': options.timeout}
    raise AssertionError


def _write(path, content):
    partial = f'{path}.partial'
    try:
        with open(partial, 'w', encoding='utf-8', errors='replace') as file:
            file.write(content)
        os.replace(partial, path)
    except OSError as error:
        raise SuiteError(f'{path} can not be written: {error}') from None


def _progress(total):
    if not sys.stderr.isatty():
        return None

    def show(case, _, done):
        print(f'\r\x1b[K{done} of {total} {case.id}', end='', file=sys.stderr, flush=True)
        if done == total:
            print('\r\x1b[K', end='', file=sys.stderr, flush=True)

    return show


def _run(options):
    if options.timeout <= 0 or options.jobs < 1 or options.sample < 0:
        raise SuiteError('--timeout and --jobs want numbers above 0')
    suite = Suite(options.suite)
    profile = options.profile or (suite.profiles[0] if suite.profiles else '')
    if profile not in suite.profiles:
        raise SuiteError(f"the suite has no bounds of profile '{profile}', but of "
                         f"{', '.join(suite.profiles)}: assay conformance make --profile {profile} writes them")
    expected = ExpectedFailures(options.expected_failures)
    cases = suite.chosen(options.only, options.sample)
    if not cases:
        raise SuiteError('no case fits --only')
    about, results = run_cases(cases, _spec(options), suite.folder, profile, options.exact, options.jobs,
                               options.timeout, _progress(len(cases)))
    results = {case.id: results[case.id] for case in cases}
    classify(results, expected)
    run = {'backend': about, 'profile': profile, 'exact': options.exact, 'form': options.form}
    for path, write in ((options.json, report.to_json), (options.junit, report.to_junit),
                        (options.html, page.to_html)):
        if path:
            _write(path, write(suite, results, run))
    print(report.text(results, about, expected.unused(case.id for case in suite.cases)))
    found = report.counts(results)
    failed = sum(found[outcome] for outcome in report.BAD)
    if options.fail_on_unexpected_pass:
        failed += found['unexpected-pass']
    return 1 if failed else 0


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except (SuiteError, StartError) as error:
        print(f'assay_conformance: error: {error}', file=sys.stderr)
        return 2


if __name__ == '__main__':
    sys.exit(main())
