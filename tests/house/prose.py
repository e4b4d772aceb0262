#!/usr/bin/env python3
"""Counts sentences that are hard to read, and retired words, in comments, pages and test names.

    tests/house/prose.py              compares the counts of each room with prose_limits.json
    tests/house/prose.py --list PATH  prints every finding in a file or folder: FILE:LINE: and the text
    tests/house/prose.py --lower      lowers each limit to the current count

A sentence counts if its subject is a relative clause (`Who asks is ...`), if a pronoun has no noun near
it (`so many`), if it has no verb, or if it has an archaic adverb. A retired word is one that the field
does not use (WORDS has the field's word). A test's name counts if it begins with a relative pronoun.

Each room has three limits, and a count above its limit fails. Limits may only fall: a limit above an
older one in the git history also fails. A change of this file's patterns changes the counts, so limits
of other patterns are not compared.
"""
import ast
import hashlib
import json
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = 'tests/house/prose_limits.json'
TOPS = ('.ci', 'include', 'src', 'net', 'model', 'sim', 'configs', 'tests')
TOP_FILES = ('run', 'CMakeLists.txt')
C_ENDS = ('.c', '.h', '.cu', '.cuh', '.cc', '.js')
HASH_ENDS = ('.sh', '.cmake', '.conf', '.yaml', '.sbatch', '.service', 'CMakeLists.txt', 'Containerfile')
# Pages that programs generate from other files, and files that are test data.
GENERATED = ('tests/RESULTS.md', 'src/CONSTANTS.md', 'tests/fuzz/corpus/', 'tests/fakes/')
GOAL = 10  # findings per 1,000 sentences: cowsql/raft, libuv and ngtcp2 have 4 to 9

SENTENCES = {
    'relative clause as subject': r'(?:^|[.;:!?] )(?:Who|Whoever|Whom|Whose|What|Whatever|That which) [a-z]',
    'preposition and who': r'\b(?:of|by|to|for|from|with|than) who\b|\b(?:of|than) whom\b',
    'pronoun without its noun': r'\b(?:so|as) (?:many|much|long|often|few)\b(?![^.;:]{0,40} as\b)',
    'archaic adverb': r'\b(?:anew|likewise|for ever|lest|whence|thereof|hardly)\b|, too\b|\bbut for\b',
    'fragment': r'^(?:Of|As|From|Until|By|Into|In so|At so|With it|Without it) [^,]*$',
}
WORDS = {
    r'the one in the middle|\bmiddle one\b': 'median',
    r'\bslopes?\b': 'gradient',
    r'\bway back\b': 'backward pass',
    r'\bputs? out\b|\bputting out\b': 'expel',
    r'\baskers?\b': 'client',
    r'\bopinions?\b': 'digest vote',
    r'\bknocks?\b|\bknocking\b': 'version probe',
    r'\brareness\b': 'novelty weight',
    r'\brelapses?\b': 'reset to base',
    r'\bwanderers?\b': 'random-walk learner',
}
TEST_NAME = re.compile(r'^static void ((?:who|what|whose|where|of|whoever|whom)_\w+)\(void \*\*|'
                       r'^ +def test_((?:who|what|whose|where|of|whoever|whom)_\w+)\(', re.M)
KINDS = ('sentences', 'words', 'test names')


def patterns_id():
    """Returns a short hash of everything that determines the counts: the patterns, and the checked files."""
    text = json.dumps([SENTENCES, WORDS, TEST_NAME.pattern, TOPS, TOP_FILES, C_ENDS, HASH_ENDS, GENERATED])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def room_of(path):
    """Returns the room whose limits hold for a path, such as src/node, net or pages."""
    if path.endswith('.md'):
        return 'pages'
    parts = path.split('/')
    return '/'.join(parts[:2]) if parts[0] in ('src', 'tests') and len(parts) > 2 else parts[0]


def c_comments(text):
    for found in re.finditer(r'/\*(.*?)\*/|(?<![:"])//([^\n]*)|"(?:\\.|[^"\\\n])*"', text, re.S):
        if found.group(1) or found.group(2):
            body = re.sub(r'\s*\n\s*\*?\s?', ' ', found.group(1) or found.group(2))
            yield text.count('\n', 0, found.start()) + 1, body.strip(' *')


