"""The runner: what becomes of a case, the files that it reads and writes, exit codes."""

import hashlib
import json
import sys
import xml.etree.ElementTree

import numpy as np
import pytest
from small_suite import add_case, write_index

from assay_conformance.__main__ import main

# A backend that adds in NumPy; what else it does depends on the first argument that it is given.
BACKEND = '''
import os, signal, sys, time
import numpy as np
program, inputs, outputs = sys.argv[1:]
stored = np.load(inputs)
x, y = stored['arg0'], stored['arg1']
assert sorted(stored.files) == ['arg0', 'arg1'] and 'HloModule' in open(program).read()
if x[0] == 10: os.kill(os.getpid(), signal.SIGSEGV)
if x[0] == 20: time.sleep(60)
if x[0] == 30: sys.exit(4)
if x[0] == 40: sys.exit('the compiler <gave up>')
if x[0] == 50: sys.exit(0)
np.savez(outputs, out0=x + y + (x[0] == 60))
'''


def arrays(first):
    x, y = np.array([first, 2, 3], np.float32), np.array([1, 1, 1], np.float32)
    return {'arg0': x, 'arg1': y, 'out0': x + y}


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / 'suite'
    folder.mkdir()
    (tmp_path / 'backend.py').write_text(BACKEND)
    cases = [
        add_case(folder, f'add/f32/{what}', arrays(first))
        for what, first in [('right', 1), ('crash', 10), ('hang', 20), ('lacks',
                                                                        30), ('refuses',
                                                                              40), ('silent',
                                                                                    50), ('wrong', 60)]
    ]
    write_index(folder, cases)
    return folder


def run(suite, *more):
    command = f'{sys.executable} {suite.parent}/backend.py {{program}} {{inputs}} {{outputs}}'
    path = suite.parent / 'results.json'
    code = main([
        'run',
        str(suite), '--command', command, '--form', 'hlo', '--timeout', '3', '--jobs', '2', '--json',
        str(path), *more
    ])
    return code, json.loads(path.read_text()) if path.exists() else None


def outcomes(found):
    return {name.rpartition('/')[2]: result['outcome'] for name, result in found['results'].items()}


def test_each_case_ends_in_its_own_way(suite, capsys):
    code, found = run(suite)
    assert code == 1
    assert outcomes(found) == {'right': 'pass', 'crash': 'crash', 'hang': 'hang', 'lacks': 'skip',
                               'refuses': 'fail', 'silent': 'fail', 'wrong': 'fail'}
    results = found['results']
    assert 'signal 11' in results['add/f32/crash']['why']
    assert 'exit status 1' in results['add/f32/refuses']['why']
    assert results['add/f32/wrong']['details'][0] == {'output': 'out0', 'index': [0], 'exact': '61.0',
                                                      'actual': '62.0', 'radius': 0.0}
    assert '7 cases: 1 passed, 1 skipped, 3 failed, 1 crashed, 1 hung' in capsys.readouterr().out


def test_failures_that_are_expected_do_not_fail(suite, tmp_path, capsys):
    known = tmp_path / 'known.txt'
    known.write_text('# of this backend\nadd/f32/crash [crash]: it divides\nadd/f32/hang [hang]: it waits\n'
                     'add/f32/wr*: it adds one\nadd/f32/refuses: it refuses\nadd/f32/silent: it forgets\n'
                     'add/f32/right: was wrong once\nadd/f64/gone: was removed\n')
    code, found = run(suite, '--expected-failures', str(known))
    assert code == 0
    assert outcomes(found)['wrong'] == outcomes(found)['crash'] == 'expected'
    assert outcomes(found)['right'] == 'unexpected-pass'
    out = capsys.readouterr().out
    assert 'passed, although it is expected to fail: add/f32/right (was wrong once)' in out
    assert 'no case of this suite: add/f64/gone' in out
    code, _ = run(suite, '--expected-failures', str(known), '--fail-on-unexpected-pass')
    assert code == 1


def test_a_crash_is_no_expected_failure(suite, tmp_path):
    known = tmp_path / 'known.txt'
    known.write_text('add/f32/crash: gives a wrong number\n')
    _, found = run(suite, '--expected-failures', str(known), '--only', 'add/f32/crash')
    assert outcomes(found) == {'crash': 'crash'}


def test_one_of_several_ends_may_be_expected(suite, tmp_path):
    known = tmp_path / 'known.txt'
    known.write_text('add/f32/crash [fail|crash]: overwrites memory\nadd/f32/wr* [fail|crash]: the same\n'
                     'add/f32/hang [fail|crash]: the same\n')
    _, found = run(suite, '--expected-failures', str(known))
    assert outcomes(found)['crash'] == outcomes(found)['wrong'] == 'expected'
    assert outcomes(found)['hang'] == 'hang'


