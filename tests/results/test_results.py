#!/usr/bin/env python3
"""Tests the archive of measurements, its page, the marks of pages, and the parsers of tests/bench/run."""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True

import results  # noqa: E402

loader = importlib.machinery.SourceFileLoader('bench_run', str(HERE.parent / 'bench/run'))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader('bench_run', loader))
loader.exec_module(run)

ROW = {'claim': 'links.use', 'case': '5 Mbit/s', 'command': 'build/bench_link', 'commit': None,
       'date': '2026-11-28', 'machine': 'virtual time', 'card': None, 'seeds': None,
       'values': {'used, 1 ms': 97, 'wait': 15.5}, 'unit': {'used, 1 ms': '%', 'wait': 'ms'}}
MARK = '<!-- result: links.use; 5 Mbit/s; used, 1 ms, wait -->'


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / 'tests/results').mkdir(parents=True)
        self.write('tests/results/claims.json', json.dumps(
            {'links.use': {'area': 'links', 'about': 'Use of a link', 'goal': 'at least 80 %'}}))
        self.rows(ROW)

    def write(self, path, text):
        (self.root / path).write_text(text)

    def rows(self, *rows):
        self.write('tests/results/links.jsonl', ''.join(json.dumps(row) + '\n' for row in rows))
        archive = results.Archive(self.root)
        if not archive.broken:
            self.write(results.PAGE, results.render(archive))

    def assert_broken(self, *expected):
        broken = results.check(self.root)
        self.assertEqual(len(broken), len(expected), broken)
        for text, part in zip(broken, expected):
            self.assertIn(part, text)


class ArchiveTest(TreeTest):
    def test_a_good_archive_has_no_finding(self):
        self.assert_broken()

    def test_the_page_has_the_latest_figure(self):
        self.rows(ROW, {**ROW, 'values': {'used, 1 ms': 98, 'wait': 1234.5}})
        text = (self.root / results.PAGE).read_text()
        self.assertIn('- `links.use` Use of a link (goal: at least 80 %): **5 Mbit/s**: used, 1 ms: 98 %, wait: '
                      '1,234.5 ms. `build/bench_link`\n', text)

    def test_cases_with_the_same_values_share_their_names(self):
        self.rows({**ROW, 'case': 'slow', 'values': {'used': 97, 'least': 80, 'wait': 15.5}, 'unit': {
                      'used': '%', 'least': '%', 'wait': 'ms'}}, {**ROW, 'case': 'slow', 'values': {
                          'used': 98, 'least': 81, 'wait': 3}, 'unit': {'used': '%', 'least': '%', 'wait': 'ms'}},
                  {**ROW, 'case': 'fast', 'values': {'used': 90, 'wait': 4}, 'unit': {'used': '%', 'wait': 'ms'}})
        self.assertIn(' (used; least; wait) **slow**: 98, 81 %, 3 ms; **fast**: 90 %, -, 4 ms. ',
                      (self.root / results.PAGE).read_text())

    def test_cases_with_other_values_have_their_own_names(self):
        self.rows({**ROW, 'values': {'used': 97, 'wait': 2}, 'unit': 'ms'},
                  {**ROW, 'case': 'fast', 'values': {'kept': 4}, 'unit': 'ms'})
        self.assertIn(' **5 Mbit/s**: used: 97, wait: 2 ms; **fast**: 4 ms. ',
                      (self.root / results.PAGE).read_text())

    def test_a_command_that_is_repeated_is_printed_once(self):
        self.write('tests/results/claims.json', json.dumps(
            {name: {'area': 'links', 'about': 'Use', 'goal': None} for name in ('links.use', 'links.again')}))
        self.rows(ROW, {**ROW, 'claim': 'links.again'})
        text = (self.root / results.PAGE).read_text()
        self.assertEqual((text.count('`build/bench_link`'), text.count('ms.\n')), (1, 1))

    def test_a_page_that_is_out_of_date_fails(self):
        self.write('tests/results/links.jsonl', json.dumps({**ROW, 'values': {'used, 1 ms': 98, 'wait': 1}}) + '\n')
        self.assert_broken('tests/RESULTS.md: is out of date')

    def test_malformed_rows_fail(self):
        missing = {key: value for key, value in ROW.items() if key != 'machine'}
        for row, why in ((missing, 'must have the members'), ({**ROW, 'claim': 'x'}, 'has no claim'),
                         ({**ROW, 'values': {}}, 'values must be one or more numbers'),
                         ({**ROW, 'values': {'wait': True}}, 'values must be one or more numbers'),
                         ({**ROW, 'unit': {'wait': 'ms'}}, 'unit must be'),
                         ({**ROW, 'date': 'today'}, 'is not a date'), ({**ROW, 'case': 'a; b'}, 'a semicolon')):
            self.rows(ROW, row)
            self.assert_broken(why)

    def test_a_claim_without_a_measurement_fails(self):
        self.write('tests/results/links.jsonl', '')
        self.assert_broken('links.use has no measurement')

    def test_a_page_of_too_many_lines_fails(self):
        claims = {f'links.{i}': {'area': 'links', 'about': 'Use', 'goal': None} for i in range(250)}
        self.write('tests/results/claims.json', json.dumps(claims))
        self.rows(*({**ROW, 'claim': name} for name in claims))
        self.assert_broken('would have 261 lines, over 250')