def hash_comments(text):
    """Yields (line, comment) of # comments on lines of their own. Adjacent lines are one comment."""
    begin, lines = 0, []
    for number, line in enumerate(text.split('\n') + [''], 1):
        found = re.match(r'\s*#(?!!)\s?(.*)', line)
        if found and found.group(1).strip():
            begin, lines = (begin if lines else number), lines + [found.group(1).strip()]
        elif lines:
            yield begin, ' '.join(lines)
            lines = []


def python_comments(text):
    yield from hash_comments(text)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            body = ast.get_docstring(node)
            if body:
                for paragraph in re.split(r'\n\s*\n', body):
                    yield node.body[0].lineno, ' '.join(paragraph.split())


def page_sentences(text):
    """Yields (line, sentence) of a page, without code and HTML comments. Joins the lines of a paragraph; each
    table cell is separate."""
    text = re.sub(r'<!--.*?-->', '', text, flags=re.S)
    begin, block, is_code = 0, [], False
    for number, line in enumerate(text.split('\n') + [''], 1):
        if line.lstrip().startswith('```'):
            is_code = not is_code
            line = ''
        is_row = line.startswith('|')
        if not is_code and not is_row and line.strip() and not line.startswith('    '):
            if block and re.match(r'\s*(?:[-*#]|\d+\.) ', line):
                yield from ((begin, part) for part in sentences(' '.join(block)))
                block = []
            begin, block = (begin if block else number), block + [line.strip().lstrip('-*# ')]
            continue
        if block:
            yield from ((begin, part) for part in sentences(' '.join(block)))
            block = []
        if is_row and not is_code:
            for cell in line.strip('|').split('|'):
                yield from ((number, part) for part in sentences(cell.strip()))


def sentences(text):
    """Returns the sentences of a text except questions, which may begin with a pronoun."""
    parts = re.split(r'(?<=[.!?]) (?=[A-Z*`\[])', text)
    return [part.strip() for part in parts if part.strip() and not part.endswith('?')]


def is_program(path):
    """Returns True if a file without an ending begins with #!, such as tests/bench/run."""
    if path.suffix or not path.is_file():
        return False
    with path.open('rb') as file:
        return file.read(2) == b'#!'


def texts(path, text):
    """Yields (line, comment or sentence) of a file."""
    interpreter = text.partition('\n')[0] if text.startswith('#!') else ''
    if path.endswith('.md'):
        yield from page_sentences(text)
    elif path.endswith('.py') or 'python' in interpreter:
        yield from python_comments(text)
    elif path.endswith(HASH_ENDS) or interpreter:
        yield from hash_comments(text)
    elif path.endswith(C_ENDS):
        yield from c_comments(text)


def findings(path, text):
    """Yields (kind, line, pattern or better word, text) for each finding in a file, and (None, line, '',
    text) for each comment or sentence that was checked."""
    for line, body in texts(path, text):
        if len(body) < 4 or 'Copyright' in body:
            continue
        yield None, line, '', body
        bare = re.sub(r'`[^`]*`', '``', body)  # without code
        for name, pattern in SENTENCES.items():
            if re.search(pattern, bare):
                yield KINDS[0], line, name, body
        for pattern, better in WORDS.items():
            if re.search(pattern, bare, re.I):
                yield KINDS[1], line, better, body
    if path.rpartition('/')[2].startswith('test_') and path.endswith(('.c', '.py')):
        for found in TEST_NAME.finditer(text):
            name = found.group(1) or found.group(2)
            yield KINDS[2], text.count('\n', 0, found.start()) + 1, 'begins with a pronoun', name


def paths_below(root, start=''):
    top = root / start
    if top.is_file():
        yield start
        return
    found = [path for part in ([start] if start else TOPS) for path in sorted((root / part).rglob('*'))]
    if not start:
        found += sorted(root.glob('*.md')) + [root / name for name in TOP_FILES]
    for path in found:
        name = path.relative_to(root).as_posix()
        if name.startswith(GENERATED) or '__pycache__' in name or not path.is_file():
            continue
        if name.endswith((*C_ENDS, *HASH_ENDS, '.py', '.md')) or is_program(path):
            yield name


