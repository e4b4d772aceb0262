"""Parses a C file for the house rules: its includes, functions, structs and identifiers.

    text ─► comments, strings and directives become blanks, lines stay ─► functions, structs, words

This is not a C parser in general: it relies on this project's style, formatted by clang-format.
"""
import re

TOKENS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
CALLED = re.compile(r'([A-Za-z_]\w*)\s*\(')
NOT_NAMES = ('__attribute__', 'alignas', '_Alignas', '__launch_bounds__', 'MUST_USE')


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


class Function:
    def __init__(self, name, head, body, line, lines):
        self.name, self.head, self.body, self.line, self.lines = name, head, body, line, lines
        words = head.split()
        self.is_static = 'static' in words
        self.is_inline = 'inline' in words


class Source:
    """A C file: `text` is its content, `lines` their number, and `path` is relative to the root."""

    def __init__(self, root, path):
        self.path = path
        self.text = (root / path).read_text(errors='replace')
        self.bare = TOKENS.sub(blank, self.text)  # without comments and strings
        self.code = DIRECTIVE.sub(blank, self.bare)  # also without preprocessor directives
        self.is_header = path.endswith(('.h', '.cuh'))
        self.lines = self.text.count('\n')
        self._functions = None

    def line_of(self, at):
        return self.text.count('\n', 0, at) + 1

    def includes(self):
        """Returns (line, name, whether it is in angle brackets) of each include."""
        return [(self.line_of(m.start(2)), m.group(2), m.group(1) == '<')
                for m in INCLUDE.finditer(self.text) if self.bare[m.start(1) - 2] != ' '
                or '#' in self.bare[m.start():m.start(1)]]

    def functions(self):
        if self._functions is None:
            self._functions = list(self._find_functions())
        return self._functions

    def _find_functions(self):
        depth = begin = opened = 0
        for match in re.finditer(r'[{};]', self.code):
            at, sign = match.start(), match.group()
            head = self.code[begin:at]
            if sign == '{':
                if depth == 0 and head.split() == ['extern']:
                    begin = at + 1  # the functions in an extern "C" block count as top level
                    continue
                if depth == 0:
                    opened = at
                depth += 1
            elif sign == '}':
                depth = max(depth - 1, 0)
                if depth == 0:
                    found = self._function(begin, opened, at)
                    begin = at + 1
                    if found:
                        yield found
            elif depth == 0:
                begin = at + 1

    def _function(self, begin, opened, end):
        head = self.code[begin:opened]
        outside = re.sub(r'\([^()]*\)', '()', head)
        names = [m for m in CALLED.finditer(head) if m.group(1) not in NOT_NAMES]
        if not names or '=' in outside or not head.rstrip().endswith(')'):
            return None
        first = begin + len(head) - len(head.lstrip())
        line = self.line_of(first)
        return Function(names[0].group(1), head, self.code[opened:end + 1], line,
                        self.line_of(end) - line + 1)

    def structs(self):
        """Yields (line, name, number of members) of each named struct with a body. Members of unnamed
        structs and unions in it count as its members."""
        for match in re.finditer(r'\bstruct\s+(\w+)\s*(?:\w+\s*\([^)]*\)\s*)?\{', self.code):
            yield self.line_of(match.start()), match.group(1), members(self.code, match.end())

    def identifiers(self):
        """Yields (line, name) of each identifier in code and directives."""
        for match in re.finditer(r'\b[A-Za-z_]\w*', self.bare):
            yield self.line_of(match.start()), match.group()


def members(code, at):
    """Returns the number of members declared from `at` to the brace that closes the body."""
    depth, brackets, count, is_empty = 1, 0, 0, True
    for sign in code[at:]:
        if sign in '([':
            brackets += 1
        elif sign in ')]':
            brackets -= 1
        elif sign == '{':
            depth, is_empty = depth + 1, True
        elif sign == '}':
            depth, is_empty = depth - 1, True
            if depth == 0:
                break
        elif sign in ',;' and brackets == 0:
            count += not is_empty
            is_empty = sign == ';'
        elif not sign.isspace():
            is_empty = False
    return count
