#!/usr/bin/env python3
"""Records a command in a terminal as an animated SVG, such as the one on the front page.

  tests/process/record_swarm.py [--out FILE] [--size 90x37] [--speed 4] [-- COMMAND ...]

    command ──► pseudo-terminal ──► Screen (a small VT100) ──► frames ──► pieces, times ──► SVG

Without a command it records "./run swarm" and writes tests/process/swarm.svg. It emulates a terminal
(cursor movements, colours, the alternate screen and plain lines), so it works for the output of any command.
Each distinct piece of a row is drawn once, and shown while it was on the screen. Viewers without animation,
and users who asked for less motion, see the last frame. The interval between frames grows until the file fits
in --bytes. The exit code is that of the command; if it is not 0, nothing is written.
"""

import argparse
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
PLAIN = (None, False, False)  # colour, bold, reversed
INK, PAPER = "#d8dee6", "#10151c"
PALETTE = ["#5b6572", "#e8736c", "#8cc570", "#dfb55f", "#6fa8e8", "#c08be0", "#5fbfc4", "#d8dee6"]
BRIGHT = ["#8a94a1", "#ff9a93", "#a9e08d", "#f5d083", "#93c4ff", "#dcaef5", "#86dde1", "#ffffff"]
CELL_W, CELL_H, MARGIN, FONT = 8, 17, 14, 13.3

# One control sequence, or a part of one that the next read will complete.
SEQUENCE = re.compile(r"\x1b(?:\[([<-?]?)([0-9;:]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)"
                      r"|[()][A-Za-z0-9]|([78MDEc=>]))")
UNFINISHED = re.compile(r"\x1b(?:\[[<-?]?[0-9;:]*[ -/]*|\][^\x07\x1b]*\x1b?|[()])?$")


