#!/usr/bin/env python3
"""Writes src/CONSTANTS.md: the constants that determine a node's behaviour, with the comments at their
definitions.

    tests/house/constants.py --write     writes the page
    tests/house/constants.py [ROOT]      fails if the page is out of date

A constant is a #define of a number in src/node or model/exchange. If a measurement shows an effect of it,
it has a line of its own: the name, the value, the unit (from the end of the name), the comment after it or
above it, and the results. The other constants that have a comment follow with name and value, in one line
for each file.
These words in a comment explain how the value was chosen, each followed by a sentence:

    Trade-off: ...   Bench: ...   Half: ...   Double: ...

`tests/bench/sweep` measures half and double of constants. The page shows its rows (tests/results/sweeps)
for constants whose comment has no `Bench:`.
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = 'src/CONSTANTS.md'
FOLDERS = ('src/node', 'model/exchange')
DEFINE = re.compile(r'^#define[ \t]+([A-Z][A-Z0-9_]*)[ \t]+((?:[^/\n]|/(?![*]))+?)[ \t]*'
                    r'(?:/\*((?:(?!\*/).)*)\*/)?[ \t]*$', re.M | re.S)
WORDS = ('Trade-off', 'Bench', 'Half', 'Double')
# Units and sentinel values, which do not determine behaviour.
NO_POLICY = re.compile(r'(?:SECOND_NS|MS_NS|NS_PER_\w+|\w+_H)$')
SENTINEL = re.compile(r'\(?\(?(?:U?INT\d+_MAX|NAN|INFINITY|NULL)\)?\)?$')
SECONDS = {'SECOND_NS': 1.0, 'MS_NS': 1e-3}
CHANGE = 0.1  # relative change of a value from which it is shown
FIGURES = {'link': '"wait" is the mean at 5 Mbit/s, "least" the lowest use, "follows" the time until a changed rate is used, '
                   'and "silence" the longest wait after a silence.'}


def seconds(text):
    """Returns an expression in nanoseconds as text such as 0.25 s or 50 µs; None if it has names or casts that
    are not known here."""
    bare = re.sub(r'\(uint64_t\)|(?<=\d)(?:ull|u|ll|l)\b', '', text)
    for name, value in SECONDS.items():
        bare = bare.replace(name, repr(value * 1e9))
    if not re.fullmatch(r'[\d.eE+*/() ]+', bare):
        return None
    try:
        value = eval(bare, {'__builtins__': {}}) / 1e9  # safe: only numbers and operators
    except (SyntaxError, ZeroDivisionError, TypeError):
        return None
    return f'{value:g} s' if value >= 1e-3 else f'{1e6 * value:g} µs'


def comment_above(text, at):
    """Returns the comment that ends directly above a definition, or an empty text. If a declaration follows
    the definitions without an empty line, the comment belongs to the declaration."""
    if re.match(r'(?:#define[^\n]*\n)+[a-z]', text[at:]):
        return ''
    found = None
    for found in re.finditer(r'/\*((?:(?!\*/).)*)\*/[ \t]*\n', text[:at], re.S):
        pass
    if not found or text[found.end():at].strip() or '#define' in text[found.start():at]:
        return ''
    before = text[:found.start()].rstrip(' ')
    return found.group(1) if before.endswith('\n') or not before else ''


def plain(comment):
    return ' '.join(re.sub(r'\n[ \t]*\*?[ \t]?', ' ', comment).split())


def parts_of(comment):
    """Splits a comment into its description and {word: sentence}, with words such as Trade-off."""
    pieces = re.split(rf'\b({"|".join(WORDS)}): ', comment)
    found = {word: text.strip(' .;') for word, text in zip(pieces[1::2], pieces[2::2])}
    return pieces[0].strip(' .;'), found


def shown(name, value):
    """Returns a constant's name and value as text, a time in seconds or microseconds."""
    time = seconds(value) if re.search(r'_NS(?:_|$)', name) or 'SECOND_NS' in value else None
    return f'`{name}` {time or "`" + value + "`"}'


def sweeps(root):
    """Returns ({constant: (bench, measured value, {factor: text})}, {bench: text without a change}).

    A text has the values of the bench with that factor. It leaves out values that differ by less than
    CHANGE from those without a change, and may be empty."""
    found, base = {}, {}
    for path in sorted((root / 'tests/results/sweeps').glob('*.jsonl')):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        now = next(row['values'] for row in rows if row['constant'] == 'as it is')
        unit = next((row['unit'] for row in rows if row.get('unit')), {})
        base[path.stem] = ', '.join(f'{name} {value:g} {unit.get(name, "")}'.strip() for name, value in now.items())
        for row in rows:
            if row['factor'] != 1:
                texts = found.setdefault(row['constant'], (path.stem, row['value'], {}))[2]
                texts[row['factor']] = row.get('note') or ', '.join(
                    f'{name} {value:g}' for name, value in row['values'].items()
                    if abs(value - now[name]) >= CHANGE * abs(now[name]))
    return found, base


