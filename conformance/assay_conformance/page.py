"""A run as one page of HTML: a table of operations and element types, and what is wrong where."""

import collections
from html import escape

from .report import BAD, OUTCOMES, counts, explanation

# From the one that says most of a cell to the one that says least, with a sign for who sees no colours.
SIGNS = {'crash': '✸', 'hang': '∞', 'error': '?', 'fail': '✗', 'unexpected-pass': '!', 'expected': '≈',
         'pass': '✓', 'skip': '–'}
LABELS = {'crash': 'crashed', 'hang': 'hung', 'error': 'could not be judged', 'fail': 'failed',
          'unexpected-pass': 'passed unexpectedly', 'expected': 'failed as expected', 'pass': 'passed',
          'skip': 'skipped'}
TYPES = ('pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 f8e5m2 f8e4m3 f8e4m3fn '
         'f8e4m3b11fnuz f8e3m4 f8e5m2fnuz f8e4m3fnuz f8e8m0fnu f6e3m2fn f6e2m3fn f4e2m1fn c64 c128').split()
MOST_CASES = 2000

STYLE = '''
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --faint: #6b7280; --line: #d8dbe0;
  --pass: #dcf3e1; --fail: #ffd9d6; --crash: #f3c4f0; --hang: #ffe3b8; --skip: #eef0f2; --expected: #fff3c4;
  --unexpected-pass: #cfe6ff; --error: #e5d4c3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --paper: #16181b; --faint: #9aa3ad; --line: #34393f;
  --pass: #173d24; --fail: #6b211d; --crash: #5c2358; --hang: #63430d; --skip: #23272b; --expected: #4f430d;
  --unexpected-pass: #163f66; --error: #4d3a28; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; }
p { margin: .3rem 0; } .faint { color: var(--faint); }
.scroll { overflow: auto; max-height: 80vh; border: 1px solid var(--line); }
table { border-collapse: separate; border-spacing: 0; }
th, td { padding: .15rem .4rem; border-bottom: 1px solid var(--line); border-right: 1px solid var(--line);
  white-space: nowrap; text-align: center; font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; background: var(--paper); z-index: 1; font-weight: 600; font-size: 12px; }
tbody th { position: sticky; left: 0; background: var(--paper); text-align: left; font-weight: 500; }
td a { color: inherit; } td small { color: var(--faint); }
.legend span { padding: .1rem .5rem; margin-right: .4rem; border: 1px solid var(--line); display: inline-block; }
details { border-left: 4px solid var(--line); margin: .2rem 0; padding: .1rem .6rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font-size: 12px; }
''' + '\n'.join(f'.{name} {{ background: var(--{name}); }}' for name in SIGNS)


def _cells(suite, results):
    cells = collections.defaultdict(list)
    for case in suite.cases:
        if case.id in results:
            cells[case.op, case.type].append(results[case.id]['outcome'])
    return cells


def _cell(op, element, outcomes, anchors):
    if not outcomes:
        return '<td></td>'
    found = collections.Counter(outcomes)
    worst = next(outcome for outcome in SIGNS if found[outcome])
    said = ', '.join(f'{found[outcome]} {LABELS[outcome]}' for outcome in SIGNS if found[outcome])
    number = f'{found[worst]}<small>/{len(outcomes)}</small>' if len(found) > 1 else str(len(outcomes))
    inner = f'{SIGNS[worst]} {number}'
    if (op, element) in anchors:
        inner = f'<a href="#c{anchors[op, element]}">{inner}</a>'
    title = escape(f'{op} {element}: {said}', quote=True)
    return f'<td class="{worst}" title="{title}">{inner}</td>'


def _details(suite, results):
    """The cases that are told one by one, and the first one of each cell."""
    parts, anchors, left_out = [], {}, 0
    for case in suite.cases:
        result = results.get(case.id)
        if result is None or result['outcome'] not in (*BAD, 'unexpected-pass', 'expected'):
            continue
        if len(parts) >= MOST_CASES:
            left_out += 1
            continue
        outcome = result['outcome']
        name = ''
        if (case.op, case.type) not in anchors:
            anchors[case.op, case.type] = len(anchors)
            name = f' id="c{anchors[case.op, case.type]}"'
        reason = f"<p>expected: {escape(str(result['reason']))}</p>" if result.get('reason') else ''
        rules = f"<p class='faint'>rules: {escape(', '.join(case.rules))}</p>" if case.rules else ''
        parts.append(f'<details{name}><summary><span class="{outcome}">{SIGNS[outcome]} {LABELS[outcome]}</span> '
                     f'{escape(case.id)}</summary>{reason}<pre>{escape(explanation(result))}</pre>{rules}</details>')
    if left_out:
        parts.append(f'<p>{left_out} more are left out; the JSON file has them.</p>')
    return '\n'.join(parts), anchors


def to_html(suite, results, run):
    cells = _cells(suite, results)
    ops = list(dict.fromkeys(case.op for case in suite.cases if case.id in results))
    found_types = {element for _, element in cells}
    types = [t for t in TYPES if t in found_types] + sorted(found_types - set(TYPES))
    details, anchors = _details(suite, results)
    head = ''.join(f'<th scope="col">{escape(t)}</th>' for t in types)
    rows = '\n'.join(f'<tr><th scope="row">{escape(op)}</th>'
                     + ''.join(_cell(op, t, cells.get((op, t), ()), anchors) for t in types) + '</tr>'
                     for op in ops)
    found = counts(results)
    legend = ''.join(
        f'<span class="{outcome}">{SIGNS[outcome]} {found[outcome]} {LABELS[outcome]}</span>'
        for outcome in SIGNS
        if found[outcome] or outcome in ('pass', 'fail', 'skip', 'crash', 'hang'))
    without = ''.join(
        f'<li>{escape(str(op))}: {escape(str(why))}</li>' for op, why in suite.without_cases.items())
    judged = sum(result.get('judged', 0) for result in results.values())
    left = sum(result.get('open', 0) + result.get('unbounded', 0) for result in results.values())
    return f'''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Conformance: {escape(run['backend'])}</title><style>{STYLE}</style></head><body>
<h1>Conformance of {escape(run['backend'])}</h1>
<p>{len(results)} cases of the suite of {escape(suite.generator)}, judged by
{'equal bits' if run['exact'] else 'the bounds of profile ' + escape(run['profile'])}.
{judged} elements were judged, {left} are left open or have no bound.</p>
<p class="legend">{legend}</p>
<p class="faint">A cell has the worst outcome of its cases: how many have it, of how many.</p>
<div class="scroll" tabindex="0" role="region" aria-label="outcomes by operation and element type">
<table><thead><tr><th scope="col">operation</th>{head}</tr></thead><tbody>
{rows}
</tbody></table></div>
<h2>Cases that did not pass</h2>
{details or '<p>None.</p>'}
<h2>Operations without cases</h2><ul>{without}</ul>
</body></html>
'''


__all__ = ['to_html', 'OUTCOMES']