class Screen:
    """A terminal of `columns` by `rows` cells: feed() interprets text, frame() returns what is shown."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = self.blank()
        self.x = self.y = 0
        self.style = PLAIN
        self.saved, self.main, self.pending = (0, 0), None, ""

    def blank(self):
        return [self.blank_row() for _ in range(self.rows)]

    def blank_row(self):
        return [(" ", PLAIN)] * self.columns

    def feed(self, text):
        text, at = self.pending + text, 0
        self.pending = ""
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
            elif found := SEQUENCE.match(text, at):
                if found[3]:
                    self.control(found[1], found[2], found[3])
                elif found[4]:
                    self.escape(found[4])
                at = found.end()
            elif UNFINISHED.match(text, at):
                self.pending = text[at:]
                return
            else:
                at += 1

    def put(self, char):
        if char == "\r":
            self.x = 0
        elif char == "\n":
            self.line_feed()
        elif char == "\b":
            self.x = max(self.x - 1, 0)
        elif char == "\t":
            self.x = min(self.x // 8 * 8 + 8, self.columns - 1)
        elif char >= " ":
            if self.x == self.columns:
                self.x = 0
                self.line_feed()
            self.cells[self.y][self.x] = (char, self.style)
            self.x += 1

    def line_feed(self):
        if self.y < self.rows - 1:
            self.y += 1
        else:
            self.cells = self.cells[1:] + [self.blank_row()]

    def escape(self, name):
        if name == "7":
            self.saved = (self.x, self.y)
        elif name == "8":
            self.x, self.y = self.saved
        elif name in "DE":
            self.line_feed()
        elif name == "M":
            self.y = max(self.y - 1, 0)

    def control(self, private, numbers, name):
        values = [int(n) if n else 0 for n in re.split("[;:]", numbers)] if numbers else []
        first = values[0] if values else 0
        count = max(first, 1)
        if private == "?" and name in "hl" and {47, 1047, 1049} & set(values):
            self.alternate(name == "h")
        elif private:
            return  # modes of the cursor, the mouse and so on change no cell
        elif name == "m":
            self.colour(values or [0])
        elif name in "ABCDEFGHd`f":
            self.move(name, count, max(values[1], 1) if len(values) > 1 else 1)
        elif name in "JK":
            self.erase(name, first)
        elif name in "LM":
            for _ in range(min(count, self.rows - self.y)):
                if name == "L":
                    self.cells.insert(self.y, self.blank_row())
                    self.cells.pop()
                else:
                    self.cells.pop(self.y)
                    self.cells.append(self.blank_row())
        elif name in "PX@":
            row, end = self.cells[self.y], [(" ", PLAIN)] * min(count, self.columns - self.x)
            rest = {"P": row[self.x + count:] + end, "X": end + row[self.x + count:],
                    "@": end + row[self.x:]}[name]
            self.cells[self.y] = (row[:self.x] + rest)[:self.columns]
        elif name == "s":
            self.saved = (self.x, self.y)
        elif name == "u":
            self.x, self.y = self.saved

    def alternate(self, enter):
        if enter and self.main is None:
            self.main = (self.cells, self.x, self.y)
            self.cells, self.x, self.y = self.blank(), 0, 0
        elif not enter and self.main is not None:
            (self.cells, self.x, self.y), self.main = self.main, None

    def move(self, name, count, second):
        x, y = min(self.x, self.columns - 1), self.y
        x, y = {"A": (x, y - count), "B": (x, y + count), "C": (x + count, y), "D": (x - count, y),
                "E": (0, y + count), "F": (0, y - count), "G": (count - 1, y),
                "`": (count - 1, y), "d": (x, count - 1)}.get(name, (second - 1, count - 1))
        self.x, self.y = min(max(x, 0), self.columns - 1), min(max(y, 0), self.rows - 1)

    def erase(self, name, part):
        row, x = self.cells[self.y], min(self.x, self.columns - 1)
        empty = self.blank_row()
        if part == 0:
            self.cells[self.y] = row[:x] + empty[x:]
        elif part == 1:
            self.cells[self.y] = empty[:x + 1] + row[x + 1:]
        else:
            self.cells[self.y] = empty
        if name == "J":
            lines = {0: range(self.y + 1, self.rows), 1: range(self.y)}.get(part, range(self.rows))
            for line in lines:
                self.cells[line] = self.blank_row()

    def colour(self, values):
        colour, bold, swapped = self.style
        values = list(values)
        while values:
            value = values.pop(0)
            if value == 0:
                colour, bold, swapped = PLAIN
            elif value in (1, 22):
                bold = value == 1
            elif value in (7, 27):
                swapped = value == 7
            elif value == 2:
                colour = PALETTE[0]
            elif 30 <= value <= 37:
                colour = PALETTE[value - 30]
            elif 90 <= value <= 97:
                colour = BRIGHT[value - 90]
            elif value == 39:
                colour = None
            elif value in (38, 48):
                chosen = self.extended(values)
                colour = chosen if value == 38 else colour
        self.style = (colour, bold, swapped)

    @staticmethod
    def extended(values):
        kind = values.pop(0) if values else 0
        if kind == 2:
            rgb, values[:3] = values[:3], []
            return "#" + "".join(f"{n & 255:02x}" for n in rgb)
        n = values.pop(0) & 255 if kind == 5 and values else 7
        if n < 16:
            return (PALETTE + BRIGHT)[n]
        if n >= 232:
            return "#" + f"{8 + 10 * (n - 232):02x}" * 3
        n -= 16
        return "#" + "".join(f"{(0, 95, 135, 175, 215, 255)[c]:02x}"
                             for c in (n // 36, n // 6 % 6, n % 6))

    def frame(self):
        return tuple(self.runs(row) for row in self.cells)

    @staticmethod
    def runs(row):
        """Returns (column, text, style) of each run of cells with one style. Omits outer blanks, except those of
        reversed cells."""
        out, start = [], 0
        for x in range(1, len(row) + 1):
            if x < len(row) and row[x][1] == row[start][1]:
                continue
            text, style = "".join(char for char, _ in row[start:x]), row[start][1]
            bare = text if style[2] else text.rstrip()
            lead = 0 if style[2] else len(bare) - len(bare.lstrip())
            if bare[lead:]:
                out.append((start + lead, bare[lead:], style))
            start = x
        return tuple(out)


def play(command, columns, rows, limit):
    """Runs the command in a terminal, for `limit` seconds at most. Returns the first frame and each frame that
    differs from the frame before it, as (seconds, frame), and the command's exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows))
        os.chdir(ROOT)
        os.execvp(command[0], command)
    screen, decode = Screen(columns, rows), codecs.getincrementaldecoder("utf-8")("replace").decode
    screen.feed("$ " + " ".join(command) + "\r\n")
    begin, frames = time.monotonic(), [(0.0, screen.frame())]
    while True:
        left = begin + limit - time.monotonic()
        if not select.select([terminal], [], [], max(left, 0))[0]:
            os.killpg(pid, signal.SIGKILL)  # the command is the leader of the terminal's session
        try:
            text = os.read(terminal, 65536)
        except OSError:  # the last process that had the terminal open has ended
            break
        if not text:
            break
        screen.feed(decode(text))
        frame = screen.frame()
        if frame != frames[-1][1]:
            frames.append((time.monotonic() - begin, frame))
    return frames, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def thinned(frames, interval):
    """Returns the last frame of each interval of this many seconds."""
    kept = {int(seconds / interval): (seconds, frame) for seconds, frame in frames}
    return [kept[n] for n in sorted(kept)]