def count(root):
    """Returns {room: {kind: findings, 'of': sentences}}."""
    rooms = {}
    for path in paths_below(root):
        room = rooms.setdefault(room_of(path), {'of': 0, **{kind: 0 for kind in KINDS}})
        for kind, _, _, _ in findings(path, (root / path).read_text(errors='replace')):
            room[kind or 'of'] += 1
    return rooms


def over(rooms, limits):
    """Yields a sentence for each count above its limit. The limits of a new room are 0."""
    for room, counts in sorted(rooms.items()):
        for kind in KINDS:
            most = limits.get(room, {}).get(kind, 0)
            if counts[kind] > most:
                yield (f'{room}: {counts[kind]} {kind} to rewrite, over its limit of {most}: '
                       f'tests/house/prose.py --list {room} shows them')


def risen(before, after):
    """Yields a sentence for each limit of `after` that is above the limit of `before`, if both have the
    same patterns."""
    if before.get('patterns') != after.get('patterns'):
        return
    for room, kinds in after['rooms'].items():
        for kind, most in kinds.items():
            was = before['rooms'].get(room, {}).get(kind, 0)
            if most > was:
                yield f'{LIMITS}: the limit of {room} for {kind} rose from {was} to {most}'


def versions(root):
    """Returns the limits of the last 20 commits that changed them, newest first; no limits without git."""
    def git(*words):
        return subprocess.run(('git', '-C', root, *words), text=True, check=True,
                              capture_output=True).stdout
    try:
        commits = git('log', '--format=%H', '-20', '--', LIMITS).split()
        return [json.loads(git('show', f'{commit}:{LIMITS}')) for commit in commits]
    except (OSError, subprocess.CalledProcessError, ValueError):
        return []


def lowered(rooms, limits):
    """Returns new limits: the current counts, but at most the old limits. A new room gets 0. If the patterns
    have changed, the old limits do not apply."""
    first = limits.get('patterns') != patterns_id()
    kept = {}
    for room, counts in sorted(rooms.items()):
        old = limits.get('rooms', {}).get(room, {})
        kept[room] = {kind: counts[kind] if first else min(counts[kind], old.get(kind, 0))
                      for kind in KINDS}
    return {'patterns': patterns_id(), 'rooms': kept}


def write_limits(root, limits):
    rows = [f'    {json.dumps(room)}: {json.dumps(kinds)}' for room, kinds in limits['rooms'].items()]
    (root / LIMITS).write_text('{\n  "patterns": "' + limits['patterns'] + '",\n  "rooms": {\n' +
                               ',\n'.join(rows) + '\n  }\n}\n')


def check(root):
    """Returns a list of sentences about violations, and the counts."""
    limits = json.loads((root / LIMITS).read_text())
    rooms = count(root)
    if limits['patterns'] != patterns_id():
        return [f'{LIMITS} has other patterns than prose.py: run tests/house/prose.py --lower'], rooms
    broken = list(over(rooms, limits['rooms']))
    newer = limits
    for older in versions(root):
        broken += risen(older, newer)
        newer = older
    return broken, rooms


def main():
    words = sys.argv[1:]
    if words[:1] == ['--list'] and len(words) == 2:
        for path in paths_below(ROOT, words[1].rstrip('/') if words[1] != 'pages' else ''):
            if words[1] == 'pages' and not path.endswith('.md'):
                continue
            for kind, line, what, body in findings(path, (ROOT / path).read_text(errors='replace')):
                if kind:
                    print(f'{path}:{line}: [{what}] {body[:160]}')
        return
    if words == ['--lower']:
        try:
            limits = json.loads((ROOT / LIMITS).read_text())
        except FileNotFoundError:
            limits = {}
        write_limits(ROOT, lowered(count(ROOT), limits))
        return
    if words:
        sys.exit(__doc__)
    broken, rooms = check(ROOT)
    print(*broken, sep='\n', end='\n' if broken else '')
    total = sum(room['of'] for room in rooms.values())
    found = {kind: sum(room[kind] for room in rooms.values()) for kind in KINDS}
    print(f'{1000 * found["sentences"] / max(total, 1):.1f} of 1,000 sentences ({found["sentences"]} of '
          f'{total}; the goal is {GOAL}), {found["words"]} with retired words, {found["test names"]} test '
          f'names to rewrite')
    sys.exit(bool(broken))


if __name__ == '__main__':
    main()
