/* gnuplot, run as a child process. */
#ifndef HEARSAY_SIM_REPORT_GNUPLOT_H
#define HEARSAY_SIM_REPORT_GNUPLOT_H

#include "base/error.h"

/* MISSING: it is not installed, and how to install it. */
enum error gnuplot_ready(struct problem *problem) MUST_USE;

/* Run DIR/plot.gp in DIR, with its variable `kind` set. FAILED, and what gnuplot said. */
enum error gnuplot_draw(const char *dir, const char *kind, struct problem *problem) MUST_USE;

#endif