class MarkTest(TreeTest):
    def page(self, text):
        self.write('README.md', text)

    def test_marked_figures_that_agree_pass(self):
        self.page(f'A link is used to 97 % and waits 16 ms. {MARK}\nOr 15.5 ms. '
                  '<!-- result: links.use; 5 Mbit/s; wait -->\n')
        self.assert_broken()

    def test_a_figure_that_differs_fails(self):
        self.page(f'A link is used to 97 % and waits 17 ms. {MARK}\n')
        self.assert_broken('README.md:1: the page says 17; the latest "wait"')

    def test_only_the_latest_row_counts(self):
        self.rows(ROW, {**ROW, 'values': {'wait': 20}, 'unit': 'ms'})
        self.page(f'A link is used to 97 % and waits 15.5 ms. {MARK}\n')
        self.assert_broken('the page says 15.5; the latest "wait" of')

    def test_a_mark_without_a_row_fails(self):
        for mark, why in (('links.use; 6 Mbit/s; wait', 'no measurement'),
                          ('links.fair; -; wait', 'no measurement'),
                          ('links.use; 5 Mbit/s; waits', 'has no values'),
                          ('links.use; wait', 'a mark must have the form'),
                          ('links.use; 5 Mbit/s; used, 1 ms, wait', 'but stands after 1 numbers')):
            self.page(f'It is 97 %. <!-- result: {mark} -->\n')
            self.assert_broken(why)

    def test_figures_beside_a_link_to_the_results_need_a_mark(self):
        self.page('A link is used to 97 % ([results](tests/RESULTS.md#links)).\n')
        self.assert_broken('quotes values: mark them')
        self.page('A link is used to 97 %. See [the results](tests/RESULTS.md#links).\n')
        self.assert_broken()
        self.page('A link is used well ([results](tests/RESULTS.md#links)).\n')
        self.assert_broken()

    def test_rows_under_results_need_a_mark(self):
        self.page('## Results\n\n| a | 97 % |\n|---|---|\n| use | 97 % |\n')
        self.assert_broken('README.md:5: this row quotes values without a mark')
        self.page('## Results\n\nA link is used to 97 %.\n')
        self.assert_broken('README.md:3: cites RESULTS.md, or is under "Results"')

    def test_code_needs_no_mark(self):
        self.page('```\ntests/RESULTS.md 97 %\n```\n')
        self.assert_broken()

    def test_figures_agree_as_far_as_they_are_rounded(self):
        for quoted, value in (('97', 96.6), ('1,769', 1769), ('1500', 1496), ('0.1', 0.1), ('-1.3', -1.3)):
            self.assertTrue(results.agrees(quoted, value), (quoted, value))
        for quoted, value in (('97', 96.4), ('1,769', 1768), ('1500', 1440), ('0.10', 0.11), ('1.3', -1.3)):
            self.assertFalse(results.agrees(quoted, value), (quoted, value))


