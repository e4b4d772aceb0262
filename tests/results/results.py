#!/usr/bin/env python3
"""The archive of measurements: reads it, renders tests/RESULTS.md, and checks the pages against it.

    tests/results/results.py --write     renders tests/RESULTS.md from claims.json and *.jsonl
    tests/results/results.py [ROOT]      fails if that page is out of date, if a row is malformed, or
                                         if a page quotes a value that is not in the archive

claims.json has the area, the description and the goal of each claim. A line of *.jsonl is one
measurement, and the last line of a claim and case has its latest values:

    {"claim": NAME, "case": TEXT or null, "command": TEXT, "commit": ID or null, "date": DATE or null,
     "machine": TEXT, "card": TEXT or null, "seeds": COUNT or null, "values": {NAME: NUMBER, ...},
     "unit": UNIT or {NAME: UNIT, ...}, "note": TEXT (may be left out)}

A page that quotes values has a mark after them, in a comment that readers do not see:

    It takes 35.2 s and 53.9 MB. <!-- result: torch.cnn; 10 Mbit/s, 40 ms: hearsay; 88 % after, sent by 88 % -->

The mark names a claim, a case (`-` for null) and values, separated by semicolons. If it names n values, the
last n numbers before it on the line must be the latest values, rounded as the page rounds them. A sentence
that links to RESULTS.md and quotes values needs a mark. Under a heading "Results" each paragraph and each
row of a table with values needs one.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = 'tests/RESULTS.md'
LINES_MAX = 250
KEYS = {'claim', 'case', 'command', 'commit', 'date', 'machine', 'card', 'seeds', 'values', 'unit'}
MARK = re.compile(r'<!--\s*result:(.*?)-->', re.S)
COMMENT = re.compile(r'<!--.*?-->', re.S)
FIGURE = re.compile(r'(?<![\w.,])[-+]?\d+(?:,\d{3})*(?:\.\d+)?')
MEASURED = re.compile(r'\d (?:%|s|ms|ns|us|µs|kB|MB|GB|MiB|nats|points|times|samples/s|bits per byte)(?![\w])')
AREAS = {
    'swarm': 'A swarm on one machine', 'defaults': 'Defaults', 'torch': 'Against what people use today',
    'cluster': 'Against an ideal cluster', 'strategies': 'Strategies compared',
    'exchange': 'Interval, gain and momentum', 'language': 'Language models', 'links': 'Links',
    'joining': 'Joining', 'surviving': 'Surviving', 'attacks': 'Members that lie',
    'compute': 'Computing', 'gpu': 'On a GPU', 'core': 'Cost', 'library': 'A node in a program',
}


def number(text):
    return float(text.replace(',', ''))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Archive:
    """All claims and measurements. `broken` has a sentence for each malformed claim or row."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        folder = self.root / 'tests/results'
        self.claims = json.loads((folder / 'claims.json').read_text())
        self.rows, self.broken = {}, []  # rows: {(claim, case): list of rows, oldest first}
        for path in sorted(folder.glob('*.jsonl')):
            for line, text in enumerate(path.read_text().splitlines(), 1):
                self.add(f'tests/results/{path.name}:{line}', path.stem, text)
        for name, claim in self.claims.items():
            cases = {case for claim_of, case in self.rows if claim_of == name}
            if claim['area'] not in AREAS or not cases:
                self.broken.append(f'claims.json: {name} has no measurement or an unknown area')
            for case in claim.get('show', ()):
                if case not in cases:
                    self.broken.append(f'claims.json: {name} shows {case!r}, which was not measured')

    def add(self, where, area, text):
        try:
            row = json.loads(text)
        except ValueError as error:
            self.broken.append(f'{where}: is not a JSON object: {error}')
            return
        claim = self.claims.get(row.get('claim'))
        why = None
        if not KEYS <= set(row) <= KEYS | {'note'}:
            why = f'must have the members {", ".join(sorted(KEYS))}, and no other except note'
        elif claim is None or claim['area'] != area:
            why = f'claims.json has no claim {row["claim"]!r} of the area {area}'
        elif not row['values'] or not all(map(is_number, row['values'].values())):
            why = 'values must be one or more numbers'
        elif isinstance(row['unit'], dict) and set(row['unit']) != set(row['values']):
            why = 'unit must be a text, or name the unit of each value'
        elif ';' in (row['case'] or ''):
            why = f'the case {row["case"]!r} has a semicolon, which separates the parts of a mark'
        elif row['date'] is not None and not re.fullmatch(r'20\d\d-\d\d-\d\d', row['date']):
            why = f'{row["date"]!r} is not a date such as 2026-11-28'
        if why:
            self.broken.append(f'{where}: {why}')
        else:
            self.rows.setdefault((row['claim'], row['case']), []).append(row)

    def latest(self, claim, case, value):
        """Returns the value of that name in the latest row that has it, or None."""
        for row in reversed(self.rows.get((claim, case), ())):
            if value in row['values']:
                return row['values'][value]
        return None

    def cases(self, name):
        shown = self.claims[name].get('show')
        return shown or [case for claim, case in self.rows if claim == name][:2]


