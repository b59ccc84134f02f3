/* Metadata events and values beside the events: names, devices, aliases of threads, base times, phases. */
#include "unit/import/imported.h"

#define SLICE "{'ph':'X','name':'a','pid':7,'tid':8,'ts':1,'dur':1}"
#define SLICE_IS "slice 7/8 [1000 +1000] :a\n"

static void labels_name_the_device_of_a_process(void **state)
{
	static const import_case cases[] = {
		{ "GPU 0", "[{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'GPU 0'}}," SLICE "]",
		  "process 7 labels 'GPU 0' device 0\n" SLICE_IS "2 events, 0 lost\n" },
		{ "not a number", "[{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'GPU x'}}," SLICE "]",
		  "process 7 labels 'GPU x'\n" SLICE_IS "2 events, 0 lost\n" },
		{ "below 0", "[{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'GPU -1'}}," SLICE "]",
		  "process 7 labels 'GPU -1'\n" SLICE_IS "2 events, 0 lost\n" },
		{ "too long",
		  "[{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'GPU 123456789'}}," SLICE "]",
		  "process 7 labels 'GPU 123456789'\n" SLICE_IS "2 events, 0 lost\n" },
		{ "the last one counts",
		  "[{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'GPU 1'}},"
		  "{'ph':'M','name':'process_labels','pid':7,'args':{'labels':'CPU'}}," SLICE "]",
		  "process 7 labels 'CPU'\n" SLICE_IS "3 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void slices_of_an_extra_lane_belong_to_its_thread(void **state)
{
	static const import_case cases[] = {
		{ "a thread by its number",
		  "[{'ph':'M','name':'sonde_extra_lane','pid':7,'tid':99,'args':{'tid':8}}," SLICE
		  ",{'ph':'X','name':'b','pid':7,'tid':99,'ts':5,'dur':1}]",
		  SLICE_IS "slice 7/8 [5000 +1000] :b\n"
			   "3 events, 0 lost\n" },
		{ "a thread by its text",
		  "[{'ph':'M','name':'sonde_extra_lane','pid':7,'tid':99,'args':{'tid':'main'}},"
		  "{'ph':'X','name':'b','pid':7,'tid':99,'ts':5,'dur':1}]",
		  "slice 7/<main> [5000 +1000] :b\n"
		  "2 events, 0 lost\n" },
		{ "too late: the thread has events already",
		  "[{'ph':'X','name':'b','pid':7,'tid':99,'ts':5,'dur':1},"
		  "{'ph':'M','name':'sonde_extra_lane','pid':7,'tid':99,'args':{'tid':8}}]",
		  "slice 7/99 [5000 +1000] :b\n"
		  "2 events, 0 lost\n" },
		{ "without a thread to belong to",
		  "[{'ph':'M','name':'sonde_extra_lane','pid':7,'tid':99},{'ph':'X','name':'b','pid':7,'tid':99,'ts':5,"
		  "'dur':1}]",
		  "slice 7/99 [5000 +1000] :b\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void base_times_may_be_quoted_and_are_bounded(void **state)
{
	static const import_case cases[] = {
		{ "quoted", "{'baseTimeNanoseconds': '1700000000000000000', 'traceEvents': [" SLICE "]}",
		  "slice 7/8 [1700000000000001000 +1000] :a\n"
		  "meta baseTimeNanoseconds = '1700000000000000000'\n"
		  "1 events, 0 lost\n" },
		{ "no number", "{'baseTimeNanoseconds': 'noon', 'traceEvents': [" SLICE "]}",
		  SLICE_IS "meta baseTimeNanoseconds = 'noon'\n"
			   "1 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void values_beside_the_events_keep_their_bytes(void **state)
{
	static const import_case cases[] = {
		{ "keys with escapes, values with spaces", "{'a\\u0062': { 'x' : 1 }, 'traceEvents': [" SLICE "]}",
		  SLICE_IS "meta ab = { 'x' : 1 }\n"
			   "1 events, 0 lost\n" },
		{ "a value that is no JSON", "{'traceEvents': [" SLICE "], 'n': @NaN}",
		  SLICE_IS "meta n = NaN\n"
			   "repaired 1 from @1: values that are not JSON, kept as text\n"
			   "1 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

/* The text of a meta entry, or NULL. */
static const char *meta_of(const sonde_index *ix, const char *key)
{
	size_t n;
	const index_meta *metas = index_metas(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(index_text(ix, metas[i].key), key) == 0)
			return index_text(ix, metas[i].value);
	return NULL;
}

static void phases_are_counted_by_their_letters(void **state)
{
	static const char json[] = "[{\"ph\":\"X\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"ts\":1,\"dur\":1},"
				   "{\"ph\":\"?\"},{\"ph\":\"i\",\"ts\":1}]";
	imported result = import_bytes(json, sizeof json - 1, (import_how){ 0 });

	(void)state;
	assert_string_equal(meta_of(result.ix, "sonde.phases"), "{\"?\": 1, \"X\": 2, \"i\": 1}");
	index_free(result.ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_name_the_device_of_a_process),
		cmocka_unit_test(slices_of_an_extra_lane_belong_to_its_thread),
		cmocka_unit_test(base_times_may_be_quoted_and_are_bounded),
		cmocka_unit_test(values_beside_the_events_keep_their_bytes),
		cmocka_unit_test(phases_are_counted_by_their_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
