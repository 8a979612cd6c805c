"""Where a C++ source can be mutated, and the source with all its mutants in it, of which ASSAY_MUTANT(number)
turns on one at run time (mutant.h).

The sources are formatted by clang-format: binary operators have spaces around them, brackets of templates
have none. What does not compile with its question in it, such as a constant expression, is left out later."""

import dataclasses
import re

KINDS = ('constant', 'relation', 'arithmetic', 'condition', 'logic', 'statement')


@dataclasses.dataclass(frozen=True)
class Site:
    """text[begin:end] becomes `new`, in which {} is the question. `says` is what the mutant does."""
    begin: int
    end: int
    new: str
    kind: str
    says: str


def blanked(text):
    """The text with comments, strings, characters and lines of the preprocessor as blanks."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w\'])\'(?:\\.|[^\'\\\n])+\'|'
        r'^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
    return pattern.sub(lambda match: re.sub(r'[^\n]', ' ', match[0]), text)


def closing(text, opening):
    """Where the bracket at `opening` is closed; -1: nowhere."""
    depth = 0
    for i in range(opening, len(text)):
        depth += text[i] in '([{'
        depth -= text[i] in ')]}'
        if depth == 0:
            return i
    return -1


def operand_end(text, begin, ends):
    """The end of the operand that begins there: the first of `ends`, outside of brackets."""
    depth, i = 0, begin
    while i < len(text):
        if depth == 0:
            for end in ends:
                if text.startswith(end, i):
                    return i
        if text[i] in ')]};' and depth == 0:
            return i
        depth += text[i] in '([{'
        depth -= text[i] in ')]}'
        i += 1
    return len(text)


LOGIC = (' && ', ' || ', ' ? ', ' : ', ', ', ';', '\n      && ')
RELATION = LOGIC + (' == ', ' != ', ' < ', ' <= ', ' > ', ' >= ', ' & ', ' | ', ' ^ ', ' = ', ' << ', ' >> ')
# What is put before the right operand, by the operator.
ARITHMETIC = {'+': ('({} ? -1 : 1) * ', '+ -> -'), '-': ('({} ? -1 : 1) * ', '- -> +'),
              '*': ('({} ? 2 : 1) * ', 'twice the product'), '/': ('({} ? 2 : 1) / ', 'half the quotient')}
# Declarations in a condition, and what is no expression.
DECLARES = re.compile(r'^\s*(const |auto |std::optional)|^[\w:<>, ]+[*&]* [*&]*\w+ = |;')
# Lines whose expressions are constants, or no code that runs.
LEFT_OUT = re.compile(r'constexpr|constinit|static_assert|template|enum |case |ASSAY_CHECK|operator|#|'
                      r'thread_local|^(inline )?const |^\s*static const')
STATEMENT = re.compile(r'^(?P<indent>\s+)(?P<code>(?:\+\+|--)?[A-Za-z_*][\w.:]*(?:->\w+)*(?:\[[^\n]*?\])?'
                       r'(?:\(| [-+*/|&^]?= |\+\+|--|;|\.|->)[^\n]*;)$')
NO_STATEMENT = re.compile(r'^(return|break|continue|using|goto|throw|delete|default|else|do|if|for|while|switch|'
                          r'case|static|const|auto|public|private)\b|^\w+;')


def sites_of(text):
    code = blanked(text)
    sites = []
    starts = [0] + [m.end() for m in re.finditer('\n', code)]
    line_of = lambda i: code[code.rfind('\n', 0, i) + 1:code.find('\n', i)]

    def usable(i):
        return not LEFT_OUT.search(line_of(i)) and line_of(i).startswith(' ')

    def add(begin, end, new, kind, says):
        sites.append(Site(begin, end, new, kind, says))

    for match in re.finditer(r'(?<![\w.\'])\d+(?![\w.\'])', code):
        if usable(match.start()) and not re.search(r'<[^<>()]*$', line_of(match.start())[:40]):
            add(*match.span(), f'({{}} ? {int(match[0]) + 1} : {match[0]})', 'constant',
                f'{match[0]} -> {int(match[0]) + 1}')
    for match in re.finditer(r' (<|<=|>|>=) ', code):
        if not usable(match.start()):
            continue
        end = operand_end(code, match.end(), RELATION)
        sign = '+' if match[1] in ('<', '>=') else '-'
        other = {'<': '<=', '<=': '<', '>': '>=', '>=': '>'}[match[1]]
        add(end, end, f' {sign} ({{}} ? 1 : 0)', 'relation', f'{match[1]} -> {other}')
    for match in re.finditer(r'(?<=[\w)\]]) ([-+*/]) (?=[\w(])', code):
        if not usable(match.start()):
            continue
        new, says = ARITHMETIC[match[1]]
        add(match.end(), match.end(), new, 'arithmetic', says)
    for match in re.finditer(r'\b(if|while) \(', code):
        end = closing(code, match.end() - 1)
        condition = text[match.end():end]
        if end < 0 or DECLARES.search(code[match.end():end]) or not usable(match.start()):
            continue
        add(match.end(), end, f'static_cast<bool>({brace(condition)}) != {{}}', 'condition', 'the negation')
    for match in re.finditer(r' (&&|\|\|)\s', code):
        begin = match.end() + len(code[match.end():]) - len(code[match.end():].lstrip())
        end = operand_end(code, begin, (' && ', ' || ', ' &&\n', ' ||\n', ' ? ', ' : ', ', ', ';'))
        if not usable(match.start()) or '&&' in code[begin:end]:
            continue
        new = '({} || (%s))' if match[1] == '&&' else '(!{} && (%s))'
        add(begin, end, new % brace(text[begin:end]), 'logic', f'without the operand behind {match[1]}')
    before = ''
    for start in starts:
        line = code[start:code.find('\n', start)]
        match = STATEMENT.match(line)
        begins = before.rstrip().endswith((';', '{', '}', ':', ')', 'else'))
        if match and begins and not NO_STATEMENT.match(match['code']) and usable(start) and \
                line.count('(') == line.count(')'):
            begin, end = start + len(match['indent']), start + len(line.rstrip())
            add(begin, end, '{{ if (!{}) {{ %s }} }}' % brace(text[begin:end]), 'statement',
                'without the statement')
        if line.strip():
            before = line
    return sites


def brace(text):
    return text.replace('{', '{{').replace('}', '}}')


def disjoint(sites):
    """Those of the sites, in order, that do not lie in one that comes before."""
    taken = []
    for site in sites:
        if all(site.end < other.begin or site.begin > other.end for other in taken):
            taken.append(site)
    return taken


def mutated(text, numbered):
    """The source with the mutants (number, site)."""
    for number, site in sorted(numbered, key=lambda pair: pair[1].begin, reverse=True):
        text = text[:site.begin] + site.new.format(f'ASSAY_MUTANT({number})') + text[site.end:]
    return text
