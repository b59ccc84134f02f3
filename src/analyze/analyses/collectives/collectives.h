/* Between the files of the analysis `collectives`. */
#ifndef SONDE_ANALYZE_ANALYSES_COLLECTIVES_COLLECTIVES_H
#define SONDE_ANALYZE_ANALYSES_COLLECTIVES_COLLECTIVES_H

#include "analyze/tables/collective_match.h"

/* Of its first member. */
const collective_args *event_args(const collectives *c, const collective_event *e);

/* analyses/collectives/ops.c; false when out of memory */
bool collectives_put_ops(const collectives *c, const sonde_analyze_options *options, sonde_result *r);
/* analyses/collectives/all_to_all.c; false when out of memory */
bool collectives_put_all_to_all(const collectives *c, sonde_result *r);

#endif
