/* The report: its CSV is a contract, its tables follow the options. */
#include "analyze/result/result.h"
#include "unit/analyze/training.h"
#include "unit/present/printed.h"

static sonde_trace *training(maker *m)
{
	*m = (maker){ 0 };
	make_training(m);
	return make_trace(m);
}

static sonde_result *report_of(const sonde_trace *t, sonde_analyze_options options)
{
	sonde_result *r = NULL;
	sonde_error err = { .message = "" };

	options.struct_size = sizeof options;
	if (sonde_analyze(t, "report", &options, &r, &err))
		fail_msg("%s", err.message);
	return r;
}

static void assert_csv(const sonde_trace *t, sonde_analyze_options options, const char *expected)
{
	sonde_result *r = report_of(t, options);

	assert_printed(r, SONDE_CSV, expected);
	sonde_result_free(r);
}

/* The recording lasts 1000 ns, so percents are tenths of total_ns. */
#define HEADER "name,category,calls,total_ns,self_ns,avg_ns,min_ns,max_ns,std_ns,percent,p50_ns,p95_ns,p99_ns"
#define STEP_ROW "step,other,2,220,20,110,100,120,10,22,100,120,120"
#define LOAD_ROW "load,other,2,190,190,95,90,100,5,19,90,100,100"
#define Q_ROW "q,other,2,110,110,55,50,60,5,11,50,60,60"
#define P_ROW "p,other,2,90,30,45,40,50,5,9,40,50,50"
#define FORWARD_ROW "forward,other,2,60,20,30,20,40,10,6,20,40,40"
#define MATMUL_ROW "matmul,compute,2,40,40,20,10,30,10,4,10,30,30"
#define LINE "\r\n"

static void the_csv_has_the_promised_columns_and_numbers(void **state)
{
	maker m;
	sonde_trace *t = training(&m);

	(void)state;
	assert_csv(t, (sonde_analyze_options){ 0 },
		   HEADER LINE STEP_ROW LINE LOAD_ROW LINE Q_ROW LINE P_ROW LINE FORWARD_ROW LINE MATMUL_ROW LINE);
	sonde_trace_free(t);
	make_done(&m);
}

static void rows_come_in_the_order_asked_for(void **state)
{
	static const struct {
		const char *sort, *first, *second;
	} cases[] = {
		{ "total", "step", "load" },	{ NULL, "step", "load" },	{ "self", "load", "q" },
		{ "calls", "forward", "load" }, { "avg", "step", "load" },	{ "min", "step", "load" },
		{ "max", "step", "load" },	{ "std", "forward", "matmul" }, { "p50", "step", "load" },
		{ "p95", "step", "load" },	{ "p99", "step", "load" },	{ "name", "forward", "load" },
		{ "total_ns", "step", "load" }, { "percent", "step", "load" },	{ "category", "matmul", "forward" },
	};
	maker m;
	sonde_trace *t = training(&m);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_result *r = report_of(t, (sonde_analyze_options){ .sort = cases[i].sort });
		const table *names = r->tables;
		if (strcmp(table_cell(names, 0, 0).string, cases[i].first) != 0 ||
		    strcmp(table_cell(names, 1, 0).string, cases[i].second) != 0)
			fail_msg("sorted by %s: %s, %s", cases[i].sort, table_cell(names, 0, 0).string,
				 table_cell(names, 1, 0).string);
		sonde_result_free(r);
	}
	sonde_trace_free(t);
	make_done(&m);
}

static void what_is_not_shown_is_counted(void **state)
{
	static const char *const more[] = { NULL, "1 more name: --top all", "2 more names: --top all" };
	maker m;
	sonde_trace *t = training(&m);

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		sonde_result *r = report_of(t, (sonde_analyze_options){ .top = 6 - i });
		assert_int_equal(r->tables->more != NULL, more[i] != NULL);
		if (more[i])
			assert_string_equal(r->tables->more, more[i]);
		sonde_result_free(r);
	}
	sonde_trace_free(t);
	make_done(&m);
}