LINK = '''     Mbit/s   ms one    to    used %  waits ms
                 way  send            (median)
      0.064        1    100      100        859.6
      5.000        1    100       97         15.5
      5.000       40    100       94         20.3
      5.000       40     70       95         35.2

two on one, the second after ten seconds: first to second
     10.000        5                  1.04
     10.000       40                  0.94

a rate that changes, used to four fifths after: 20 to 2 Mbit/s 0.0 s, 2 to 20 2.0 s

100 Mbit/s, then two minutes of silence
     Mbit/s  used % in first second   in the third  waits ms (most)
    100.000                      51             86         40.6
     10.000                      71             90        336.4
'''
EXCHANGE = '''| place | best fixed setting | best | usual | rule | rule - best | worst | ideal |
|---|---|---|---|---|---|---|---|
| four | 0.25 s, 10 %, gain 1 | 86.69 | 86.47 | 86.53 | -0.16 | 86.25 | 85.82 |
'''
ATTACKS = '''| six of 32 | like data | unlike data | one version | warnings | to be mended by |
|---|---|---|---|---|---|
| sign flip | 82.5 ±0.8 (-1.3) | 24.5 ±6.2 (-58.5) | 10 of 10 | none | votes |
'''


class ParserTest(unittest.TestCase):
    def found(self, name, text, options=()):
        return {(claim, case): values for claim, case, values, _ in run.BENCHES[name].parse(text, options)}

    def test_link(self):
        found = self.found('link', LINK)
        self.assertEqual(found['links.use', '64 kbit/s'], {'used, 1 ms': 100, 'wait, 1 ms': 859.6})
        self.assertEqual(found['links.use', '5 Mbit/s']['wait, 40 ms'], 20.3)
        self.assertEqual(found['links.fair', None], {'5 ms': 1.04, '40 ms': 0.94})
        self.assertEqual(found['links.follow', None], {'at most': 2.0})
        self.assertEqual(found['links.silence', None], {'to 10 Mbit/s': 0.336})

    def test_tables_of_the_simulator(self):
        self.assertEqual(self.found('exchange', EXCHANGE)['exchange.rule', 'four'],
                         {'best fixed': 86.69, 'usual': 86.47, 'rule': 86.53, 'worst fixed': 86.25,
                          'ideal cluster': 85.82})
        self.assertEqual(self.found('attacks', ATTACKS)['attacks.undefended', 'sign flip'],
                         {'like data': 82.5, 'like data ±': 0.8, 'like data against absent': -1.3,
                          'unlike data': 24.5, 'unlike data ±': 6.2, 'unlike data against absent': -58.5})
        self.assertEqual(self.found('ablation', '| | a | b |\n|---|---|---|\n| gain 1 | 86.5 ±0.5 | 88 |\n'),
                         {('cluster.parts', 'gain 1'): {'a': 86.5, 'a ±': 0.5, 'b': 88}})
        self.assertEqual(self.found('storms', '100 seeds, 2 failed, in 4.7 s\n'),
                         {('surviving.storms', None): {'seeds': 100, 'failed': 2}})

    def test_tables_of_the_language_model(self):
        text = ('| strategy | budget | local steps | steps | sent | rate | loss |\n|---|---|---|---|---|---|---|\n'
                '| ideal |  |  | 500 |  | 0.004 | 1.912 |\n| gossip | 1/100 |  | 500 | 1/413 | 0.004 | 2.030 |\n'
                '| gossip | 1/100 |  | 500 | 1/413 | 0.008 | 2.050 |\n')
        self.assertEqual(self.found('language', text),
                         {('language.budgets', 'one learner with all batches'): {'loss': 1.912},
                          ('language.budgets', 'hearsay'): {'1/100': 2.03}})

    def test_the_door(self):
        text = ('crowd: 9287 connections a second; node: 41.0 % of a processor\n'
                '0.044 s in the median, 0.051 s at most\n10 of 10 got in; turned away 0 times\n')
        self.assertEqual(self.found('door', text)['attacks.door', '20 mute'],
                         {'got in, of 10': 10, 'connections a second': 9287, 'processor of the node': 41.0,
                          'median': 0.044, 'most': 0.051})

    def test_programs(self):
        self.assertEqual(self.found('session', 'seal        0.27     0.27  1.005\nopen 0.30 0.29 0.983\n'),
                         {('core.sessions', None): {'seal': 1.005, 'open': 0.983}})
        self.assertEqual(self.found('layers', 'lenet                batch 32      699 samples/s    12.2 GF\n'),
                         {('compute.layers', 'lenet'): {'hearsay': 699}})
        self.assertEqual(self.found('threshold', 'AVX-512   0.1 %   3.7   4.5  1.22\n 0.08 %  4.5  17.7  26\n'
                                    ' 1.13 %  9.2  72.9  119\n'),
                         {('core.pass', '0.1 %'): {'AVX-512': 1.22},
                          ('core.publish', None): {'0.1 %': 4.5, '1 %': 9.2},
                          ('core.apply', None): {'1 %': 72.9}})

    def test_formats_of_columns(self):
        line = 'mlp       1175  steady      87  0.980 1.000 1.000  100.0  0.980 1.000 1.000  100.0   98.0   0.0\n'
        wide = 'wide      1590  steady      80  0.970 1.000 1.510   96.0  0.970 1.000 1.510   96.0   98.0   0.0\n'
        found = self.found('budget', line + wide + line.replace('steady', 'joiner') + wide)
        self.assertEqual(found['links.publication', 'mlp, 1,175 bytes'],
                         {'within a tenth': 100.0, 'least': 0.98, 'median': 1.0, 'most': 1.0})
        self.assertEqual(set(case for _, case in found),
                         {'mlp, 1,175 bytes', 'dense 4000, 1,590 bytes', 'dense 4000, a budget that doubles'})
        self.assertEqual(self.found('relay', '  0.001    4587     14.6    0.0      12.10         10.70   '
                                    '         1.32        0.900\n')['core.relay', '0.001'],
                         {'carried': 1.32, 'loop': 12.1, 'learner': 10.7, 'size of a rumor': 14.6})
        self.assertEqual(self.found('checkpoint', '  10485760    126.0   129     0.006     0.250     1.000    '
                                    '10.000    10.000      9       1.0       1.0\n'),
                         {('surviving.checkpoint', 'ten million parameters'): {'longest': 0.25}})
        text = '  hearsay_step over training: between publications 0.300 %, in all 1.900 %\n' * 2
        self.assertEqual(self.found('library', text, ['sgd', '32', '30']),
                         {('library.time', 'sgd 32'): {'between publications': 0.3, 'in all': 1.9}})

    def test_each_parser_names_claims_of_the_archive(self):
        claims = results.Archive(run.ROOT).claims
        for name, text in (('link', LINK), ('exchange', EXCHANGE), ('attacks', ATTACKS)):
            for claim, _ in self.found(name, text):
                self.assertIn(claim, claims)

    def test_a_row_says_what_was_run(self):
        row = next(run.rows_of('link', LINK, ['--x'], 'build', None, 'a note'))
        self.assertEqual((row['command'], row['seeds'], row['note']), ('build/bench_link --x', None, 'a note'))
        self.assertEqual(run.seeds_of(['--seeds', '5']), 5)
        self.assertEqual(run.seeds_of(['--seeds', '1..1000']), 1000)


