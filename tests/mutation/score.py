"""The mutation score of folders: tools/mutate score.

A sample of the mutants (sites.py) of some sources is compiled into the objects of these sources, all mutants
of a source at once; the objects are linked with the libraries of a finished build, before which they come. A
first run of each group of tests, with no mutant on, says which mutants it reaches. Each mutant is then turned
on in the groups that reach it, until one fails, or takes ten times as long as without. A mutant that no group
reaches survives.

FOLDER/results.jsonl has a line for each mutant; the same command goes on where it ended. Survivors are judged
in tests/mutation/survivors.txt."""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.mutation import sites  # noqa: E402

DEFAULT = ['evaluator', 'engines/native', 'check', 'hlo']
VERDICTS = ROOT / 'tests/mutation/survivors.txt'


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def limit_memory():
    """Of a mutant that asks for ever more."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


class Builder:
    """Compiles and links with the commands of a finished build."""

    def __init__(self, build, folder):
        self.build, self.folder = build.resolve(), folder
        # The build may have been made while the sources lay elsewhere.
        cache = (self.build / 'CMakeCache.txt').read_text(encoding='utf-8')
        self.home = re.search(r'^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$', cache, re.M)[1]
        commands = (self.build / 'compile_commands.json').read_text(encoding='utf-8')
        self.commands = json.loads(self.here(commands))

    def here(self, text):
        return text.replace(f'{self.home}/', f'{ROOT}/')

    def flags_for(self, source):
        """The command that compiles the source, or the batch of files that has it."""
        library = source.parts[0]
        for entry in self.commands:
            if entry['file'] == str(ROOT / source):
                return entry
        for entry in self.commands:
            is_batch = f'assay_{library}.dir/Unity' in entry['file']
            if is_batch and os.path.exists(entry['file']) and \
                    f'/{source}"' in pathlib.Path(entry['file']).read_text(encoding='utf-8'):
                return entry
        return None

    def compile(self, source, text, name):
        """'' or the compiler's errors."""
        entry = self.flags_for(source)
        if entry is None:
            return 'no command'
        words = shlex.split(entry['command'])
        words = [word for word in words if word not in ('ccache', '-Werror', '-Winvalid-pch')]
        path = self.folder / f'{name}.cc'
        path.write_text(text, encoding='utf-8')
        for flag, value in (('-o', str(self.folder / f'{name}.o')), ('-c', str(path))):
            words[words.index(flag) + 1] = value
        for flag in ('-MT', '-MF'):
            if flag in words:
                del words[words.index(flag):words.index(flag) + 2]
        words = [word for word in words if word != '-MD']
        words += ['-w', f'-I{ROOT}', '-include', str(ROOT / 'tests/mutation/mutant.h'),
                  f'-iquote{(ROOT / source).parent}']
        done = run(words, cwd=entry['directory'])
        return '' if done.returncode == 0 else done.stderr

    def link(self, target, names, output):
        command = run(['ninja', '-C', str(self.build), '-t', 'commands', target]).stdout.splitlines()[-1]
        command = re.search(r'\S*g\+\+ .*? -o \S+.*?(?= && |$)', command)[0]
        words = shlex.split(self.here(command))
        words[words.index('-o') + 1] = str(output)
        words[1:1] = ['-Wl,-z,muldefs', *(str(self.folder / f'{name}.o') for name in names)]
        done = run(words, cwd=self.build)
        if done.returncode != 0:
            sys.exit(f'{target} does not link: {done.stderr[-2000:]}')


class Group:
    """Tests that run in one process."""

    def __init__(self, name, command):
        self.name, self.command, self.seconds, self.reached = name, command, 0.0, b''

    def measure(self, count, folder):
        """False where the tests fail without a mutant."""
        path = folder / 'reached'
        path.write_bytes(bytes(count + 1))
        start = time.monotonic()
        done = run(self.command, cwd=ROOT, env={**os.environ, 'ASSAY_MUTANTS_REACHED': str(path)})
        self.seconds, self.reached = time.monotonic() - start, path.read_bytes()
        return done.returncode == 0

    def kills(self, number):
        """'' or how."""
        try:
            done = run(self.command, cwd=ROOT, env={**os.environ, 'ASSAY_MUTANT': str(number)},
                       timeout=10 * self.seconds + 5, preexec_fn=limit_memory)
        except subprocess.TimeoutExpired:
            return 'timeout'
        return '' if done.returncode == 0 else 'killed'


