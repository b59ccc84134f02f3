/* Names to ids: long ones, many, too many. In this order, because ids are for good. */
#include "unit/record/recorded.h"

static void a_name_longer_than_255_bytes_is_cut_between_characters(void **state)
{
	char name[400], kept[400];

	(void)state;
	memset(name, 'n', 254);
	memcpy(name + 254, "\xc3\xa4\xc3\xa4", 5); /* two bytes each: the first one would be cut */
	record_start((sonde_config){ 0 });
	sonde_scope scope = sonde_begin(name);
	sonde_end(scope);
	name[258 - 1] = 'x'; /* beyond what is kept: the same name */
	assert_int_equal(sonde_begin(name), scope);
	sonde_end(scope);
	recorded *r = record_stop();
	snprintf(kept, sizeof kept, "+%.254s -", name);
	assert_int_equal(strncmp(r->text, kept, strlen(kept)), 0);
	record_done(r);
}

static void the_same_name_of_another_kind_is_another_id(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	sonde_scope scope = sonde_begin("both");
	sonde_counter("both", 1);
	sonde_instant("both", SONDE_OTHER);
	sonde_end(scope);
	assert_int_equal(sonde_begin("both"), scope);
	sonde_end(scope);
	assert_recorded("+both both=1 *both -both +both -both");
}

static sonde_scope id_of(const char *name)
{
	sonde_scope scope = sonde_begin(name);

	sonde_end(scope);
	return scope;
}

/* What is remembered about an address does not replace looking at the text. */
static void every_byte_of_a_name_in_a_reused_buffer_counts(void **state)
{
	static const size_t lengths[] = { 1, 7, 8, 9, 16, 17 };
	char name[32];

	(void)state;
	record_start((sonde_config){ 0 });
	for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
		size_t len = lengths[k];
		memset(name, 'n', len);
		name[len] = 0;
		sonde_scope scope = id_of(name);
		assert_int_equal(id_of(name), scope);
		for (size_t i = 0; i < len; i++) {
			name[i] = 'x';
			assert_int_not_equal(id_of(name), scope);
			name[i] = 'n';
			assert_int_equal(id_of(name), scope);
		}
		name[len - 1] = 0;
		assert_int_not_equal(id_of(name), scope);
	}
	record_done(record_stop());
}

static void *remember(const char *name, bool *known, size_t n)
{
	unsigned number;

	if (sscanf(name, "layer.%u", &number) == 1 && number < n)
		known[number] = true;
	return NULL;
}

static void count_layers(void *context, slice *s)
{
	recorded *r = context;

	remember(rec_name(r, s->site), (bool *)r->text, sizeof r->text);
}

/* How many of the names layer.0 ... were seen. */
static size_t count_names(const recording *t)
{
	static recorded r;
	const walk_sink sink = { .context = &r, .end = count_layers };
	walk_counts counts;
	size_t n = 0;

	memset(r.text, 0, sizeof r.text);
	r.trace = (recording *)t;
	assert_int_equal(recording_walk(t, &sink, &counts, NULL), SONDE_OK);
	for (size_t i = 0; i < sizeof r.text; i++)
		n += r.text[i];
	return n;
}

static void call_layers(unsigned from, unsigned to)
{
	char name[32];

	for (unsigned i = from; i < to; i++) {
		snprintf(name, sizeof name, "layer.%u", i);
		sonde_end(sonde_begin(name));
	}
}

static recording *stop_and_open(void)
{
	recording *t = NULL;

	assert_int_equal(sonde_stop(NULL), SONDE_OK);
	assert_int_equal(recording_open_path(sonde_output(), &t, NULL), SONDE_OK);
	return t;
}

static void forty_thousand_names_are_kept(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	call_layers(0, 40000);
	recording *t = stop_and_open();
	assert_int_equal(t->diagnostics.n_kept, 80000);
	assert_int_equal(t->diagnostics.n_names_refused, 0);
	assert_int_equal(count_names(t), 40000);
	recording_free(t);
}

static void a_new_recording_knows_the_old_names(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	call_layers(39990, 40000);
	recording *t = stop_and_open();
	assert_int_equal(count_names(t), 10);
	recording_free(t);
}

/* 16-bit ids: 65,503 names. The rest share one, their events are kept and the refusals counted. */
static void names_that_find_no_room_are_counted(void **state)
{
	enum { N = 66500 };

	(void)state;
	record_start((sonde_config){ 0 });
	call_layers(0, N);
	recording *t = stop_and_open();
	assert_int_equal(t->diagnostics.n_kept, 2 * N);
	uint64_t n_refused = t->diagnostics.n_names_refused;
	assert_in_range(n_refused, N - 65503, N - 65503 + 100); /* some of them are the tests' before */
	walk_counts counts;
	const walk_sink silent = { 0 };
	assert_int_equal(recording_walk(t, &silent, &counts, NULL), SONDE_OK);
	assert_int_equal(counts.n_slices, N);
	assert_int_equal(counts.n_unknown + counts.n_unmatched_ends + counts.n_open, 0);
	recording_free(t);
}

static void known_names_work_when_the_table_is_full(void **state)
{
	(void)state;
	record_start((sonde_config){ 0 });
	call_layers(5, 7);
	sonde_end(sonde_begin("never seen"));
	{
		SONDE_SCOPE("nor this");
	}
	recorded *r = record_stop();
	assert_string_equal(r->text, "+layer.5 -layer.5 +layer.6 -layer.6 +(too many names) -(too many names) "
				     "+(too many names) -(too many names)");
	assert_int_equal(r->trace->diagnostics.n_names_refused, 2);
	record_done(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_longer_than_255_bytes_is_cut_between_characters),
		cmocka_unit_test(the_same_name_of_another_kind_is_another_id),
		cmocka_unit_test(every_byte_of_a_name_in_a_reused_buffer_counts),
		cmocka_unit_test(forty_thousand_names_are_kept),
		cmocka_unit_test(a_new_recording_knows_the_old_names),
		cmocka_unit_test(names_that_find_no_room_are_counted),
		cmocka_unit_test(known_names_work_when_the_table_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