static void a_filter_leaves_the_names_that_match(void **state)
{
	static const struct {
		const char *filter, *names;
	} cases[] = {
		{ "", "step load q p forward matmul " },
		{ "o", "load forward " },
		{ "^p", "p " },
		{ "p$", "step p " },
		{ "^p$", "p " },
		{ "mat", "matmul " },
		{ "nothing", "" },
		{ "^", "step load q p forward matmul " },
		{ "$", "step load q p forward matmul " },
		{ "^$", "" },
		{ "forwards", "" },
		{ "^$^", "" },
	};
	maker m;
	sonde_trace *t = training(&m);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char names[200] = "";
		sonde_result *r = report_of(t, (sonde_analyze_options){ .filter = cases[i].filter });
		for (size_t k = 0; k < r->tables->n_rows; k++) {
			strcat(names, table_cell(r->tables, k, 0).string);
			strcat(names, " ");
		}
		if (strcmp(names, cases[i].names) != 0)
			fail_msg("'%s' leaves '%s'", cases[i].filter, names);
		sonde_result_free(r);
	}
	sonde_trace_free(t);
	make_done(&m);
}

/* "name depth, ..." */
static void assert_tree(const sonde_trace *t, sonde_analyze_options options, const char *expected)
{
	char text[500] = "";
	size_t len = 0;

	options.tree = true;
	sonde_result *r = report_of(t, options);
	for (size_t i = 0; i < r->tables->n_rows; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %u", i ? ", " : "",
					table_cell(r->tables, i, 0).string, r->tables->depths[i]);
	assert_string_equal(text, expected);
	sonde_result_free(r);
}

static void a_tree_shows_who_called_whom(void **state)
{
	maker m;
	sonde_trace *t = training(&m);

	(void)state;
	assert_tree(t, (sonde_analyze_options){ 0 }, "step 0, q 1, p 1, forward 2, matmul 3, load 0");
	assert_tree(t, (sonde_analyze_options){ .sort = "name" }, "load 0, step 0, p 1, forward 2, matmul 3, q 1");
	assert_tree(t, (sonde_analyze_options){ .filter = "ma" }, "matmul 0");
	assert_tree(t, (sonde_analyze_options){ .filter = "r" }, "forward 0");
	assert_tree(t, (sonde_analyze_options){ .filter = "none" }, "");
	sonde_trace_free(t);
	make_done(&m);
}

