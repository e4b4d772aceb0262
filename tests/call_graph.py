#!/usr/bin/env python3
"""Finds which files of the program call each other, from the object files, and draws the graph.

    tests/call_graph.py [BUILD] [--under FOLDER/] [--folders] [--edges] [--dot FILE] [--svg FILE]

BUILD (build) is a folder that ./run build has filled. nm lists the symbols that an object file defines
and needs. File A calls file B if A needs a symbol that B defines, a function or data. A call through a
pointer counts in the file that takes the pointer. Static functions do not count.

    object files ─► nm ─► file ─► file ─► circles (Tarjan's strongly connected components)
                                     └──► .dot, .svg

Prints every circle with the symbols that close it, and exits with 1 if there is one. --under uses only
files below a folder (src/node/), --folders draws folders instead of files, and --edges prints the edges
with their symbols. --svg needs Graphviz.
"""
import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ('base', 'net', 'model', 'node', 'state', 'config', 'sim', 'daemon', 'commands',
             'hearsay')


def objects_of(build, root=ROOT):
    """Returns {object file: source, relative to the root}, without object files whose source is gone."""
    found = {}
    for library in LIBRARIES:
        top = build / 'CMakeFiles' / f'{library}.dir'
        for path in sorted(top.rglob('*.o')):
            source = path.relative_to(top).as_posix()[:-len('.o')]
            if (root / source).exists():
                found[path] = source
    return found


def symbols_of(objects):
    """Returns ({symbol: file that defines it}, {file: symbols that it needs})."""
    listing = subprocess.run(['nm', '-A', '-P', '-g', *map(str, objects)], check=True,
                             capture_output=True, text=True).stdout
    sources = {str(path): source for path, source in objects.items()}
    defined, needed = {}, {source: set() for source in objects.values()}
    for line in listing.splitlines():
        path, _, rest = line.partition(': ')
        symbol, kind = rest.split()[:2]
        if kind in 'Uw':
            needed[sources[path]].add(symbol)
        else:
            defined[symbol] = sources[path]
    return defined, needed


def graph_of(build, under='', root=ROOT, fold=False):
    """Returns {file: {file that it calls: symbols}} for the files whose path begins with `under`.

    fold    True: use folders instead of files"""
    objects = objects_of(pathlib.Path(build), root)
    if not objects:
        sys.exit(f'call_graph: no object files in {build}: run ./run build first')
    defined, needed = symbols_of(objects)
    name = (lambda source: os.path.dirname(source) + '/') if fold else (lambda source: source)
    graph = {}
    for source in needed:
        if source.startswith(under):
            graph.setdefault(name(source), {})
    for source, symbols in needed.items():
        for symbol in symbols & defined.keys():
            caller, callee = name(source), name(defined[symbol])
            if caller != callee and caller in graph and callee in graph:
                graph[caller].setdefault(callee, set()).add(symbol)
    return graph


def circles_of(graph):
    """Returns the strongly connected components with more than one file, each sorted."""
    number, low, stack, on_stack, circles = {}, {}, [], set(), []

    def visit(vertex):
        number[vertex] = low[vertex] = len(number)
        stack.append(vertex)
        on_stack.add(vertex)
        for callee in sorted(graph[vertex]):
            if callee not in number:
                visit(callee)
                low[vertex] = min(low[vertex], low[callee])
            elif callee in on_stack:
                low[vertex] = min(low[vertex], number[callee])
        if low[vertex] == number[vertex]:
            at = stack.index(vertex)
            if len(stack) - at > 1:
                circles.append(sorted(stack[at:]))
            on_stack.difference_update(stack[at:])
            del stack[at:]

    for vertex in sorted(graph):
        if vertex not in number:
            visit(vertex)
    return sorted(circles)


def circle_text(graph, circle):
    """Describes a circle: its files, and a line with the symbols of each edge in it."""
    lines = [f'{len(circle)} call each other in a circle: {" ".join(circle)}']
    for caller in circle:
        for callee in sorted(graph[caller].keys() & set(circle)):
            lines.append(f'    {caller} -> {callee}: {" ".join(sorted(graph[caller][callee]))}')
    return '\n'.join(lines)


def dot_of(graph, circles):
    """Returns the graph in Graphviz's format: a box per folder, edges of circles in red."""
    inside = {vertex: at for at, circle in enumerate(circles) for vertex in circle}
    folders = {}
    for vertex in graph:
        folders.setdefault(os.path.dirname(vertex.rstrip('/')), []).append(vertex)
    lines = ['digraph calls {', '    rankdir=LR; node [shape=box, fontname="sans-serif"];']
    for at, (folder, vertices) in enumerate(sorted(folders.items())):
        lines.append(f'    subgraph cluster_{at} {{ label="{folder}";')
        for vertex in sorted(vertices):
            lines.append(f'        "{vertex}" [label="{os.path.basename(vertex.rstrip("/"))}"];')
        lines.append('    }')
    for caller in sorted(graph):
        for callee in sorted(graph[caller]):
            red = caller in inside and inside[caller] == inside.get(callee)
            lines.append(f'    "{caller}" -> "{callee}"{" [color=red]" if red else ""};')
    return '\n'.join(lines + ['}', ''])


def main():
    parser = argparse.ArgumentParser(description='Finds which files call each other, and circles.')
    parser.add_argument('build', nargs='?', default=ROOT / 'build')
    parser.add_argument('--under', default='', metavar='FOLDER/')
    parser.add_argument('--folders', action='store_true')
    parser.add_argument('--edges', action='store_true')
    parser.add_argument('--dot', metavar='FILE')
    parser.add_argument('--svg', metavar='FILE')
    options = parser.parse_args()
    graph = graph_of(options.build, options.under, fold=options.folders)
    circles = circles_of(graph)
    if options.edges:
        for caller in sorted(graph):
            for callee, symbols in sorted(graph[caller].items()):
                print(f'{caller} -> {callee}: {" ".join(sorted(symbols))}')
    for circle in circles:
        print(circle_text(graph, circle))
    if options.dot:
        pathlib.Path(options.dot).write_text(dot_of(graph, circles))
    if options.svg:
        subprocess.run(['dot', '-Tsvg', '-o', options.svg], check=True, text=True,
                       input=dot_of(graph, circles))
    edges = sum(map(len, graph.values()))
    kind = 'folders' if options.folders else 'files'
    print(f'{len(graph)} {kind}, {edges} edges, {len(circles)} circles')
    sys.exit(1 if circles else 0)


if __name__ == '__main__':
    main()
