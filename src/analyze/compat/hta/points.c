/* See compat/hta/points.h. */
#include "analyze/compat/hta/points.h"

#include <stdlib.h>

/* HTA's order of what happens at the same time. It goes round in a circle where an empty row lies between two others,
   and then it is a matter of chance. */
static bool is_before(const hta_point *a, const hta_point *b)
{
	if (a->track != b->track || a->time != b->time)
		return a->track != b->track ? a->track < b->track : a->time < b->time;
	if (a->row == b->row)
		return !a->is_end && b->is_end;
	if (!a->dur != !b->dur)
		return a->dur ? !a->is_end : b->is_end;
	if (a->is_end != b->is_end)
		return a->dur ? a->is_end : b->is_end;
	if (a->dur != b->dur)
		return (a->dur > b->dur) != a->is_end;
	return (a->row < b->row) != a->is_end;
}

#define SORT_NAME sort_points
#define SORT_TYPE hta_point
#define SORT_BEFORE(a, b) is_before(a, b)
#include "base/sort_template.h"

bool hta_points_add(hta_points *to, const hta *h, const hta_rank *rank, uint32_t of)
{
	const hta_row *one = &rank->rows[of];
	int64_t start = to_ticks(h, one->ts), dur = one->dur > 0 ? to_ticks(h, one->dur) : 0;

	for (int is_end = 0; is_end < 2; is_end++) {
		hta_point *p = VEC_ADD(to);
		if (!p)
			return false;
		*p = (hta_point){ start + (is_end ? dur : 0), dur, rows_at(&h->w->rows, one->row).track, of, is_end };
	}
	return true;
}

bool hta_points_sort(hta_points *points)
{
	return sort_points(points->items, points->n);
}
