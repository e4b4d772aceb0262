#!/usr/bin/env python3
"""Checks the house rules that need no build; fast enough for a pre-commit hook.

    tests/house/house.py [ROOT]

The rules for C files are about sizes, include guards, the order of includes, the rooms that a room may
include, private headers, declarations of public functions, retired words, and the number of CHECKs in the
core. Other rules are about links and length of pages, file names of standard ideas, and scripts that no
test runs. Prints FILE:LINE: and a sentence for each violation, and fails if there is one. house_calls.py
checks the rules that need object files; test_house.py violates each rule.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True

import rooms  # noqa: E402
from source import Source  # noqa: E402

TOPS = ('include', 'src', 'net', 'model', 'sim', 'tests')
ENDS = ('.c', '.h', '.cu', '.cuh', '.cc')

# The limits are 1.5 times the usual sizes: split a file where two ideas meet, not to meet a limit.
FUNCTION_LINES = 105
FILE_LINES = 750
HEADER_LINES = 225
HEADER_EXCEPTIONS = {'model/backend/backend.h': FILE_LINES}
STRUCT_MEMBERS = 60
FAKES = 'tests/fakes/'  # most follow the headers of other projects, so style rules do not apply
CHECKS_PER_FUNCTION = 0.5
PAGE_WORDS = 55000  # all pages together, generated ones included

# {retired word: the field's word}, for any position in a name.
RETIRED = {
    'hatch': 'learner_thread', 'rapport': 'neighbour', 'club': 'credentials',
    'tempo': 'publish_schedule', 'boldness': 'outer_step', 'catchup': 'fetch',
    'owed': 'push_backlog', 'adopt': 'takeover', 'adopted': 'takeover', 'agenda': 'event_queue',
    'mind': 'sim_learner', 'wander': 'random_walk_learner', 'lab': 'experiment',
    'trouble': 'fault_injector', 'lane': 'half_connection', 'findings': 'report',
    'exam': 'evaluation', 'shelf': 'device_dataset', 'lives': 'incarnations', 'life': 'incarnation',
    'news': 'member_gossip', 'receipt': 'ack', 'receipts': 'acks',
    'lacking': 'missing', 'clearly': 'decisive', 'ease': 'backoff', 'tell': 'publish',
    'tells': 'publishes', 'hear': 'apply', 'hears': 'applies',
}
# {retired word: the field's word}, for the first word of a file or public function.
RETIRED_FIRST = {
    'held': 'pending_blocks', 'give': 'serve', 'want': 'repair', 'spread': 'broadcast_tree',
    'talk': 'dispatch', 'clock': 'timers', 'compare': 'anti_entropy', 'flow': 'pacer',
    'apart': 'partition', 'patch': 'rolling_snapshot', 'dial': 'dialer', 'tensors': 'safetensors',
    'sweep': 'survey_simd', 'marks': 'u64_set', 'pace': 'batch_size', 'picks': 'candidates',
    'since': 'base_at_last_publish', 'whose': 'checkpoint_owner', 'greeting': 'startup_notes',
    'ending': 'shutdown', 'inside': 'private', 'draft': 'atomic_file', 'glyph': 'synthetic_digits',
    'glyphs': 'synthetic_digits',
}
GUIDE = 'CONTRIBUTING.md'  # page whose list "Where is" links a file for each standard idea
# {standard idea: a word that the name of its file must contain}.
IDEAS = {
    'threshold filter': 'threshold', 'error feedback': 'error_feedback', 'anti-entropy': 'anti_entropy',
    'failure detector': 'failure_detector', 'congestion control': 'congestion', 'token bucket': 'token_bucket',
    'outer momentum': 'outer', 'state transfer': 'transfer', 'checkpoint writer': 'checkpoint_write',
    'Noise handshake': 'handshake', 'a layer': 'layer', 'a configuration key': 'config_key', 'a fault': 'fault',
    'an expectation': 'expectation', 'Byzantine detection': 'byzantine',
    'equivocation proof': 'equivocation_proof', 'quorum vote': 'quorum_vote', 'inference serving': 'inference',
    'CUDA graph': 'cuda_graph', 'data parallel': 'data_parallel',
    'learning-rate schedule': 'learning_rate_schedule', 'codec': 'codec', 'digest': 'digest',
    'key rotation': 'key_rotation',
}
STARTS = ('test_', 'test_bad_', 'test_python_')  # prefixes that a loop of tests.cmake adds to its names
SENTENCE_WORDS = 5  # a name of at least 5 words is a sentence (a test), where any word is allowed


def read_tree(root):
    """Returns {path: Source} of all C and CUDA files, sorted by path."""
    paths = [path.relative_to(root).as_posix() for top in TOPS
             for path in (root / top).rglob('*') if path.suffix in ENDS and path.is_file()]
    return {path: Source(root, path) for path in sorted(paths)}


def check_sizes(tree):
    for path, source in tree.items():
        if path.startswith(FAKES):
            continue
        for function in source.functions():
            if function.lines > FUNCTION_LINES:
                yield (path, function.line,
                       f'{function.name} has {function.lines} lines, over {FUNCTION_LINES}')
        limit = FILE_LINES
        if source.is_header:
            limit = HEADER_EXCEPTIONS.get(path, HEADER_LINES)
        if source.lines > limit:
            yield path, limit + 1, f'{source.lines} lines, over {limit}'
        for line, name, count in source.structs():
            if count > STRUCT_MEMBERS:
                yield path, line, f'struct {name} has {count} members, over {STRUCT_MEMBERS}'


def check_top(tree):
    for path in tree:
        if re.fullmatch(r'src/[^/]+', path) and path != 'src/main.c':
            yield path, 1, 'only main.c belongs in src itself: move the file to one of its folders'


def guard_of(path):
    name = re.sub(r'^(include|src)/', '', path)
    return 'HEARSAY_' + re.sub(r'[^A-Za-z0-9]', '_', name).upper()


def check_guards(tree):
    for path, source in tree.items():
        if not source.is_header or path.startswith(FAKES):
            continue
        directives = [(source.line_of(m.start()), m.group(1)) for m in
                      re.finditer(r'^[ \t]*#[ \t]*(.*?)[ \t]*$', source.bare, re.M)]
        guard = guard_of(path)
        texts = [text for _, text in directives[:2]]
        if texts != [f'ifndef {guard}', f'define {guard}'] or directives[-1][1] != 'endif':
            yield path, directives[0][0] if directives else 1, f'its only include guard must be {guard}'


def check_include_order(tree):
    """Yields includes that are not sorted in their group, a sequence of lines without a gap. A file's
    own header may come first."""
    for path, source in tree.items():
        if path.startswith(FAKES):
            continue
        own = path.partition('/')[2].rpartition('.')[0] + '.h'
        last_line, last = 0, ''
        for line, name, _ in source.includes():
            if line == last_line + 1 and name < last != own:
                yield path, line, f'includes {name} after {last}: sort each group of includes'
            last_line, last = line, name


def resolve(tree, name):
    """Returns the path of the file that `#include "name"` finds, or None if it is not in the tree."""
    return next((f'{top}/{name}' for top in TOPS if f'{top}/{name}' in tree), None)


def check_arrows(tree):
    for path, source in tree.items():
        for line, name, is_system in source.includes():
            if is_system:
                why = rooms.why_no_library(path, name)
            else:
                target = resolve(tree, name)
                why = target and rooms.why_not(path, target)
            if why:
                yield path, line, f'includes {name}: {why}'


def check_private(tree):
    for path, source in tree.items():
        for line, name, is_system in source.includes():
            target = None if is_system else resolve(tree, name)
            if target and re.search(r'_(private|inside)\.h$', target) and \
                    target.rpartition('/')[0] != path.rpartition('/')[0]:
                yield path, line, f'includes {name}, which is private to its folder'


def declared_by_folder(tree):
    """Returns {folder: names that its headers declare}. Headers of include/base count as src/base. A row of a
    list, such as `EACH(CONSTANT, name, function)`, declares its last word for all folders, under '', with the
    endings of macros such as `name##_play(`."""
    rows, endings, names = set(), {''}, {}
    for path, source in tree.items():
        if source.is_header:
            rows.update(re.findall(r'\bEACH\((?:\w+, ){1,2}(\w+)', source.bare))
            endings.update(re.findall(r'\w##(\w+)\(', source.bare))
            folder = re.sub(r'^include(/|$)', r'src\1', path.rpartition('/')[0])
            declared = re.findall(r'\b(\w+)\s*\(', source.code)
            names.setdefault(folder, set()).update(declared)
    return names | {'': {row + ending for row in rows for ending in endings}}


def check_headers(tree):
    names = declared_by_folder(tree)
    for path, source in tree.items():
        if not path.endswith('.c') or path.startswith('tests/') and \
                not path.startswith('tests/support/'):
            continue
        folders = path.split('/')[:-1]
        above = ['/'.join(folders[:count]) for count in range(1, len(folders) + 1)]
        declared = set().union(*(names.get(folder, set()) for folder in ['', *above]), {'main'})
        for function in source.functions():
            if not function.is_static and function.name not in declared:
                yield (path, function.line,
                       f'no header of {above[-1]} or above declares {function.name}')


def words_of(name):
    apart = re.sub(r'([a-z0-9])([A-Z])', r'\1_\2', name)
    return [word for word in apart.lower().split('_') if word]


def retired_in(name, is_public):
    """Yields (retired word, the field's word) for retired words in a name of fewer than SENTENCE_WORDS words."""
    words = words_of(name)
    if len(words) >= SENTENCE_WORDS:
        return
    for word in words:
        if word in RETIRED:
            yield word, RETIRED[word]
    first = words[1] if words[:1] == ['test'] and len(words) > 1 else words[0] if words else ''
    if is_public and first in RETIRED_FIRST:
        yield first, RETIRED_FIRST[first]


def check_words(tree):
    for path, source in tree.items():
        if path.startswith(FAKES):
            continue
        stem = path.rpartition('/')[2].partition('.')[0]
        for word, better in retired_in(stem, True):
            yield path, 1, f'the word "{word}" in its name is retired: {better}'
        public = {f.name for f in source.functions() if not f.is_static}
        seen = set()
        for line, name in source.identifiers():
            if name in seen:
                continue
            seen.add(name)
            for word, better in retired_in(name, name in public):
                yield path, line, f'the word "{word}" in {name} is retired: {better}'


def density(tree):
    """Returns the numbers of CHECKs, of functions with more than one statement, and of all functions in
    src/node.

    A function of one statement returns a member, forwards a call or computes an expression. Its callers
    and callees check everything that it could check."""
    checks = functions = everything = 0
    for path, source in tree.items():
        if not path.startswith('src/node/'):
            continue
        checks += len(re.findall(r'\bCHECK\s*\(', source.code))
        functions += sum(f.body.count(';') > 1 for f in source.functions())
        everything += len(source.functions())
    return checks, functions, everything


def check_density(tree):
    checks, functions, _ = density(tree)
    if checks < CHECKS_PER_FUNCTION * functions:
        yield ('src/node', 1, f'{checks} CHECKs in {functions} functions, less than '
               f'{CHECKS_PER_FUNCTION:g} for each')


def pages(root):
    for top in ('', 'configs', *TOPS):
        found = (root / top).rglob('*.md') if top else root.glob('*.md')
        yield from sorted(path.relative_to(root).as_posix() for path in found)


def page_lines(text):
    """Yields (number, line) of each line of a page outside code blocks."""
    is_code = False
    for number, line in enumerate(text.split('\n'), 1):
        if line.lstrip().startswith('```'):
            is_code = not is_code
        elif not is_code:
            yield number, line


def anchors(text):
    """Yields the anchors of a page's headings, as Markdown viewers form them."""
    seen = {}
    for _, line in page_lines(text):
        found = re.match(r'#+ +(.*)', line)
        if found:
            title = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', found.group(1)).strip().lower()
            anchor = re.sub(r'[^\w\- ]', '', title).replace(' ', '-')
            count = seen[anchor] = seen.get(anchor, 0) + 1
            yield anchor if count == 1 else f'{anchor}-{count - 1}'


def check_links(root):
    """Yields each link of a page to a file or heading that does not exist."""
    for path in pages(root):
        for line, text in page_lines((root / path).read_text(errors='replace')):
            for target in re.findall(r'\]\(([^)\s]+)\)', text):
                name, _, anchor = target.partition('#')
                file = root / path if not name else root / path.rpartition('/')[0] / name
                if re.match('[a-z]+:', target):
                    continue
                if not file.exists():
                    yield path, line, f'links to {target}, which does not exist'
                elif anchor and file.suffix == '.md' and \
                        anchor not in anchors(file.read_text(errors='replace')):
                    yield path, line, f'links to {target}: that page has no such heading'


def check_page_words(root):
    words = {path: len((root / path).read_text(errors='replace').split()) for path in pages(root)}
    total = sum(words.values())
    if total > PAGE_WORDS:
        yield (max(words, key=words.get), 1,
               f'is the longest page: all pages have {total:,} words, over {PAGE_WORDS:,}; remove what stands twice')


def check_ideas(root):
    """Yields each standard idea whose file in the guide's list is missing or has another name."""
    page = root / GUIDE
    rows = {}
    if page.exists():
        for line, text in enumerate(page.read_text(errors='replace').split('\n'), 1):
            found = re.match(r'- ([^:]*?)(?: \([^)]*\))?: (.*)', text)
            if found:
                rows[found.group(1)] = line, found.group(2)
        for idea, word in IDEAS.items():
            line, cell = rows.get(idea, (1, ''))
            link = re.search(r'\]\(([^)#\s]+)\)', cell)
            if not link:
                yield GUIDE, line, f'its list "Where is" has no file for "{idea}"'
            elif word not in link.group(1):
                yield GUIDE, line, f'"{idea}" is in {link.group(1)}, whose name has no "{word}"'
        for line, cell in rows.values():
            linked = [root / found for found in re.findall(r'\]\(([^)#:\s]+)\)', cell)]
            folders = [path if path.is_dir() else path.parent for path in linked]
            for name in re.findall(r'`([\w-]+\.(?:c|h|cu|py|cmake))`', cell):
                if folders and not any((folder / name).exists() for folder in folders):
                    yield GUIDE, line, f'names {name}, which is in none of the folders of its row'


def check_process_tests(root):
    """Yields each test script of tests/process that no build file or CI script names: nothing runs it."""
    callers = [*root.glob('CMakeLists.txt'), *root.glob('tests/*.cmake'), root / 'run', root / '.ci/run']
    words = set()
    for path in callers:
        if path.exists():
            words.update(re.findall(r'\w+', path.read_text(errors='replace')))
    for script in sorted(root.glob('tests/process/test_*')):
        name = script.stem
        if script.suffix in ('.sh', '.py') and not words & {name, *(name.removeprefix(start) for start in STARTS)}:
            yield script.relative_to(root).as_posix(), 1, 'no test or CI step runs it: add it to tests/tests.cmake'


RULES = (check_sizes, check_top, check_guards, check_include_order, check_arrows, check_private,
         check_headers, check_words, check_density)


def broken(root):
    """Returns the violations of all rules, as a list of (file, line, sentence), and the tree."""
    tree = read_tree(pathlib.Path(root))
    found = [(path, line, what) for rule in RULES for path, line, what in rule(tree)]
    root = pathlib.Path(root)
    return found + [*check_links(root), *check_page_words(root), *check_ideas(root), *check_process_tests(root)], tree


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    found, tree = broken(sys.argv[1] if len(sys.argv) > 1 else here)
    for path, line, what in found:
        print(f'{path}:{line}: {what}')
    checks, functions, everything = density(tree)
    print(f'{len(tree)} files; src/node: {checks} CHECKs in {functions} functions of more than '
          f'one statement ({checks / max(functions, 1):.2f} each), {everything} in all '
          f'({checks / max(everything, 1):.2f}); rules broken: {len(found)}')
    sys.exit(bool(found))


if __name__ == '__main__':
    main()