/* As deep as slices are nested. */
static void a_tree_may_be_very_deep(void **state)
{
	enum { DEPTH = 1024 };
	made_event *events = calloc(2 * DEPTH, sizeof *events);
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	for (size_t i = 0; i < DEPTH; i++) {
		events[i] = (made_event){ 10, F };
		events[DEPTH + i] = (made_event){ 20, END | F };
	}
	make_events_at(&m, 1, 0, events, 2 * DEPTH);
	free(events);
	sonde_trace *t = make_trace(&m);
	sonde_result *r = report_of(t, (sonde_analyze_options){ .tree = true });
	assert_int_equal(r->tables->n_rows, DEPTH);
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void threads_have_a_column_with_their_name(void **state)
{
	maker m;
	sonde_trace *t = training(&m);

	(void)state;
	assert_csv(t, (sonde_analyze_options){ .threads = true },
		   HEADER ",thread" LINE STEP_ROW ",main 101" LINE Q_ROW ",main 101" LINE P_ROW
			  ",main 101" LINE FORWARD_ROW ",main 101" LINE MATMUL_ROW ",main 101" LINE LOAD_ROW
			  ",thread 102" LINE);
	sonde_trace_free(t);
	make_done(&m);
}

static void steps_can_be_chosen(void **state)
{
	maker m;
	sonde_trace *t = training(&m);

	(void)state;
	assert_csv(t, (sonde_analyze_options){ .use_steps = true, .first_step = 0, .last_step = 0, .filter = "step" },
		   HEADER LINE "step,other,1,100,10,100,100,100,,100,100,100,100" LINE);
	assert_csv(t, (sonde_analyze_options){ .use_steps = true, .first_step = 0, .last_step = 1, .filter = "step" },
		   HEADER LINE "step,other,2,220,20,110,100,120,10,100,100,120,120" LINE);
	sonde_trace_free(t);
	make_done(&m);
}

/* One table of the result by its key, as "a,b; c,d". */
static const char *table_text(const sonde_result *r, const char *key)
{
	static char text[1000];
	size_t len = 0;

	text[0] = 0;
	for (const table *t = r->tables; t; t = t->next)
		for (size_t i = 0; strcmp(t->key, key) == 0 && i < t->n_rows * t->n_columns; i++) {
			cell made = table_cell(t, i / t->n_columns, i % t->n_columns);
			const cell *c = &made;
			len += (size_t)snprintf(text + len, sizeof text - len, "%s",
						!i		   ? ""
						: i % t->n_columns ? ","
								   : "; ");
			if (c->type == CELL_STRING)
				len += (size_t)snprintf(text + len, sizeof text - len, "%s", c->string);
			else if (c->type == CELL_PERCENT || c->type == CELL_NUMBER)
				len += (size_t)snprintf(text + len, sizeof text - len, "%.4g", c->number);
			else if (c->type == CELL_UNKNOWN)
				len += (size_t)snprintf(text + len, sizeof text - len, "-");
			else
				len += (size_t)snprintf(text + len, sizeof text - len, "%lld", (long long)c->integer);
		}
	return text;
}

static void steps_phases_memory_and_counters_have_their_tables(void **state)
{
	maker m = { 0 };

	(void)state;
	make_training(&m);
	MAKE_EVENTS(&m, 1, { 400, FORWARD }, { 410, EVENT_ALLOC, 5, { 0, 1, 64, 0, 64 } },
		    { 420, EVENT_FREE, 4, { 0, 1, 64, 0 } }, { 430, END | FORWARD },
		    { 440, LOSS, 1, { make_double(2.5) } }, { 450, LOSS, 1, { make_double(1.5) } });
	sonde_trace *t = make_trace(&m);
	sonde_result *r = report_of(t, (sonde_analyze_options){ 0 });
	assert_string_equal(table_text(r, "phases"), "step,2,220,110,100,100,120,120,100; "
						     "p,2,90,45,40,40,50,50,40.91; q,2,110,55,50,50,60,60,50");
	assert_string_equal(table_text(r, "steps"), "0,100,100,40,50; 1,200,120,50,60");
	assert_string_equal(table_text(r, "memory"), "cpu,64,410,forward,0,1,1,64,0");
	assert_string_equal(table_text(r, "counters"), "loss,2,2.5,1.5,1.5,2.5");
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void phases_beside_the_steps_have_no_share_of_them(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 10, F }, { 10, P }, { 90, END | F }, { 100, STEP, 1, { 0 } }, { 110, F }, { 110, Q },
		    { 150, END | F }, { 200, END | STEP });
	sonde_trace *t = make_trace(&m);
	sonde_result *r = report_of(t, (sonde_analyze_options){ 0 });
	assert_string_equal(table_text(r, "phases"),
			    "step,1,100,100,100,100,100,100,100; q,1,40,40,40,40,40,40,40; p,1,80,80,80,80,80,80,-");
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

/* Only blocks that were there before: no peak, and so no time of one. */
static void names_have_their_memory_where_it_was_recorded(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	MAKE_EVENTS(&m, 1, { 100, FORWARD }, { 110, EVENT_ALLOC, 5, { 0, 1, 64, 0, 64 } }, { 112, FORWARD },
		    { 114, EVENT_ALLOC, 5, { 1, 2, 36, 0, 36 } }, { 116, END | FORWARD },
		    { 120, EVENT_FREE, 4, { 0, 1, 64, 0 } }, { 130, END | FORWARD }, { 140, FORWARD },
		    { 150, END | FORWARD });
	sonde_trace *t = make_trace(&m);
	sonde_result *r = report_of(t, (sonde_analyze_options){ .sort = "allocated" });
	const sonde_table *names = sonde_result_find_table(r, "names");
	size_t last = sonde_table_n_columns(names) - 1;
	sonde_column c;
	assert_true(sonde_table_column(names, last - 2, &c));
	assert_string_equal(c.key, "allocated_bytes");
	assert_int_equal(sonde_table_cell(names, 0, last - 2).integer, 100);
	assert_int_equal(sonde_table_cell(names, 0, last - 1).integer, 64);
	assert_int_equal(sonde_table_cell(names, 0, last).integer, 100);
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void memory_without_a_peak_has_no_time_of_it(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	MAKE_EVENTS(&m, 1, { 410, EVENT_FREE, 4, { 0, 1, UINT64_MAX, 0 } });
	sonde_trace *t = make_trace(&m);
	sonde_result *r = report_of(t, (sonde_analyze_options){ 0 });
	assert_string_equal(table_text(r, "memory"), "cpu,0,-,-,0,0,1,0,1");
	for (const result_note *note = r->notes; note; note = note->next)
		if (strcmp(note->label, "memory") == 0)
			assert_string_equal(note->text, "cpu peak 0 B");
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

static void what_cannot_be_done_is_said(void **state)
{
	static const struct {
		sonde_analyze_options options;
		const char *message;
	} cases[] = {
		{ { .sort = "nothing" },
		  "cannot sort by 'nothing'; choose total, self, calls, avg, min, max, std, percent, p50, p95, p99, "
		  "name, allocated, freed or peak" },
		{ { .tree = true, .threads = true }, "--tree and --threads exclude each other" },
		{ { .use_steps = true, .first_step = 50, .last_step = 60 }, "the trace has no steps 50..60" },
		{ { .use_steps = true, .first_step = 50, .last_step = INT64_MAX }, "the trace has no steps 50.." },
	};
	maker m;
	sonde_trace *t = training(&m);
	sonde_result *r = NULL;
	sonde_error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_analyze_options options = cases[i].options;
		options.struct_size = sizeof options;
		assert_int_equal(sonde_analyze(t, "report", &options, &r, &err), SONDE_E_USAGE);
		assert_string_equal(err.message, cases[i].message);
	}
	assert_int_equal(sonde_analyze(t, "horoscope", NULL, &r, &err), SONDE_E_USAGE);
	assert_string_equal(err.message, "no analysis \"horoscope\"");
	sonde_trace_free(t);
	make_done(&m);
}

static void an_empty_recording_has_an_empty_report(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	sonde_trace *t = make_trace(&m);
	assert_csv(t, (sonde_analyze_options){ 0 }, HEADER LINE);
	assert_csv(t, (sonde_analyze_options){ .tree = true }, HEADER LINE);
	sonde_trace_free(t);
	make_done(&m);
}

static void a_recording_without_time_has_no_percents(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	stream_block info = m.info;
	info.end_ns = info.start_ns = 10;
	make_stream(&m, &info);
	MAKE_EVENTS(&m, 1, { 10, FORWARD }, { 10, END | FORWARD });
	sonde_trace *t = make_trace(&m);
	assert_csv(t, (sonde_analyze_options){ 0 }, HEADER LINE "forward,other,1,0,0,0,0,0,,,0,0,0" LINE);
	sonde_trace_free(t);
	make_done(&m);
}

/* One name used in two categories. */
static void a_name_of_several_categories_is_mixed(void **state)
{
	maker m = { 0 };

	(void)state;
	make_start(&m);
	make_training_names(&m);
	make_name_of(&m, &(name_parts){ .id = 90, .kind = NAME_OP, .category = 3, .name = "matmul", .name_len = 6 });
	MAKE_EVENTS(&m, 1, { 10, MATMUL }, { 20, END | MATMUL }, { 30, 90 }, { 40, END | 90 });
	sonde_trace *t = make_trace(&m);
	assert_csv(t, (sonde_analyze_options){ 0 }, HEADER LINE "matmul,mixed,2,20,20,10,10,10,0,2,10,10,10" LINE);
	sonde_trace_free(t);
	make_done(&m);
}

static void options_of_an_older_program_are_understood(void **state)
{
	maker m;
	sonde_trace *t = training(&m);
	sonde_analyze_options options = { .struct_size = offsetof(sonde_analyze_options, filter), .sort = "name" };
	sonde_result *r = NULL;

	(void)state;
	options.filter = (const char *)1; /* not there yet in that version */
	assert_int_equal(sonde_analyze(t, "report", &options, &r, NULL), SONDE_OK);
	assert_string_equal(table_cell(r->tables, 0, 0).string, "forward");
	sonde_result_free(r);
	sonde_trace_free(t);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_csv_has_the_promised_columns_and_numbers),
		cmocka_unit_test(rows_come_in_the_order_asked_for),
		cmocka_unit_test(what_is_not_shown_is_counted),
		cmocka_unit_test(a_filter_leaves_the_names_that_match),
		cmocka_unit_test(a_tree_shows_who_called_whom),
		cmocka_unit_test(a_tree_may_be_very_deep),
		cmocka_unit_test(threads_have_a_column_with_their_name),
		cmocka_unit_test(steps_can_be_chosen),
		cmocka_unit_test(steps_phases_memory_and_counters_have_their_tables),
		cmocka_unit_test(phases_beside_the_steps_have_no_share_of_them),
		cmocka_unit_test(memory_without_a_peak_has_no_time_of_it),
		cmocka_unit_test(names_have_their_memory_where_it_was_recorded),
		cmocka_unit_test(what_cannot_be_done_is_said),
		cmocka_unit_test(an_empty_recording_has_an_empty_report),
		cmocka_unit_test(a_recording_without_time_has_no_percents),
		cmocka_unit_test(a_name_of_several_categories_is_mixed),
		cmocka_unit_test(options_of_an_older_program_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
