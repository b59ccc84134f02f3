/* Parts of the report. */
#ifndef SONDE_ANALYZE_ANALYSES_REPORT_REPORT_H
#define SONDE_ANALYZE_ANALYSES_REPORT_REPORT_H

#include "analyze/analysis.h"

enum { REPORT_TOP = 20 };

/* The column to sort by, -1: there is no such one. */
int report_find_sort(const char *sort);
/* The table of names, which borrows the profile and its trace: they live as long as the result. */
sonde_status report_add_names(sonde_result *r, const profile *p, const sonde_analyze_options *o, sonde_error *err);

#endif
