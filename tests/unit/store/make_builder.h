/* What tests of the builder share: a builder with a few names, slices one at a time, an index at the end. */
#ifndef TESTS_UNIT_STORE_MAKE_BUILDER_H
#define TESTS_UNIT_STORE_MAKE_BUILDER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "store/build/builder.h"

static inline uint32_t string_of(builder *b, const char *text)
{
	return builder_string(b, text, strlen(text));
}

static inline uint32_t site_named(builder *b, const char *name, site_class class)
{
	return builder_site(b, string_of(b, name), string_of(b, "test"), class, 0);
}

static inline builder *builder_with_threads(unsigned n_threads)
{
	builder *b = builder_new(&(builder_options){ .n_threads = n_threads });

	assert_non_null(b);
	return b;
}

static inline uint32_t thread_track(builder *b, uint32_t process, int64_t id)
{
	return builder_track(b, TRACK_THREAD, process, id, INDEX_NONE, INDEX_NONE);
}

static inline void add_slice(builder *b, uint32_t track, int64_t start_ns, int64_t dur_ns, uint32_t site)
{
	builder_slice s = { .start_ns = start_ns, .dur_ns = dur_ns, .site = site };

	builder_slices(b, track, &s, 1);
}

/* Frees the builder. */
static inline sonde_index *finish(builder *b)
{
	sonde_index *ix = NULL;
	sonde_error err = { 0 };
	sonde_status status = builder_finish(b, &ix, &err);

	builder_free(b);
	if (status)
		print_error("%s\n", err.message);
	assert_int_equal(status, SONDE_OK);
	assert_int_equal(index_verify(ix, &err), SONDE_OK);
	return ix;
}

static inline uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* The count of a diagnostic. */
static inline uint64_t diagnosed(const sonde_index *ix, const char *kind)
{
	size_t n;
	const index_diagnostic *d = index_diagnostics(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(index_text(ix, d[i].text), kind) == 0)
			return d[i].count;
	return 0;
}

/* Row number `row` of a table. */
static inline void table_row(const sonde_index *ix, index_kind kind, uint64_t row, int64_t *ret_values)
{
	table_cursor *c = malloc(sizeof *c);

	table_first(c, ix, kind, row);
	assert_true(table_next(c, ret_values));
	free(c);
}

#endif