def constants(root):
    """Yields (path, name, value, description, words) of each constant."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob('*.[ch]'), key=lambda path: (path.parent, path.name)):
            text = re.sub(r'[ \t]*\\\n[ \t]*', ' ', path.read_text(errors='replace'))
            for found in DEFINE.finditer(text):
                name, value, behind = found.group(1), found.group(2).strip(), found.group(3) or ''
                if NO_POLICY.match(name) or SENTINEL.match(value) or not re.search(r'\d|_NS\b', value) or \
                        '{' in value or '\\' in value or value.startswith('"'):
                    continue
                comment = plain(behind) or plain(comment_above(text, found.start()))
                above = plain(comment_above(text, found.start()))
                if behind and any(f'{word}: ' in above for word in WORDS):
                    comment += '. ' + above
                yield path.relative_to(root).as_posix(), name, value, *parts_of(comment)


def measured(name, words, swept):
    """Returns text about a constant: the bench, and its results with half and double of the constant. Returns
    an empty text if it was not measured, or if the measurement has no result to show."""
    bench, was, texts = swept.get(name, ('', '', {}))
    if 'Bench' in words:
        half, double = words.get('Half', ''), words.get('Double', '')
        bench = words['Bench']
    elif texts:
        half, double = texts.get(0.5, ''), texts.get(2, '')
        bench += '' if was == words['value'] else f', with {was}'
    else:
        return ''
    figures = [f'{factor}: {text}' for factor, text in (('half', half), ('double', double))
               if text and text != 'not measured']
    return f'**{bench}**: {"; ".join(figures)}' if figures else ''


def by_file(entries):
    """Returns lines with a heading for each folder: the file, and the texts of its constants. A measured
    constant has a line of its own."""
    lines, last = [], ''
    for path, texts, is_measured in entries:
        folder, _, file = path.rpartition('/')
        lines += ['', f'### {folder}', ''] if folder != last else []
        last = folder
        lines += [f'- {file}: {text}' for text in texts] if is_measured else [f'- {file}: {", ".join(texts)}']
    return lines


def render(root):
    swept, base = sweeps(root)
    measured_ones, others, count = {}, {}, 0
    for path, name, value, text, words in constants(root):
        figures = measured(f'{path} {name}', {**words, 'value': value}, swept)
        why = '; '.join(part for part in (text, words.get('Trade-off')) if part)
        count += 1
        if figures:
            measured_ones.setdefault(path, []).append(
                shown(name, value) + (f': {why}' if why else '') + f'. {figures}')
        elif why:
            others.setdefault(path, []).append(shown(name, value))
    head = ['# Constants', '',
            '`tests/house/constants.py --write` writes this page from the comments at the definitions; do not edit it.',
            'It lists the constants that determine a node\'s behaviour. To change a constant, measure half and double of',
            'it ([how](../tests/README.md#constants)).', '', '## With a measured effect', '',
            f'After the name of a bench are the results that change by {100 * CHANGE:g} % or more with half or double of',
            f'the constant: {sum(map(len, measured_ones.values()))} of {count} constants have any. '
            'Results of the benches without a change:', '']
    for bench, text in base.items():
        head += [f'- **{bench}**: {text}', *([f'  {FIGURES[bench]}'] if bench in FIGURES else [])]
    lines = by_file((path, texts, True) for path, texts in measured_ones.items())
    lines += ['', '## Without', '', f'No bench has measured them, or no result changed by {100 * CHANGE:g} %. The comment at the',
              'definition says what the constant is.']
    lines += by_file((path, texts, False) for path, texts in others.items())
    return '\n'.join(head + lines) + '\n'


def unknown(root):
    """Returns the constants of tests/results/sweeps that no file defines."""
    known = {f'{path} {name}' for path, name, *_ in constants(root)}
    return sorted(set(sweeps(root)[0]) - known)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1] != '--write' else ROOT
    lost = unknown(root)
    if lost:
        print(f'tests/results/sweeps: no file defines {", ".join(lost)}: rename or remove their rows')
        sys.exit(1)
    text = render(root)
    if sys.argv[1:] == ['--write']:
        (root / PAGE).write_text(text)
    elif not (root / PAGE).exists() or (root / PAGE).read_text() != text:
        print(f'{PAGE}: is out of date: run tests/house/constants.py --write')
        sys.exit(1)


if __name__ == '__main__':
    main()
