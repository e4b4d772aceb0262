/* The page that shows a story (story.h): one file of HTML with its styles, its script and its
 * charts (dygraphs), made when the program is built (page.cmake); it fetches nothing from anywhere
 * but, on a node, the node's own /events.
 *
 *   page.html ◄─ page.css, page.js, dygraph.min.js ─► the program ─► a node's / , a report.html
 *
 * Held by tests/process/test_web_page.py, in a browser.
 */
#ifndef HEARSAY_PAGE_PAGE_H
#define HEARSAY_PAGE_PAGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* As a node serves it: it asks for its story itself. */
const char *page_live(size_t *bytes);

/* With a story in it. */
void page_write(FILE *out, const json_t *story);

#endif
