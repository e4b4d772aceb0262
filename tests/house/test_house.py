#!/usr/bin/env python3
"""Tests the house rules. Each test makes a small tree without violations in a temporary folder, violates one
rule, and expects the sentence with file and line."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True

import constants  # noqa: E402
import house  # noqa: E402
import house_calls  # noqa: E402
import prose  # noqa: E402
import subjects  # noqa: E402

GOOD = {
    'include/base/error.h': ('HEARSAY_BASE_ERROR_H', '#define CHECK(x) ((void)(x))\n'),
    'src/main.c': 'int main(void)\n{\n    return 0;\n}\n',
    'src/node/node.h': ('HEARSAY_NODE_NODE_H', 'struct node;\nint node_new(int n);\n'),
    'src/node/node.c': '#include "node/node.h"\n#include "base/error.h"\n'
                       '#include "node/rate/congestion.h"\n'
                       'int node_new(int n)\n{\n    CHECK(n);\n    return link_new(n);\n}\n',
    'src/node/rate/congestion.h': ('HEARSAY_NODE_RATE_CONGESTION_H', 'int link_new(int n);\n'),
    'src/node/rate/rate_private.h': ('HEARSAY_NODE_RATE_RATE_PRIVATE_H', 'struct rate {\n'
                                     '    int a, b;\n    union {\n        int c;\n    };\n};\n'),
    'src/node/rate/congestion.c': '#include "node/rate/congestion.h"\n#include "base/error.h"\n'
                            '#include "node/rate/rate_private.h"\nstatic int twice(int n)\n{\n'
                            '    return 2 * n; /* hatch */\n}\n\n'
                            'int link_new(int n)\n{\n    CHECK(n);\n    return twice(n);\n}\n',
    'src/state/disk.h': ('HEARSAY_STATE_DISK_H', 'int disk_new(int n);\n'),
    'net/frame/frame.h': ('HEARSAY_NET_FRAME_FRAME_H', 'int frame_head(int n);\n'),
    'tests/unit/node/test_congestion.c': '#include "node/rate/congestion.h"\nint main(void)\n{\n'
                                   '    return link_new(1);\n}\n',
}


def text_of(content):
    if isinstance(content, str):
        return content
    guard, body = content
    return f'#ifndef {guard}\n#define {guard}\n\n{body}\n#endif\n'


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path, content in GOOD.items():
            self.write(path, text_of(content))

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def replace(self, path, old, new):
        text = (self.root / path).read_text()
        self.assertEqual(text.count(old), 1)
        self.write(path, text.replace(old, new))


class HouseTest(TreeTest):
    def assert_broken(self, *expected):
        """Asserts that the violations are exactly these; each is FILE:LINE: and the start of a sentence."""
        said = [f'{path}:{line}: {what}' for path, line, what in house.broken(self.root)[0]]
        self.assertEqual(len(said), len(expected), said)
        for line, begin in zip(said, expected):
            self.assertTrue(line.startswith(begin), f'{line}\n is not {begin}')

    def test_a_good_tree_breaks_no_rule(self):
        self.assert_broken()

    def test_the_program_names_what_is_broken_and_fails(self):
        self.write('src/alone.h', text_of(('HEARSAY_ALONE_H', '')))
        ran = subprocess.run([sys.executable, HERE / 'house.py', self.root], text=True,
                             capture_output=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn('src/alone.h:1: only main.c', ran.stdout)

    def test_long_functions(self):
        self.replace('src/node/rate/congestion.c', '    return twice(n);\n', '    n++;\n' * 102)
        self.assert_broken('src/node/rate/congestion.c:9: link_new has 106 lines, over 105')

    def test_a_function_of_just_the_limit_is_fine(self):
        self.replace('src/node/rate/congestion.c', '    return twice(n);\n', '    n++;\n' * 101)
        self.assert_broken()

    def test_long_files_and_headers(self):
        self.write('src/state/disk.c', '\n' * 751)
        self.write('src/state/disk.h', text_of(('HEARSAY_STATE_DISK_H', '\n' * 225)))
        self.write('model/backend/backend.h', text_of(('HEARSAY_MODEL_BACKEND_BACKEND_H',
                                                       '\n' * 225)))
        self.assert_broken('src/state/disk.c:751: 751 lines, over 750',
                           'src/state/disk.h:226: 230 lines, over 225')

    def test_structs_of_many_members(self):
        self.replace('src/node/rate/rate_private.h', 'int a, b;\n',
                     'int a, b;\n    int (*f)(int x, int y), d[3][2];\n' + '    int e;\n' * 56)
        self.assert_broken('src/node/rate/rate_private.h:4: struct rate has 61 members, over 60')

    def test_files_beside_main(self):
        self.write('src/alone.c', '\n')
        self.assert_broken('src/alone.c:1: only main.c belongs in src itself')

    def test_guards_that_are_not_of_their_path(self):
        self.replace('net/frame/frame.h', '#define HEARSAY_NET', '#define HEARSAY')
        self.write('src/state/disk.h', '#pragma once\nint disk_new(int n);\n')
        self.assert_broken('net/frame/frame.h:1: its only include guard must be HEARSAY_NET_FRAME_FRAME_H',
                           'src/state/disk.h:1: its only include guard must be HEARSAY_STATE_DISK_H')

    def test_includes_out_of_order(self):
        self.write('net/frame/frame.c', '#include "frame/frame.h"\n\n'
                   '#include <string.h>\n#include <stdio.h>\n#include <stdlib.h>\n')
        self.assert_broken('net/frame/frame.c:4: includes stdio.h after string.h: '
                           'sort each group of includes')

    def test_circles_between_folders_of_a_room(self):
        self.write('net/crypto/gate.h', text_of(('HEARSAY_NET_CRYPTO_GATE_H', '')))
        self.write('net/crypto/gate.c', '#include "wire/record.h"\n')
        self.write('net/wire/record.h', text_of(('HEARSAY_NET_WIRE_RECORD_H', '#include "crypto/gate.h"\n')))
        self.assert_broken('net/crypto/gate.c:1: includes wire/record.h: net/crypto does not see net/wire')

    def test_arrows_between_rooms(self):
        self.write('net/frame/frame.c', '#include "frame/frame.h"\n#include "node/node.h"\n')
        self.write('model/data/idx.c', '#include "frame/frame.h"\n')
        self.write('sim/world/world.c', '#include "daemon/ring.h"\n#include "node/node.h"\n')
        self.write('src/daemon/ring.h', text_of(('HEARSAY_DAEMON_RING_H', '')))
        self.replace('src/node/rate/congestion.c', '#include "node/rate/congestion.h"\n',
                     '#include "node/rate/congestion.h"\n#include "state/disk.h"\n#include <uv.h>\n\n')
        self.assert_broken('model/data/idx.c:1: includes frame/frame.h: model does not see net',
                           'net/frame/frame.c:2: includes node/node.h: net does not see node',
                           'sim/world/world.c:1: includes daemon/ring.h: sim does not see daemon',
                           'src/node/rate/congestion.c:2: includes state/disk.h: node does not see state',
                           'src/node/rate/congestion.c:3: includes uv.h: node works without libuv')

    def test_clocks(self):
        self.write('include/base/system_clock.h', text_of(('HEARSAY_BASE_SYSTEM_CLOCK_H', '')))
        clock = '#include <time.h>\n\n#include "base/system_clock.h"\n'
        self.write('model/data/idx.c', clock)
        self.write('src/node/timers.c', clock)
        self.write('src/daemon/ring.c', clock)
        self.write('tests/unit/model/test_idx.c', clock)
        self.assert_broken('model/data/idx.c:1: includes time.h: model reads no clock',
                           'model/data/idx.c:3: includes base/system_clock.h: model reads no clock',
                           'src/node/timers.c:1: includes time.h: node reads no clock',
                           'src/node/timers.c:3: includes base/system_clock.h: node reads no clock')

    def test_arrows_of_unit_tests(self):
        self.write('tests/support/node/link_story.h',
                   text_of(('HEARSAY_TESTS_SUPPORT_NODE_LINK_STORY_H', '')))
        self.write('tests/unit/net/test_frame.c', '#include "support/node/link_story.h"\n')
        self.write('tests/unit/node/test_node.c', '#include "node/rate/congestion.h"\n'
                   '#include "state/disk.h"\n#include "support/node/link_story.h"\n')
        self.assert_broken('tests/unit/net/test_frame.c:1: includes support/node/link_story.h: '
                           'net does not see node',
                           'tests/unit/node/test_node.c:2: includes state/disk.h: '
                           'node does not see state')

    def test_arrows_inside_the_node(self):
        self.write('src/node/broadcast/repair.h', text_of(('HEARSAY_NODE_BROADCAST_REPAIR_H', '')))
        self.write('src/node/connection/peer.h', text_of(('HEARSAY_NODE_CONNECTION_PEER_H', '')))
        self.write('src/node/transfer/fetch.h', text_of(('HEARSAY_NODE_TRANSFER_FETCH_H', '')))
        self.write('src/node/leave.h', text_of(('HEARSAY_NODE_LEAVE_H', '')))
        self.write('src/node/transfer/fetch.c', '#include "node/broadcast/repair.h"\n'
                   '#include "node/leave.h"\n')
        self.write('src/node/broadcast/repair.c', '#include "node/transfer/fetch.h"\n')
        self.write('src/node/membership/members.c', '#include "node/connection/peer.h"\n')
        self.assert_broken('src/node/broadcast/repair.c:1: includes node/transfer/fetch.h: '
                           'src/node/transfer/fetch.h is above src/node/broadcast/repair.c',
                           'src/node/membership/members.c:1: includes node/connection/peer.h: '
                           'src/node/connection/peer.h is on the same level as src/node/membership/members.c',
                           'src/node/transfer/fetch.c:2: includes node/leave.h: '
                           'src/node/leave.h is above src/node/transfer/fetch.c')

    def test_private_headers_elsewhere_even_in_tests(self):
        self.replace('src/node/node.c', '#include "node/rate/congestion.h"\n',
                     '#include "node/rate/congestion.h"\n#include "node/rate/rate_private.h"\n')
        self.replace('tests/unit/node/test_congestion.c', '#include "node/rate/congestion.h"\n',
                     '#include "node/rate/congestion.h"\n#include "node/rate/rate_private.h"\n')
        why = 'includes node/rate/rate_private.h, which is private to its folder'
        self.assert_broken(f'src/node/node.c:4: {why}', f'tests/unit/node/test_congestion.c:2: {why}')

    def test_functions_that_no_header_declares(self):
        self.replace('src/node/rate/congestion.c', 'static int twice', 'int twice')
        self.assert_broken('src/node/rate/congestion.c:4: no header of src/node/rate or above declares '
                           'twice')
        self.replace('src/node/rate/congestion.h', '#endif', '#define ROWS(EACH) EACH(TWO, two, twice, 2)\n#endif')
        self.assert_broken()

    def test_retired_words(self):
        self.replace('src/node/rate/congestion.c', 'static int twice', '#define HATCH\nstatic int twice')
        self.replace('net/frame/frame.h', 'frame_head(int n)', 'frame_head(int tempo_ns)')
        self.write('sim/world/agenda.h', text_of(('HEARSAY_SIM_WORLD_AGENDA_H', '')))
        self.write('src/state/give.h', text_of(('HEARSAY_STATE_GIVE_H', 'int may_give(int n);')))
        self.write('tests/unit/node/test_congestion.c', 'static void who_tells_it_hears_it(void)\n{\n}\n')
        self.assert_broken('net/frame/frame.h:4: the word "tempo" in tempo_ns is retired',
                           'sim/world/agenda.h:1: the word "agenda" in its name is retired',
                           'src/node/rate/congestion.c:4: the word "hatch" in HATCH is retired',
                           'src/state/give.h:1: the word "give" in its name is retired: serve')

    def test_links_to_nothing(self):
        self.write('net/README.md', '# The wire\n\n## A frame: `head`\n')
        self.write('src/README.md', '[a](../net/README.md#a-frame-head) [b](node/node.c) [c](#x)\n'
                   '[d](gone.c) [e](../net/README.md#gone) [f](https://example.org/x)\n'
                   '```\n[g](gone.c)\n```\n')
        self.assert_broken('src/README.md:1: links to #x: that page has no such heading',
                           'src/README.md:2: links to gone.c, which does not exist',
                           'src/README.md:2: links to ../net/README.md#gone: that page')

    def test_pages_that_are_too_long_together(self):
        self.write('net/README.md', 'word ' * (house.PAGE_WORDS - 2))
        self.write('src/README.md', 'the last\n')
        self.assert_broken()
        self.write('README.md', 'more\n')
        self.assert_broken('net/README.md:1: is the longest page: all pages have 55,001 words, over 55,000')

    def test_scripts_that_nothing_runs(self):
        self.write('tests/process/test_known.sh', 'true\n')
        self.write('tests/process/test_python_shared.py', 'pass\n')
        self.write('tests/process/story.sh', 'true\n')
        self.write('tests/tests.cmake', 'foreach(PART shared)\n'
                   '  add_test(NAME p COMMAND python3 tests/process/test_python_${PART}.py)\nendforeach()\n'
                   'add_test(NAME known COMMAND bash tests/process/test_known.sh)\n')
        self.assert_broken()
        self.write('tests/process/test_lost.sh', 'true\n')
        self.assert_broken('tests/process/test_lost.sh:1: no test or CI step runs it')

    def test_ideas_that_one_guess_does_not_find(self):
        rows = [f'- {idea} (more): [src/{word}_x.c](src/{word}_x.c), `{word}_x.c`'
                for idea, word in house.IDEAS.items()]
        for word in house.IDEAS.values():
            self.write(f'src/node/{word}_x.h', text_of((f'HEARSAY_NODE_{word}_X_H'.upper(), '')))
        rows = [row.replace('src/', 'src/node/').replace('_x.c', '_x.h') for row in rows]
        self.write('CONTRIBUTING.md', '\n'.join(rows) + '\n')
        self.assert_broken()
        rows[0] = rows[0].replace('src/node/threshold_x.h', 'src/node/node.c')
        rows[2] = rows[2].replace('anti-entropy', 'gossip')
        rows[4] = rows[4].replace('`congestion_x.h`', '`gone.c`')
        self.write('CONTRIBUTING.md', '\n'.join(rows) + '\n')
        self.assert_broken('CONTRIBUTING.md:1: "threshold filter" is in src/node/node.c, whose name has no "threshold"',
                           'CONTRIBUTING.md:1: its list "Where is" has no file for "anti-entropy"',
                           'CONTRIBUTING.md:5: names gone.c, which is in none of the folders of its row')

    def test_a_core_with_few_checks(self):
        self.replace('src/node/node.c', '    CHECK(n);\n', '    /* CHECK(n); */\n    n++;\n')
        self.assert_broken()  # twice() in congestion.c has one statement, so it does not count
        self.replace('src/node/rate/congestion.c', '    CHECK(n);\n', '    n++;\n')
        self.assert_broken('src/node:1: 0 CHECKs in 2 functions, less than 0.5 for each')


class CallsTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.build = self.root / 'build'

    def compile(self, path, text, room='node'):
        self.write(path, text)
        made = self.build / 'CMakeFiles' / f'{room}.dir' / f'{path}.o'
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([os.environ.get('CC', 'cc'), '-c', '-o', made, self.root / path], check=True)

    def calls_broken(self):
        return [f'{path}:{line}: {what}'
                for path, line, what in house_calls.broken(self.build, self.root)]

    def test_calls_down_break_no_rule(self):
        self.compile('src/node/node.c', 'int low(void);\nint up(void);\n'
                                        'int up(void)\n{\n    return low();\n}\n')
        self.compile('src/node/rate/congestion.c', 'int low(void);\nint low(void)\n{\n    return 1;\n}\n')
        self.assertEqual(self.calls_broken(), [])

    def test_circles_through_three_files(self):
        for caller, callee in ('ab', 'bc', 'ca'):
            self.compile(f'src/state/{caller}.c', f'int {callee}(void);\nint {caller}(void);\n'
                         f'int {caller}(void)\n{{\n    return {callee}();\n}}\n', 'state')
        said = self.calls_broken()
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith('src/state/a.c:1: calls src/state/b.c, in a circle: '
                                           '3 call each other'), said)
        self.assertIn('src/state/c.c -> src/state/a.c: a', said[0])

    def test_calls_up_and_into_rooms_unseen(self):
        self.compile('src/node/node.c', 'int door = 1;\n')
        self.compile('src/state/disk.c', 'int disk = 1;\n', 'state')
        self.compile('src/node/rate/congestion.c', '\nextern int door, disk;\n'
                     'int low(void);\nint low(void)\n{\n    return door + disk;\n}\n')
        self.assertEqual(self.calls_broken(), [
            'src/node/rate/congestion.c:2: calls door: src/node/node.c is above src/node/rate/congestion.c',
            'src/node/rate/congestion.c:2: calls disk: node does not see state'])

    def test_objects_whose_source_is_gone_do_not_count(self):
        self.compile('src/node/node.c', 'int door = 1;\n')
        self.compile('src/node/rate/gone.c', 'extern int door;\nint *at = &door;\n')
        (self.root / 'src/node/rate/gone.c').unlink()
        self.assertEqual(self.calls_broken(), [])


class SubjectsTest(unittest.TestCase):
    def test_accepts_an_area_and_a_change(self):
        for subject in ('rate: publish every four steps', 'daemon, doctor: name the socket',
                        'src/node: ' + 62 * 'x'):
            self.assertIsNone(subjects.why_not(subject), subject)

    def test_refuses_other_subjects(self):
        for subject, why in (('rate: ' + 67 * 'x', 'has 73 characters'),
                             ('Publish every four steps', 'is not of the form'),
                             ('rate:publish', 'is not of the form'),
                             ('rate: ', 'is not of the form'),
                             ('rate: What is published', 'begins with a relative clause'),
                             ('rate: publish.', 'ends with a full stop')):
            self.assertTrue((subjects.why_not(subject) or '').startswith(why), subject)

    def test_reads_the_first_line_that_is_no_comment(self):
        self.assertEqual(subjects.subject_of('\n# note\nrate: a change\n\nbody\n'), 'rate: a change')

    def test_the_hook_refuses_a_message(self):
        with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
            for text, code in (('rate: a change\n', 0), ('a change\n', 1), ('fixup! a change\n', 0)):
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                ran = subprocess.run([sys.executable, HERE / 'subjects.py', file.name],
                                     stdout=subprocess.DEVNULL)
                self.assertEqual(ran.returncode, code, text)


class ConstantsTest(TreeTest):
    TEXT = """#define GROWTH 1.2 /* factor per second */