@pytest.mark.parametrize('line',
                         ['add/f32/right', 'add/f32/right:', 'add/f32/right [skip]: no', 'a: b\na: c'])
def test_a_wrong_file_of_expected_failures_is_wrong_usage(suite, tmp_path, line, capsys):
    known = tmp_path / 'known.txt'
    known.write_text(line)
    assert run(suite, '--expected-failures', str(known))[0] == 2
    assert 'known.txt:' in capsys.readouterr().err


def test_junit_and_page_hold_hostile_names(tmp_path):
    folder = tmp_path / 'suite'
    folder.mkdir()
    (tmp_path / 'backend.py').write_text(BACKEND)
    hostile = '<script>alert("x")</script>\x01&\ufffe'
    named = {'id': 'add/f32/' + hostile, 'what': hostile, 'op': hostile, 'type': "f32' onload='x"}
    cases = [add_case(folder, 'add/f32/wrong', arrays(60), **named),
             add_case(folder, 'add/f32/refuses', arrays(40))]
    write_index(folder, cases)
    code, _ = run(folder, '--junit', str(tmp_path / 'r.xml'), '--html', str(tmp_path / 'r.html'))
    assert code == 1
    root = xml.etree.ElementTree.parse(tmp_path / 'r.xml').getroot()
    assert [len(root), root.get('failures'), root.get('tests')] == [2, '2', '2']
    page = (tmp_path / 'r.html').read_text()
    for hostile in ('<script', "onload='", '<gave up>', '<b>numbers'):
        assert hostile not in page
    assert '&lt;script&gt;' in page and '<style>' in page and 'prefers-color-scheme: dark' in page


def test_only_and_sample_choose_cases(suite):
    assert outcomes(run(suite, '--only', 'add/f32/right')[1]) == {'right': 'pass'}
    assert len(outcomes(run(suite, '--sample', '3', '--only', 'elementwise')[1])) == 3


@pytest.mark.parametrize('arguments, why', [
    (['--profile', 'tpu'], "no bounds of profile 'tpu'"), (['--only', 'nothing'], 'no case fits'),
    (['--jobs', '0'], 'above 0')])
def test_wrong_usage(suite, capsys, arguments, why):
    assert run(suite, *arguments)[0] == 2
    assert why in capsys.readouterr().err


def test_a_changed_file_is_an_error_of_the_suite(suite):
    (suite / 'file0.hlo').write_text('HloModule other')
    _, found = run(suite, '--only', 'add/f32/right')
    assert found['results']['add/f32/right']['outcome'] == 'error'
    assert 'digest' in found['results']['add/f32/right']['why']


@pytest.mark.parametrize('index', ['', '[]', '{"format": 2}', '{"format": 1, "cases": []}'])
def test_a_wrong_index_is_wrong_usage(tmp_path, index, capsys):
    (tmp_path / 'index.json').write_text(index)
    assert main(['run', str(tmp_path), '--platform', 'cpu']) == 2
    assert 'index.json' in capsys.readouterr().err


def test_a_plugin_that_is_not_there_is_wrong_usage(suite, capsys):
    assert main(['run', str(suite), '--plugin', '/nowhere/lib.so']) == 2
    assert 'no library' in capsys.readouterr().err


@pytest.mark.parametrize('form', ['mlir', 'hlo'])
def test_jax_runs_both_forms(tmp_path, form):
    pytest.importorskip('jax')
    folder = tmp_path / 'suite'
    folder.mkdir()
    wrong = arrays(1)
    wrong['out0'] = wrong['out0'] + 1
    bad = add_case(folder, 'add/f32/refused')
    for kind in ('mlir', 'hlo'):  # a program that nothing reads
        (folder / bad['files'][kind]['file']).write_text('HloModule x {')
        bad['files'][kind]['sha256'] = hashlib.sha256(b'HloModule x {').hexdigest()
    write_index(folder, [add_case(folder, 'add/f32/right'), add_case(folder, 'add/f32/wrong', wrong), bad])
    path = tmp_path / 'r.json'
    assert main(
        ['run',
         str(folder), '--platform', 'cpu', '--form', form, '--jobs', '1', '--json',
         str(path)]) == 1
    found = json.loads(path.read_text())
    assert outcomes(found) == {'right': 'pass', 'wrong': 'fail', 'refused': 'fail'}
    assert 'jaxlib' in found['backend']
