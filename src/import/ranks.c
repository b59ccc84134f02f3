/* See ranks.h. */
#include "import/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
	const ranked_file *const *x = a, *const *y = b;

	if ((*x)->rank != (*y)->rank)
		return (*x)->rank < (*y)->rank ? -1 : 1;
	return *x < *y ? -1 : 1;
}

/* The second of two files with the same rank, or NULL. `sorted` is by rank. */
static const ranked_file *find_twice(ranked_file *const *sorted, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (sorted[i]->rank >= 0 && sorted[i]->rank == sorted[i - 1]->rank)
			return sorted[i];
	return NULL;
}

/* Those without one come first in `sorted`, in the order of the files. */
static void fill_gaps(ranked_file **sorted, size_t n)
{
	size_t known = 0;
	int32_t next = 0;

	while (known < n && sorted[known]->rank < 0)
		known++;
	for (size_t i = 0, k = known; i < known; i++) {
		if (sorted[i]->stays_without)
			continue;
		for (; k < n && sorted[k]->rank <= next; k++)
			next += sorted[k]->rank == next;
		sorted[i]->rank = next++;
	}
}

static void number_in_order(ranked_file *files, size_t n)
{
	int32_t next = 0;

	for (size_t i = 0; i < n; i++)
		if (!files[i].stays_without)
			files[i].rank = next++;
}

void ranks_settle(builder *b, ranked_file *files, size_t n)
{
	ranked_file **sorted = n > 1 ? malloc(n * sizeof *sorted) : NULL;

	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] = &files[i];
	if (sorted) {
		qsort(sorted, n, sizeof *sorted, compare_ranks);
		const ranked_file *twice = find_twice(sorted, n);
		if (twice) {
			builder_diagnostic(
				b, &(builder_problem){
					   .kind = DIAGNOSTIC_SAME_RANK, .n = 1, .file = twice->path, .position = -1 });
			number_in_order(files, n);
		} else {
			fill_gaps(sorted, n);
		}
	} else if (n > 1) {
		number_in_order(files, n);
	}
	free(sorted);
	for (size_t i = 0; i < n; i++)
		if (files[i].rank >= 0)
			builder_file_rank(b, files[i].number, files[i].rank);
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

typedef struct span {
	int64_t start_ns, end_ns;
} span;

/* Of all files of the part that begins at files[0]. *ret_n: so many. False: there are no events. */
static bool part_span(const builder *b, const ranked_file *files, size_t n, size_t *ret_n, span *ret_span)
{
	span all = { INT64_MAX, INT64_MIN }, one;
	size_t i;

	for (i = 0; i < n && files[i].part == files[0].part; i++) {
		if (!builder_file_span(b, files[i].number, &one.start_ns, &one.end_ns))
			continue;
		all.start_ns = one.start_ns < all.start_ns ? one.start_ns : all.start_ns;
		all.end_ns = one.end_ns > all.end_ns ? one.end_ns : all.end_ns;
	}
	*ret_n = i;
	*ret_span = all;
	return all.start_ns <= all.end_ns;
}

static int compare_spans(const void *a, const void *b)
{
	const span *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Sorts them. */
static bool lie_apart(span *spans, size_t n)
{
	qsort(spans, n, sizeof *spans, compare_spans);
	int64_t end_ns = n ? spans[0].end_ns : 0;
	for (size_t i = 1; i < n; i++) {
		if (spans[i].start_ns > end_ns && (uint64_t)spans[i].start_ns - (uint64_t)end_ns > CLOCKS_APART_NS)
			return true;
		end_ns = spans[i].end_ns > end_ns ? spans[i].end_ns : end_ns;
	}
	return false;
}

static void shift(builder *b, const ranked_file *f, int64_t ns)
{
	char what[80];

	builder_file_shift(b, f->number, ns);
	snprintf(what, sizeof what, "clocks not comparable: rank %" PRId32 " shifted", f->rank);
	builder_diagnostic(
		b, &(builder_problem){
			   .kind = DIAGNOSTIC_RANK_SHIFTED, .text = what, .n = 1, .file = f->path, .position = -1 });
}

void clocks_settle(builder *b, const ranked_file *files, size_t n)
{
	span *spans = n > 1 ? malloc(n * sizeof *spans) : NULL, one;
	size_t n_spans = 0, n_files;

	if (!spans)
		return;
	for (size_t i = 0; i < n; i += n_files)
		n_spans += part_span(b, files + i, n - i, &n_files, &spans[n_spans]);
	bool apart = lie_apart(spans, n_spans);
	for (size_t i = 0; apart && i < n; i += n_files) {
		bool moves = part_span(b, files + i, n - i, &n_files, &one) && one.start_ns != spans[0].start_ns;
		for (size_t k = 0; moves && k < n_files; k++)
			shift(b, &files[i + k], (int64_t)((uint64_t)spans[0].start_ns - (uint64_t)one.start_ns));
	}
	free(spans);
}