#define LONG_NS \\
    (30 * SECOND_NS) /* between two looks \\
                      */
/* A node with fewer waits. Trade-off: more is slower. Bench: link. Half: 80 %.
 * Double: not measured. */
#define ENOUGH 3
#define NONE UINT32_MAX
#define PERIOD_NS SECOND_NS
#define SECOND_NS ((uint64_t)1000000000)
"""

    def test_reads_values_units_and_evidence(self):
        self.write('src/node/rate/congestion.c', self.TEXT)
        self.assertEqual(list(constants.constants(self.root)), [
            ('src/node/rate/congestion.c', 'GROWTH', '1.2', 'factor per second', {}),
            ('src/node/rate/congestion.c', 'LONG_NS', '(30 * SECOND_NS)', 'between two looks', {}),
            ('src/node/rate/congestion.c', 'ENOUGH', '3', 'A node with fewer waits',
             {'Trade-off': 'more is slower', 'Bench': 'link', 'Half': '80 %', 'Double': 'not measured'}),
            ('src/node/rate/congestion.c', 'PERIOD_NS', 'SECOND_NS', '', {})])
        text = constants.render(self.root)
        self.assertIn('\n- congestion.c: `GROWTH` `1.2`, `LONG_NS` 30 s\n', text)
        self.assertIn('\n- congestion.c: `ENOUGH` `3`: A node with fewer waits; more is slower. '
                      '**link**: half: 80 %\n', text)
        self.assertNotIn('PERIOD_NS', text)
        self.assertIn('1 of 4 constants have', text)

    def test_the_comment_of_a_declaration_is_of_no_constant(self):
        self.write('src/node/rate/link.h', '/* Returns the links. */\n#define A 3\n#define B 4\nint links(void);\n'
                   '/* Links at most. */\n#define C 5\n')
        self.assertTrue(constants.render(self.root).endswith('\n- link.h: `C` `5`\n'))

    def test_shows_sweeps_of_the_value_and_of_another(self):
        self.write('src/node/rate/congestion.c', self.TEXT)
        rows = [{'constant': 'as it is', 'factor': 1, 'values': {'use': 93, 'wait': 1}, 'unit': {'use': '%', 'wait': 's'}},
                {'constant': 'src/node/rate/congestion.c GROWTH', 'value': '1.2', 'factor': 0.5,
                 'values': {'use': 80, 'wait': 1.01}, 'unit': {'use': '%', 'wait': 's'}},
                {'constant': 'src/node/rate/congestion.c GROWTH', 'value': '1.2', 'factor': 2,
                 'values': {'use': 93, 'wait': 1}, 'unit': {'use': '%', 'wait': 's'}},
                {'constant': 'src/node/rate/congestion.c ENOUGH', 'value': '3', 'factor': 2,
                 'values': {'use': 93, 'wait': 1}, 'unit': {'use': '%', 'wait': 's'}},
                {'constant': 'src/node/rate/congestion.c PERIOD_NS', 'value': 'SECOND_NS', 'factor': 2,
                 'values': {'use': 93, 'wait': 1}, 'unit': {'use': '%', 'wait': 's'}},
                {'constant': 'src/node/rate/congestion.c LONG_NS', 'value': '(9 * SECOND_NS)', 'factor': 2,
                 'values': {}, 'unit': {}, 'note': 'a check fails'}]
        self.write('tests/results/sweeps/link.jsonl', ''.join(json.dumps(row) + '\n' for row in rows))
        text = constants.render(self.root)
        self.assertIn('\n- **link**: use 93 %, wait 1 s\n', text)
        self.assertIn(': factor per second. **link**: half: use 80\n', text)
        self.assertIn('; more is slower. **link**: half: 80 %\n', text)
        self.assertNotIn('PERIOD_NS', text)
        self.assertIn(': between two looks. **link, with (9 * SECOND_NS)**: double: a check fails\n', text)

    def test_a_sweep_of_a_constant_that_no_file_defines_fails(self):
        self.write('src/node/rate/link.c', self.TEXT)
        rows = [{'constant': 'as it is', 'factor': 1, 'values': {}, 'unit': {}},
                {'constant': 'src/node/rate/old.c GROWTH', 'value': '1.2', 'factor': 2, 'values': {}, 'unit': {}}]
        self.write('tests/results/sweeps/link.jsonl', ''.join(json.dumps(row) + '\n' for row in rows))
        ran = subprocess.run([sys.executable, HERE / 'constants.py', self.root], text=True, stdout=subprocess.PIPE)
        self.assertEqual(ran.returncode, 1)
        self.assertIn('no file defines src/node/rate/old.c GROWTH', ran.stdout)

    def test_a_page_that_is_out_of_date_fails(self):
        program = [sys.executable, HERE / 'constants.py', self.root]
        self.write('src/CONSTANTS.md', constants.render(self.root))
        self.assertEqual(subprocess.run(program).returncode, 0)
        self.write('src/node/rate/congestion.c', self.TEXT)
        ran = subprocess.run(program, text=True, stdout=subprocess.PIPE)
        self.assertEqual((ran.returncode, ran.stdout[:16]), (1, 'src/CONSTANTS.md'))


class ProseTest(TreeTest):
    def kinds(self, path, text):
        return [(line, what) for kind, line, what, _ in prose.findings(path, text) if kind]

    def test_plain_comments_have_no_finding(self):
        self.assertEqual(self.kinds('src/a.c', '/* Returns the median rate, or 0. */\n'
                                    '/* Sends as many rumors as the peer has. */\n'
                                    'char *s = "// Who asks is answered";\n'), [])

    def test_riddles_in_comments(self):
        text = ('int a; /* Who asks is answered. */\n'
                '// so many of them\n'
                '/* Returns a mean.\n * What follows is anew. */\n')
        self.assertEqual(self.kinds('src/a.c', text), [
            (1, 'relative clause as subject'), (2, 'pronoun without its noun'),
            (3, 'relative clause as subject'), (3, 'archaic adverb')])

    def test_riddles_in_scripts_and_docstrings(self):
        self.assertEqual(self.kinds('tests/a.sh', '#!/bin/bash\n# Starts it\n# anew, at once\n'),
                         [(2, 'archaic adverb')])
        self.assertEqual(self.kinds('tests/a.py', '"""Runs.\n\nWho asks waits."""\n'),
                         [(1, 'relative clause as subject')])

    def test_files_without_an_ending_count_if_they_are_scripts(self):
        riddle = '# Who asks is answered.\n'
        for path in ('run', '.ci/run', 'configs/packages/prerm', 'tests/bench/run'):
            self.write(path, '#!/bin/sh\n' + riddle)
        self.write('CMakeLists.txt', riddle)
        self.write('configs/notes', riddle)
        self.write('tests/bench/sweep', '#!/usr/bin/env python3\n"""Who asks is answered."""\n')
        found = [path for path in prose.paths_below(self.root)
                 if self.kinds(path, (self.root / path).read_text())]
        self.assertEqual(found, ['.ci/run', 'configs/packages/prerm', 'tests/bench/run',
                                 'tests/bench/sweep', 'run', 'CMakeLists.txt'])

    def test_riddles_in_pages_but_not_in_code_or_marks(self):
        text = ('The node waits. Who asks\nis answered.\n\n```\nWho asks waits\n```\n\n'
                '| a | Of the node |\n<!-- Who marks this -->\n\nWho asks then?\n')
        self.assertEqual(self.kinds('a.md', text), [(1, 'relative clause as subject'), (8, 'fragment')])

    def test_retired_words_and_names_of_code(self):
        self.assertEqual(self.kinds('src/a.c', '/* Adds the slopes; `slopes` is a name. */\n'),
                         [(1, 'gradient')])

    def test_names_of_tests(self):
        self.assertEqual(self.kinds('tests/unit/test_a.c', 'static void who_asks_waits(void **state)\n'
                                    'static void a_peer_waits(void **state)\n'),
                         [(1, 'begins with a pronoun')])

    def limits(self, sentences):
        kinds = {kind: 0 for kind in prose.KINDS}
        prose.write_limits(self.root, {'patterns': prose.patterns_id(), 'rooms': {
            'net': {**kinds, 'sentences': sentences}}})

    def test_a_room_over_its_limit_fails_and_one_at_its_limit_passes(self):
        (self.root / 'tests/house').mkdir(parents=True)
        self.write('net/frame/frame.c', '/* Who asks is answered. */\n')
        self.limits(1)
        self.assertEqual(prose.check(self.root)[0], [])
        self.limits(0)
        self.assertIn('net: 1 sentences to rewrite, over its limit of 0', prose.check(self.root)[0][0])

    def test_a_new_room_may_have_no_finding(self):
        (self.root / 'tests/house').mkdir(parents=True)
        self.limits(0)
        self.write('src/fresh/a.c', '/* Who asks is answered. */\n')
        self.assertIn('src/fresh: 1 sentences', prose.check(self.root)[0][0])

    def test_limits_are_only_lowered(self):
        rooms = {'net': {'of': 9, 'sentences': 4, 'words': 0, 'test names': 0}}
        old = {'patterns': prose.patterns_id(),
               'rooms': {'net': {'sentences': 3, 'words': 2, 'test names': 0}}}
        self.assertEqual(prose.lowered(rooms, old)['rooms']['net'],
                         {'sentences': 3, 'words': 0, 'test names': 0})

    def test_a_limit_that_rose_in_the_history_fails(self):
        def git(*words):
            subprocess.run(('git', '-C', self.root, '-c', 'user.name=t', '-c', 'user.email=t@t', *words),
                           check=True, capture_output=True)
        (self.root / 'tests/house').mkdir(parents=True)
        git('init', '-q')
        for sentences in (1, 2):
            self.limits(sentences)
            git('add', '-A')
            git('commit', '-qm', 'net: change')
        self.assertIn('the limit of net for sentences rose from 1 to 2', prose.check(self.root)[0][0])


if __name__ == '__main__':
    unittest.main()