def plain(value):
    """Returns a number as pages write it: 1,769 or 0.0147, and 4e-07 below 0.001."""
    if isinstance(value, float) and (abs(value) < 1e-3 and value != 0):
        return f'{value:.0e}'.replace('e-0', 'e-')
    return f'{value:,}' if isinstance(value, int) or abs(value) >= 1000 else f'{value:g}'


def unit_of(row, name):
    return row['unit'] if isinstance(row['unit'], str) else row['unit'][name]


def shown(claim, row):
    """Returns the names of a row's values that the page shows for a claim."""
    names = [name for name in claim.get('values', row['values']) if name in row['values']] or \
        list(row['values'])
    return [name for name in names if not (name.endswith(' ±') and name[:-2] in names)]


def figure(row, name, other_name=None):
    """Returns a value as text. Leaves out the unit if the value `other_name`, which follows, has the same unit.
    Also leaves out a unit that is a word of at least four letters in the value's name."""
    unit, text = unit_of(row, name), plain(row['values'][name])
    if f'{name} ±' in row['values']:
        text += f'±{plain(row["values"][name + " ±"])}'
    if unit in name.split() and len(unit) > 3 or other_name and unit_of(row, other_name) == unit:
        return text
    return f'{text} {unit}'


def figures(row, names, head):
    """Returns the values of a row as texts. With `head`, a list of names, they are in its order, with '-' for
    a missing value. Without it, each text includes the name of its value, except in a row with one value."""
    behind = [name if name in names else None for name in (head or names)[1:]] + [None]
    if head:
        return [figure(row, name, after) if name in names else '-' for name, after in zip(head, behind)]
    return [figure(row, name, after) if len(names) == 1 else f'{name}: {figure(row, name, after)}'
            for name, after in zip(names, behind)]


def latest_cases(archive, name):
    """Returns the latest rows of a claim's shown cases as text. If several cases share their value names,
    these names stand once, in front."""
    claim = archive.claims[name]
    found = [(case, archive.rows[name, case][-1]) for case in archive.cases(name)]
    names = [shown(claim, row) for _, row in found]
    is_shared = len(found) > 1 and len(names[0]) > 1 and all(set(some) <= set(names[0]) for some in names)
    head = names[0] if is_shared else None
    texts = [(f'**{case}**: ' if case else '') + ', '.join(figures(row, some, head))
             for (case, row), some in zip(found, names)]
    return (f'({"; ".join(head)}) ' if head else '') + '; '.join(texts)


def render(archive):
    lines = ['# Results', '',
             '`tests/results/results.py --write` writes this page from the archive, `tests/results/*.jsonl`; edit',
             'neither by hand. The page has the latest values of each claim, for the cases that matter most; the archive',
             'has all cases, their history, machine, seeds, date and commit. [README.md](README.md#results) says how',
             'to measure. Failed experiments are in [decisions](decisions). Names in brackets name the values of each',
             'case, in this order. A value without a unit has that of the next value, and a line without a command',
             'that of the line above.', '']
    for area, title in AREAS.items():
        names = [name for name, claim in archive.claims.items() if claim['area'] == area]
        if not names:
            continue
        lines += [f'## {title}', '']
        last = None
        for name in names:
            claim = archive.claims[name]
            row = archive.rows[name, archive.cases(name)[0]][-1]
            goal = f' (goal: {claim["goal"]})' if claim['goal'] else ''
            command = '' if row['command'] == last else f' `{row["command"]}`'
            lines.append(f'- `{name}` {claim["about"]}{goal}: {latest_cases(archive, name)}.{command}')
            last = row['command']
        lines.append('')
    return '\n'.join(lines)


def agrees(quoted, value):
    """Returns whether a quoted number equals the value, rounded to the digits of the quote."""
    text = quoted.lstrip('+-')
    digits = len(text.partition('.')[2])
    step = 10.0 ** -digits
    if digits == 0 and ',' not in text and len(text.rstrip('0')) < len(text) and len(text) > 2:
        step = 10.0 ** (len(text) - len(text.rstrip('0')))  # trailing zeros: 1500 may stand for 1,496
    return abs(number(quoted) - value) <= 0.5 * step * (1 + 1e-9)


