#!/usr/bin/env python3
"""Checks the house rules that need object files.

    tests/house/house_calls.py [BUILD] [ROOT]      BUILD: a folder that ./run build has filled

The rules: files of src do not call each other in a circle, and a room calls only rooms that rooms.py
allows. Prints each violation, and fails if there is one. tests/call_graph.py draws the graph.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))

import call_graph  # noqa: E402
import rooms  # noqa: E402


def line_of(root, path, symbol):
    """Returns the first line of a file that names the symbol; 1 if no line does."""
    for line, text in enumerate((root / path).read_text(errors='replace').splitlines(), 1):
        if re.search(rf'\b{re.escape(symbol)}\b', text) and not text.startswith('#include'):
            return line
    return 1


def broken(build, root):
    """Yields (file, line, sentence) of each violation."""
    graph = call_graph.graph_of(build, root=root)
    inside = {caller: {callee: symbols for callee, symbols in callees.items()
                       if callee.startswith('src/')}
              for caller, callees in graph.items() if caller.startswith('src/')}
    for circle in call_graph.circles_of(inside):
        callee, symbols = min((callee, symbols) for callee, symbols in inside[circle[0]].items()
                              if callee in circle)
        yield (circle[0], line_of(root, circle[0], min(symbols)),
               f'calls {callee}, in a circle: {call_graph.circle_text(inside, circle)}')
    for caller in sorted(graph):
        for callee, symbols in sorted(graph[caller].items()):
            why = rooms.why_not(caller, callee)
            if why:
                line = min(line_of(root, caller, symbol) for symbol in symbols)
                yield caller, line, f'calls {" ".join(sorted(symbols))}: {why}'


def main():
    root = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parents[1]
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / 'build'
    found = list(broken(build, root))
    for path, line, what in found:
        print(f'{path}:{line}: {what}')
    print(f'violations of the rules of calls: {len(found)}')
    sys.exit(bool(found))


if __name__ == '__main__':
    main()
