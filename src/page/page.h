/* The page that shows a snapshot (page_snapshot.h): one HTML file with its styles, script and
 * charts (dygraphs), made at build time (page.cmake). It loads nothing else, except that the page
 * of a running node loads that node's /snapshot.json and /events.
 *
 *   page.html ◄─ page.css, page.js, dygraph.min.js ─► the program ─► a node's / , a report.html
 *
 * Tests: tests/process/test_web_page.py, in a browser.
 */
#ifndef HEARSAY_PAGE_PAGE_H
#define HEARSAY_PAGE_PAGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the page of a running node, which fetches its snapshot from that node. */
const char *page_live(size_t *bytes);

/* Writes the page with this snapshot embedded. */
void page_write(FILE *out, const json_t *snapshot);

#endif