def check_mark(archive, before, mark):
    """Returns a sentence about the error of a mark after the text `before`, or None if it is right."""
    parts = [part.strip() for part in mark.split('; ')]
    if len(parts) != 3:
        return 'a mark must have the form "result: CLAIM; CASE; VALUE, VALUE"'
    claim, case = parts[0], None if parts[1] == '-' else parts[1]
    if (claim, case) not in archive.rows:
        return f'the archive has no measurement of {claim!r}, case {case!r}'
    known = {name for row in archive.rows[claim, case] for name in row['values']}
    names = names_of(parts[2], known)
    if names is None:
        return f'{claim!r}, case {case!r} has no values {parts[2]!r}, but {", ".join(sorted(known))}'
    figures = FIGURE.findall(COMMENT.sub('', before))[-len(names):]
    if len(figures) < len(names):
        return f'the mark names {len(names)} values, but stands after {len(figures)} numbers'
    for figure, name in zip(figures, names):
        value = archive.latest(claim, case, name)
        if not agrees(figure, value):
            return f'the page says {figure}; the latest "{name}" of {claim!r}, case {case!r} is {plain(value)}'
    return None


def names_of(text, known):
    """Splits a comma-separated list of names, which may have commas themselves. Returns None if a name is
    not known."""
    if not text:
        return []
    for name in sorted(known, key=len, reverse=True):
        if text == name:
            return [name]
        if text.startswith(name + ', '):
            rest = names_of(text[len(name) + 2:], known)
            if rest:
                return [name] + rest
    return None


def blocks(text):
    """Yields (line, heading, lines) of each paragraph or table of a page, outside code blocks."""
    heading, begin, block, is_code = '', 0, [], False
    for line_number, line in enumerate(text.split('\n') + [''], 1):
        if line.lstrip().startswith('```'):
            is_code = not is_code
            line = ''
        if line.startswith('#') and not is_code:
            heading = line.strip('# ')
            line = ''
        if line.strip() and not is_code:
            begin = begin if block else line_number
            block.append(line)
        elif block:
            yield begin, heading, block
            block = []


def needs_mark(text, heading):
    """Returns whether a paragraph quotes results without a mark. Under the heading "Results" the whole
    paragraph needs a mark, elsewhere each sentence that links to RESULTS.md."""
    parts = [text] if heading == 'Results' else re.split(r'(?<=[.;])\s', text)
    return any(MEASURED.search(COMMENT.sub('', part)) and not MARK.search(part) for part in parts
               if heading == 'Results' or 'RESULTS.md' in part)


def check_page(archive, path, text):
    for begin, heading, block in blocks(text):
        joined = '\n'.join(block)
        for at, line in enumerate(block):
            for mark in MARK.finditer(line):
                why = check_mark(archive, line[:mark.start()], mark.group(1).strip())
                if why:
                    yield f'{path}:{begin + at}: {why}'
            is_head = at + 1 < len(block) and re.match(r'\|[-| :]+$', block[at + 1])
            if heading == 'Results' and line.startswith('|') and not is_head and \
                    MEASURED.search(line) and not MARK.search(line):
                yield f'{path}:{begin + at}: this row quotes values without a mark (see tests/results)'
        # A table is checked by row; a paragraph that ends with a colon describes the table after it.
        is_head = joined.startswith('|') or joined.endswith(':')
        if not is_head and needs_mark(joined, heading):
            yield (f'{path}:{begin}: cites RESULTS.md, or is under "Results", and quotes values: mark them '
                   f'with their row of the archive (see tests/README.md)')


def pages(root):
    for top in ('', 'configs', 'src', 'net', 'model', 'sim', 'tests'):
        for path in sorted((root / top).rglob('*.md') if top else root.glob('*.md')):
            name = path.relative_to(root).as_posix()
            if name != PAGE and not name.startswith('tests/decisions/'):
                yield name


def check(root):
    """Returns a sentence for each error in the archive, its page and the marks of all pages."""
    root = pathlib.Path(root)
    archive = Archive(root)
    if archive.broken:
        return archive.broken
    broken = []
    text = render(archive)
    page = root / PAGE
    if not page.exists() or page.read_text() != text:
        broken.append(f'{PAGE}: is out of date: run tests/results/results.py --write')
    if text.count('\n') > LINES_MAX:
        broken.append(f'{PAGE}: would have {text.count(chr(10))} lines, over {LINES_MAX}: join claims')
    for name in pages(root):
        broken += check_page(archive, name, (root / name).read_text(errors='replace'))
    return broken


def main():
    if sys.argv[1:] == ['--write']:
        archive = Archive(ROOT)
        if not archive.broken:
            (ROOT / PAGE).write_text(render(archive))
        broken = archive.broken
    else:
        broken = check(sys.argv[1] if len(sys.argv) > 1 else ROOT)
    print(*broken, sep='\n', end='\n' if broken else '')
    sys.exit(bool(broken))


if __name__ == '__main__':
    main()
