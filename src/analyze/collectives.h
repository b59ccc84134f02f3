/* Between the files of the analysis `collectives`. */
#ifndef SONDE_ANALYZE_COLLECTIVES_H
#define SONDE_ANALYZE_COLLECTIVES_H

#include "analyze/collective_match.h"

/* Of its first member. */
const collective_args *event_args(const collectives *c, const collective_event *e);

/* collectives_ops.c; false when out of memory */
bool collectives_put_ops(const collectives *c, const sonde_analyze_options *options, sonde_result *r);
/* collectives_all_to_all.c; false when out of memory */
bool collectives_put_all_to_all(const collectives *c, sonde_result *r);

#endif
