/* Parts of `info`. */
#ifndef SONDE_ANALYZE_ANALYSES_INFO_INFO_H
#define SONDE_ANALYZE_ANALYSES_INFO_INFO_H

#include "analyze/tables/overview.h"

void info_add_streams(sonde_result *r, const recording_facts *f);
void info_add_threads(sonde_result *r, const recording_facts *f);
void info_add_blocks(sonde_result *r, const recording_facts *f);

#endif
