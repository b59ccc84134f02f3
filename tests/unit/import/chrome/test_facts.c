/* What Kineto says in arguments becomes facts, whichever way the events are read. */
#include "import/chrome/facts.h"
#include "unit/import/imported.h"

/* ' stands for ". */
static sonde_index *import_json(const char *json, import_how how)
{
	size_t len = strlen(json);
	char *text = malloc(len + 1);

	assert_non_null(text);
	for (size_t i = 0; i <= len; i++)
		text[i] = json[i] == '\'' ? '"' : json[i];
	imported i = import_bytes(text, len, how);
	free(text);
	assert_int_equal(i.status, SONDE_OK);
	return i.ix;
}

static const import_how ways[] = { { 1, false, false }, { 1, true, false }, { 1, false, true }, { 4, false, false } };
enum { N_WAYS = sizeof ways / sizeof ways[0] };

/* The arguments of the slice that starts at so many microseconds. */
static uint32_t args_at(const sonde_index *ix, int64_t us)
{
	index_slice s;

	for (uint64_t i = 0; i < index_n_slices(ix); i++)
		if (index_slice_at(ix, i, &s) && s.start_ns == 1000 * us)
			return s.args;
	fail();
	return 0;
}

#define EVENT(us, args) "{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':" #us ",'dur':1,'args':{" args "}}"

static const char collectives[] = "[" EVENT(
	1,
	"'Collective name':'allreduce','dtype':'Half','In msg nelems':64,'Out msg "
	"nelems':64,"
	"'Group size':2,'Process Group Name':'0','Process Group Ranks':'[0, "
	"1]','Seq':5") "," EVENT(2,
				 "'Collective "
				 "name':'allreduce','dtype':'Half','In msg "
				 "nelems':64,'Out msg nelems':64,"
				 "'Group size':2,'Process Group "
				 "Name':'0','Process Group Ranks':'[0, "
				 "1]','Seq':6") "," EVENT(3,
							  "'Collective "
							  "name':'_allgather_"
							  "base','dtype':'"
							  "Mystery','In msg "
							  "nelems':'8','Out msg "
							  "nelems':-1") "," EVENT(4,
										  "'dtype':'Float'") "," EVENT(5,
													       "'Collec"
													       "tive "
													       "name':'"
													       "all_to_"
													       "allv','"
													       "In "
													       "split "
													       "size':'"
													       "[1, "
													       "2]','"
													       "Seq':1,"
													       "'Seq':"
													       "2") "]";

static void collectives_are_read_once_and_nothing_is_guessed(void **state)
{
	int64_t sequence;

	(void)state;
	for (size_t way = 0; way < N_WAYS; way++) {
		sonde_index *ix = import_json(collectives, ways[way]);
		fact_reader *r = fact_reader_new(ix, SECTION_COLLECTIVES);
		assert_int_equal(index_n_rows(ix, SECTION_COLLECTIVES), 4);
		assert_int_equal(index_n_rows(ix, SECTION_MESSAGES), 3);
		const index_message *m = fact_message(r, args_at(ix, 1), &sequence);
		assert_non_null(m);
		assert_string_equal(index_text(ix, m->name), "allreduce");
		assert_string_equal(index_text(ix, m->dtype), "Half");
		assert_string_equal(index_text(ix, m->group), "0");
		assert_string_equal(index_text(ix, m->ranks), "[0, 1]");
		assert_int_equal(m->in_split, INDEX_NONE);
		assert_int_equal(m->kind, COLLECTIVE_ALL_REDUCE);
		assert_int_equal(m->element_bytes, 2);
		assert_int_equal(m->in_elements, 64);
		assert_int_equal(m->group_size, 2);
		assert_int_equal(sequence, 5);
		assert_ptr_equal(fact_message(r, args_at(ix, 2), &sequence), m);
		assert_int_equal(sequence, 6);
		m = fact_message(r, args_at(ix, 3), &sequence);
		assert_int_equal(m->kind, COLLECTIVE_ALL_GATHER);
		assert_int_equal(m->element_bytes, -1);
		assert_int_equal(m->in_elements, 8);
		assert_int_equal(m->out_elements, -1);
		assert_int_equal(sequence, -1);
		assert_null(fact_message(r, args_at(ix, 4), &sequence));
		m = fact_message(r, args_at(ix, 5), &sequence);
		assert_string_equal(index_text(ix, m->in_split), "[1, 2]");
		assert_int_equal(sequence, 2);
		fact_reader_free(r);
		index_free(ix);
	}
}

