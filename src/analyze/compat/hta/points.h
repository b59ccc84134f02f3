/* Starts and ends of rows in the order in which HTA opens and closes them: what is inside what is told by time alone.
 */
#ifndef SONDE_ANALYZE_COMPAT_HTA_POINTS_H
#define SONDE_ANALYZE_COMPAT_HTA_POINTS_H

#include "analyze/compat/hta/rows.h"

typedef struct hta_point {
	int64_t time, dur;   /* ticks */
	uint32_t track, row; /* of the rank's rows, which are in the order of the file */
	bool is_end;
} hta_point;
typedef VEC(hta_point) hta_points;

bool hta_points_add(hta_points *to, const hta *h, const hta_rank *rank, uint32_t row); /* false when out of memory */
bool hta_points_sort(hta_points *points);					       /* by track and time */

#endif