def pieces(frame):
    """Returns the set of (row, column, text, style) of a frame. Splits runs at two or more blanks, except runs
    of reversed cells."""
    out = set()
    for y, runs in enumerate(frame):
        for x, text, style in runs:
            gap = r"\S(?:.*?\S)??(?= {2,}|$)" if not style[2] else r".+"
            out |= {(y, x + m.start(), m[0], style) for m in re.finditer(gap, text)}
    return out


def timeline(frames, speed, hold):
    """Returns {spans: pieces that are shown in exactly these spans}, and the length of the animation. Spans
    and length are in seconds of the animation."""
    starts = [seconds / speed for seconds, _ in frames]
    length = starts[-1] + hold
    shown = {}
    for n, (_, frame) in enumerate(frames):
        begin, end = starts[n], starts[n + 1] if n + 1 < len(frames) else length
        for piece in pieces(frame):
            spans = shown.setdefault(piece, [])
            if spans and spans[-1][1] == begin:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((begin, end))
    groups = {}
    for piece, spans in sorted(shown.items(), key=lambda item: (item[1], item[0][:2])):
        groups.setdefault(tuple(spans), []).append(piece)
    return groups, length


def draw(y, x, text, style):
    colour, bold, swapped = style
    left, top, width = MARGIN + x * CELL_W, MARGIN + y * CELL_H, len(text) * CELL_W
    ink, box = colour or INK, ""
    if swapped:
        box = f'<rect x="{left}" y="{top}" width="{width}" height="{CELL_H}" fill="{ink}"/>'
        ink = PAPER
    look = (f' fill="{ink}"' if ink != INK else "") + (' font-weight="bold"' if bold else "")
    look += f' textLength="{width}"' if len(text) > 1 else ""
    return (f'{box}<text x="{left}" y="{top + CELL_H - 4}"{look}>'
            f"{escape(text).replace(' ', chr(0xa0))}</text>")


def keyframes(name, spans, length):
    marks = [] if spans[0][0] == 0 else ["0%{visibility:hidden}"]
    for begin, end in spans:
        marks.append(f"{100 * begin / length:.3g}%{{visibility:visible}}")
        if end < length:
            marks.append(f"{100 * end / length:.3g}%{{visibility:hidden}}")
    return (f"@keyframes {name}{{{''.join(marks)}}}"
            f".{name}{{animation:{name} {length:.1f}s step-end infinite}}")


def svg(frames, columns, speed, hold, title):
    groups, length = timeline(frames, speed, hold)
    rows = 1 + max(y for group in groups.values() for y, _, _, _ in group)
    width, height = columns * CELL_W + 2 * MARGIN, rows * CELL_H + 2 * MARGIN
    styles, body = [], []
    for n, (spans, group) in enumerate(groups.items()):
        moves = spans != ((0.0, length),)
        if moves:
            styles.append(keyframes(f"k{n}", spans, length))
        body.append("<g" + (f' class="k{n}"' if moves else "")
                    + ("" if spans[-1][1] == length else ' visibility="hidden"') + ">"
                    + "".join(draw(*piece) for piece in group) + "</g>")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" fill="{INK}" '
            f'font-family="ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace" '
            f'font-size="{FONT}"><title>{escape(title)}</title>'
            f"<style>@media (prefers-reduced-motion:no-preference){{{''.join(styles)}}}</style>"
            f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>\n' + "\n".join(body)
            + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "tests/process/swarm.svg")
    parser.add_argument("--size", default="90x37", help="columns x rows (default 90x37)")
    parser.add_argument("--speed", type=float, default=4, help="playback speed: 4 = four times as fast")
    parser.add_argument("--hold", type=float, default=6, help="seconds to show the last frame")
    parser.add_argument("--limit", type=float, default=900, help="seconds after which the command is killed")
    parser.add_argument("--bytes", type=int, default=60000, help="largest size of the file")
    parser.add_argument("command", nargs="*", default=[])
    given = parser.parse_args()
    columns, rows = map(int, given.size.split("x"))
    command = given.command or ["./run", "swarm"]
    frames, code = play(command, columns, rows, given.limit)
    if code != 0:
        print("\n".join("".join(text for _, text, _ in row) for row in frames[-1][1]),
              f"{' '.join(command)}: exit code {code}; nothing was written",
              sep="\n", file=sys.stderr)
        return code if code > 0 else 1
    interval = 0.25
    while True:
        picture = svg(thinned(frames, interval), columns, given.speed, given.hold,
                      "recorded: " + " ".join(command)).encode()
        if len(picture) <= given.bytes or interval > 60:
            break
        interval *= 1.5
    given.out.write_bytes(picture)
    print(f"{given.out}: {len(picture)} bytes, {frames[-1][0]:.0f} s of the command at "
          f"{given.speed:g} times its speed, a frame every {interval:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