static void devices_are_listed_and_nothing_is_guessed(void **state)
{
	static const char list[] =
		"{'deviceProperties':[{'id':0,'name':'NVIDIA A100-SXM4-80GB','totalGlobalMem':85899345920,"
		"'computeMajor':8,'computeMinor':0,'numSms':108},{'id':1,'name':'gfx942'},{'name':7},5],"
		"'distributedInfo':{'rank':3},'traceEvents':[]}";
	sonde_index *ix = import_json(list, ways[0]);
	size_t n;
	const index_device *d = index_devices(ix, &n);

	(void)state;
	assert_int_equal(n, 3); /* what is no object has no id, either: the last one without stays */
	assert_string_equal(index_text(ix, d[0].name), "NVIDIA A100-SXM4-80GB");
	assert_int_equal(d[0].vendor, DEVICE_NVIDIA);
	assert_int_equal(d[0].memory_bytes, 85899345920);
	assert_int_equal(d[0].compute_major, 8);
	assert_int_equal(d[0].n_sms, 108);
	assert_int_equal(d[1].vendor, DEVICE_AMD);
	assert_int_equal(d[1].memory_bytes, -1);
	assert_int_equal(d[1].n_sms, -1);
	assert_int_equal(d[2].id, -1);
	assert_int_equal(d[2].name, INDEX_NONE);
	index_free(ix);
}

static const char device_rows[] = "[" EVENT(
	1,
	"'grid':[432, 2,1],'registers per thread':32,'est. achieved occupancy "
	"%':25") "," EVENT(2,
			   "'grid':[7, 1,1],'registers per thread':64,'est. "
			   "achieved occupancy %':12.5") "," EVENT(3,
								   "'bytes':4096,'memory bandwidth (GB/s)':12.25") "]";

/* They lie there once; the index says by which key. */
static void arguments_that_are_facts_have_a_role(void **state)
{
	(void)state;
	for (size_t way = 0; way < N_WAYS; way++) {
		sonde_index *ix = import_json(device_rows, ways[way]);
		args_column c[] = { { .role = ROLE_OCCUPANCY },
				    { .role = ROLE_REGISTERS },
				    { .role = ROLE_BANDWIDTH },
				    { .role = ROLE_INPUT_DIMS } };
		assert_string_equal(index_role_key(ix, ROLE_GRID), "grid");
		assert_null(index_role_key(ix, ROLE_INPUT_DIMS));
		assert_true(args_columns_read(ix, c, 4));
		assert_true(args_column_f64(ix, &c[0], args_at(ix, 1), -1) == 25);
		assert_true(args_column_f64(ix, &c[0], args_at(ix, 2), -1) == 12.5);
		assert_true(args_column_f64(ix, &c[0], args_at(ix, 3), -1) == -1);
		assert_int_equal(args_column_int(ix, &c[1], args_at(ix, 2), -1), 64);
		assert_true(args_column_f64(ix, &c[2], args_at(ix, 3), -1) == 12.25);
		assert_int_equal(args_column_int(ix, &c[3], args_at(ix, 1), -1), -1);
		args_columns_done(c, 4);
		index_free(ix);
	}
}

/* An args object of more members than are taken apart is one text. */
static void facts_are_found_in_arguments_that_are_kept_whole(void **state)
{
	char json[4096];
	size_t n = (size_t)sprintf(json, "[{'ph':'X','name':'k','pid':0,'tid':7,'ts':1,'dur':1,'args':{");
	int64_t sequence;

	(void)state;
	for (int i = 0; i < 120; i++)
		n += (size_t)sprintf(json + n, "'m%d':%d,", i, i);
	sprintf(json + n, "'Collective name':'broadcast','Seq':9}}]");
	sonde_index *ix = import_json(json, ways[0]);
	fact_reader *r = fact_reader_new(ix, SECTION_COLLECTIVES);
	const index_message *m = fact_message(r, args_at(ix, 1), &sequence);
	assert_non_null(m);
	assert_int_equal(m->kind, COLLECTIVE_BROADCAST);
	assert_int_equal(sequence, 9);
	fact_reader_free(r);
	index_free(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_are_read_once_and_nothing_is_guessed),
		cmocka_unit_test(devices_are_listed_and_nothing_is_guessed),
		cmocka_unit_test(arguments_that_are_facts_have_a_role),
		cmocka_unit_test(facts_are_found_in_arguments_that_are_kept_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
