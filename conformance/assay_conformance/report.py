"""What a run found: as text, JSON and JUnit XML."""

import collections
import json
import re
from xml.sax.saxutils import escape, quoteattr

from . import __version__

BAD = ('fail', 'crash', 'hang', 'error')
OUTCOMES = ('pass', 'expected', 'unexpected-pass', 'skip', *BAD)
SHOWN = 20
# What XML 1.0 has no way to write.
NOT_XML = re.compile('[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')


def counts(results):
    found = collections.Counter(result['outcome'] for result in results.values())
    return {outcome: found[outcome] for outcome in OUTCOMES}


def explanation(result):
    """Why a case is not right, in a line for each element that is shown."""
    lines = [result['why']] if result.get('why') else []
    if result.get('wrong'):
        lines.append(f"{result['wrong']} of {result['judged']} elements are wrong")
    for of in result.get('details', ()):
        radius = f", at most {of['radius']:g} off" if of['radius'] else ''
        lines.append(f"{of['output']}{of['index']}: {of['actual']}, want {of['exact']}{radius}")
    return '\n'.join(lines)


def text(results, about, unused):
    lines = []
    bad = [name for name, result in results.items() if result['outcome'] in BAD]
    for name in bad[:SHOWN]:
        lines.append(f"{results[name]['outcome'].upper()} {name}")
        lines += [f'  {line[:300]}' for line in explanation(results[name]).splitlines()[:4]]
    if len(bad) > SHOWN:
        lines.append(f'... and {len(bad) - SHOWN} more')
    for name, result in results.items():
        if result['outcome'] == 'unexpected-pass':
            lines.append(f"passed, although it is expected to fail: {name} ({result['reason']})")
    for name in unused:
        lines.append(f'expected to fail, but no case of this suite: {name}')
    retried = sum('first_try' in result for result in results.values())
    if retried:
        lines.append(f'{retried} cases were tried twice: a process crashed or hung')
    found = counts(results)
    words = {'expected': 'failed as expected', 'unexpected-pass': 'passed unexpectedly', 'skip': 'skipped',
             'pass': 'passed', 'fail': 'failed', 'crash': 'crashed', 'hang': 'hung',
             'error': 'could not be judged'}
    judged = sum(result.get('judged', 0) for result in results.values())
    left = sum(result.get('open', 0) + result.get('unbounded', 0) for result in results.values())
    lines.append(f'{about}: {len(results)} cases: '
                 + ', '.join(f'{found[outcome]} {words[outcome]}' for outcome in OUTCOMES if found[outcome]))
    lines.append(f'{judged} elements judged, {left} not (left open, or without a bound)')
    return '\n'.join(''.join(c if c.isprintable() else '?' for c in line) for line in lines)


def to_json(suite, results, run):
    return json.dumps(
        {
            'runner': f'assay-conformance {__version__}',
            'suite': suite.generator,
            'seed': suite.seed,
            **run, 'counts': counts(results),
            'results': results
        },
        indent=1,
        sort_keys=True) + '\n'


def _xml(value):
    return NOT_XML.sub('\ufffd', str(value))


def to_junit(suite, results, run):
    found = counts(results)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             f'<testsuite name={quoteattr(_xml("assay-conformance " + run["backend"]))} tests="{len(results)}" '
             f'failures="{found["fail"]}" errors="{found["crash"] + found["hang"] + found["error"]}" '
             f'skipped="{found["skip"] + found["expected"]}" '
             f'time="{sum(result.get("seconds", 0) for result in results.values()):.3f}">']
    for case in suite.cases:
        result = results.get(case.id)
        if result is None:
            continue
        lines.append(f'<testcase classname={quoteattr(_xml(f"{case.op}.{case.type}"))} '
                     f'name={quoteattr(_xml(case.what))} time="{result.get("seconds", 0):.3f}">')
        outcome, why = result['outcome'], escape(_xml(explanation(result)))
        first = quoteattr(_xml(explanation(result).partition('\n')[0]))
        if outcome == 'fail':
            lines.append(f'<failure message={first}>{why}</failure>')
        elif outcome in BAD:
            lines.append(f'<error type={quoteattr(outcome)} message={first}>{why}</error>')
        elif outcome in ('skip', 'expected'):
            reason = quoteattr(_xml(result.get('reason') or result.get('why', '')))
            lines.append(f'<skipped message={reason}/>')
        elif outcome == 'unexpected-pass':
            lines.append(f'<system-out>passed, although it is expected to fail: '
                         f'{escape(_xml(result["reason"]))}</system-out>')
        lines.append('</testcase>')
    return '\n'.join(lines + ['</testsuite>', ''])