class OptionsTest(unittest.TestCase):
    """Finds uses of undefined options in benchmarks. No other test runs benchmarks, because each takes
    minutes to hours."""

    def test_benchmarks_read_only_options_that_they_define(self):
        for path in sorted((HERE.parent / 'bench').glob('bench_*.py')):
            text = path.read_text()
            imported = ''.join(other.read_text() for other in path.parent.glob('*.py')
                               if re.search(rf'\bimport {other.stem}\b', text))
            defined = {name.replace('-', '_') for name in re.findall(
                r'add_argument\(\s*["\'](?:--)?([\w-]+)["\']', text + imported)}
            defined.update(re.findall(r'dest=["\'](\w+)', text + imported))
            for words in re.findall(r'set_defaults\(([^)]*)\)', text + imported):
                defined.update(re.findall(r'(\w+)=', words))
            for names in re.findall(r'^ *(options\.[^=\n]*?) \+?= ', text + imported, re.M):
                defined.update(re.findall(r'options\.(\w+)', names))
            if re.search(r'add_argument\((?:f["\']|["\']--["\'] \+)', text):  # a loop makes the option names
                defined.update(name.replace('-', '_') for name in re.findall(r'["\'](?:--)?([\w-]+)["\']', text))
            used = set(re.findall(r'\b(?:options|asked)\.(\w+)', text))
            self.assertEqual(used - defined, set(), path.name)


if __name__ == '__main__':
    unittest.main()