def draw(options):
    """(source, its sites in the sample), by the seed: so many files, and so many mutants of each."""
    rng = random.Random(options.seed)
    sources = set()
    for folder in (ROOT / name for name in options.folders or DEFAULT):
        sources.update([folder] if folder.is_file() else folder.rglob('*.cc'))
    sources = sorted(path.relative_to(ROOT) for path in sources)
    drawn = []
    for source in rng.sample(sources, min(options.files, len(sources))):
        found = sites.sites_of((ROOT / source).read_text(encoding='utf-8'))
        # Each kind has the same chance, whatever there is most of.
        rng.shuffle(found)
        by_kind = [[site for site in found if site.kind == kind] for kind in sites.KINDS]
        mixed = [group[i] for i in range(len(found)) for group in by_kind if i < len(group)]
        chosen = sites.disjoint(mixed)[:options.each]
        if chosen:
            drawn.append((source, chosen))
    return drawn


def compiled(builder, drawn):
    """(number, source, site) of what compiles, and the names of the objects."""
    mutants, names, number = [], [], 1
    for source, chosen in drawn:
        text = (ROOT / source).read_text(encoding='utf-8')
        left = list(enumerate(chosen, number))
        number += len(chosen)
        name = str(source).replace('/', '__')[:-3]
        for _ in range(8):
            errors = builder.compile(source, sites.mutated(text, left), name)
            if not errors or not left:
                break
            lines = {int(n) for n in re.findall(rf'{re.escape(name)}\.cc:(\d+):', errors)}
            line_of = lambda site: text.count('\n', 0, site.begin) + 1
            kept = [pair for pair in left if line_of(pair[1]) not in lines]
            # An error in a header has no line here: one half is tried.
            left = kept if len(kept) < len(left) else left[:len(left) // 2]
        if errors or not left:
            why = errors.splitlines()[0] if errors else 'nothing compiles'
            print(f'{source}: left out: {why}', flush=True)
            continue
        names.append(name)
        mutants += [(n, source, site) for n, site in left]
        print(f'{source}: {len(left)} mutants', flush=True)
    return mutants, names


def groups_of(options, program, tests):
    folders = sorted(path.name for path in (ROOT / 'golden').iterdir() if path.is_dir())
    groups = []
    for folder in folders:
        if folder in ('programs', 'oracles'):
            continue
        for engine in ('exact', 'reference'):
            command = [program, 'golden', 'check', f'golden/{folder}', '--engine', engine, '--jobs', '1']
            groups.append(Group(f'golden/{folder} {engine}', command))
    if tests is not None:
        groups += [Group(f'unit tests {tags}', [tests, tags]) for tags in options.tags.split(';')]
    return groups


def measure(groups, count, folder):
    """What each group reaches, and how long it takes; known of an earlier run with the same state."""
    path = folder / 'groups.json'
    known = json.loads(path.read_text(encoding='utf-8')) if path.exists() else {}
    for group in groups:
        if group.name in known:
            group.seconds, group.reached = known[group.name][0], bytes.fromhex(known[group.name][1])
            continue
        if not group.measure(count, folder):
            print(f'{group.name}: fails without a mutant, left out', flush=True)
            group.reached = b''
        known[group.name] = [group.seconds, group.reached.hex()]
        path.write_text(json.dumps(known), encoding='utf-8')


def place(source, site):
    text = (ROOT / source).read_text(encoding='utf-8')
    line = text.count('\n', 0, site.begin) + 1
    return line, text.splitlines()[line - 1].strip()


def verdicts():
    """By (file, what stands on the line, what the mutant does): the verdict."""
    found = {}
    if VERDICTS.exists():
        for line in VERDICTS.read_text(encoding='utf-8').splitlines():
            if line and not line.startswith('#'):
                parts = [part.strip() for part in line.split(' | ')]
                found[tuple(parts[:3])] = parts[3]
    return found


def report(folder):
    known, count, survivors = verdicts(), {}, []
    for line in (folder / 'results.jsonl').read_text(encoding='utf-8').splitlines():
        row = json.loads(line)
        result = row['result']
        key = (row['file'], row['code'].replace('|', '¦'), row['says'].replace('|', '¦'))
        if result in ('survives', 'not reached') and known.get(key, '').startswith('equivalent'):
            result = 'equivalent'
        elif result in ('survives', 'not reached'):
            survivors.append((*key, f'line {row["line"]}, {result}', known.get(key, 'NOT JUDGED')))
        count[result] = count.get(result, 0) + 1
    for survivor in survivors:
        print(' | '.join(survivor))
    killed, all_of_them = count.get('killed', 0) + count.get('timeout', 0), sum(count.values())
    judged = all_of_them - count.get('equivalent', 0)
    print(', '.join(f'{n} {what}' for what, n in sorted(count.items())))
    print(f'{killed} of {judged} killed: {100 * killed / max(judged, 1):.1f} %')
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(prog='tools/mutate score', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/dev', help='a finished build')
    parser.add_argument('--folder', type=pathlib.Path, default=ROOT / 'build/mutation_score')
    parser.add_argument('--files', type=int, default=200, help='so many sources, drawn by the seed')
    parser.add_argument('--each', type=int, default=10, help='so many mutants of each')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--tags', default='', help="unit tests besides goldens, by tags: '[hlo];[native]'")
    parser.add_argument('--seconds', type=float, default=1e9, help='end after so long, to be gone on with')
    parser.add_argument('--report', action='store_true', help='only print what is known')
    parser.add_argument('folders', nargs='*', help='folders or files, by default ' + ', '.join(DEFAULT))
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.report:
        return report(options.folder)
    end = time.monotonic() + options.seconds
    drawn = draw(options)
    builder = Builder(options.build, options.folder.resolve())
    program, tests = options.folder.resolve() / 'assay', options.folder.resolve() / 'assay_tests'
    state = options.folder / 'state.json'
    key = [options.seed, options.files, options.each, options.folders]
    if not state.exists() or json.loads(state.read_text())['key'] != key:
        mutants, names = compiled(builder, drawn)
        flags = ['-std=c++20', '-O1', '-fPIC', f'-I{ROOT}', '-c', str(ROOT / 'tests/mutation/mutant.cc')]
        subprocess.run(['g++', *flags, '-o', str(builder.folder / 'mutant.o')], check=True)
        builder.link('assay', [*names, 'mutant'], program)
        tests.unlink(missing_ok=True)
        state.write_text(json.dumps({'key': key, 'mutants': [n for n, _, _ in mutants], 'objects': names}))
        (options.folder / 'results.jsonl').write_text('')
        (options.folder / 'groups.json').unlink(missing_ok=True)
    known = json.loads(state.read_text())
    if options.tags and not tests.exists():
        builder.link('assay_tests', [*known['objects'], 'mutant'], tests)
    alive = set(known['mutants'])
    numbered = [(number, source, site) for number, (source, site) in enumerate(
        ((source, site) for source, chosen in drawn for site in chosen), 1) if number in alive]
    groups = groups_of(options, str(program), str(tests) if options.tags else None)
    count = sum(len(chosen) for _, chosen in drawn)
    measure(groups, count, options.folder)
    rows = options.folder / 'results.jsonl'
    # A mutant that survived fewer groups of tests than there are now is tried again.
    kept = [row for row in map(json.loads, rows.read_text(encoding='utf-8').splitlines())
            if row['result'] in ('killed', 'timeout') or row['of'] == len(groups)]
    rows.write_text(''.join(json.dumps(row) + '\n' for row in kept), encoding='utf-8')
    done = {row['number'] for row in kept}
    with open(rows, 'a', encoding='utf-8') as results:
        for number, source, site in numbered:
            if number in done:
                continue
            if time.monotonic() > end:
                print('out of time: the same command goes on')
                break
            reaching = [group for group in groups if group.reached[number:number + 1] == b'\1']
            reaching.sort(key=lambda group: group.seconds)
            result, by = ('survives' if reaching else 'not reached'), ''
            for group in reaching:
                how = group.kills(number)
                if how:
                    result, by = how, group.name
                    break
            line, code = place(source, site)
            row = {'number': number, 'file': str(source), 'line': line, 'code': code, 'kind': site.kind,
                   'says': site.says, 'result': result, 'by': by, 'groups': len(reaching), 'of': len(groups)}
            results.write(json.dumps(row) + '\n')
            results.flush()
    return report(options.folder)
