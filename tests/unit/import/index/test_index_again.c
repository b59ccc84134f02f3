/* An index that went through a builder again is the same trace; a damaged one does no harm. */
#include <inttypes.h>
#include "import/index/index_again.h"
#include "store/trace.h"
#include "unit/store/temp_dir.h"

/* Everything that a trace may hold. */
static const char everything[] =
	"{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}],\n"
	"\"distributedInfo\": {\"rank\": 3, \"world_size\": 8}, \"baseTimeNanoseconds\": 1700000000000000000,\n"
	"\"traceEvents\": [\n"
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 7, \"tid\": 0, \"args\": {\"name\": \"python\"}},\n"
	"{\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": 7, \"tid\": 0, \"args\": {\"labels\": \"CPU\"}},\n"
	"{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": 7, \"tid\": 0, \"args\": {\"sort_index\": 5}},\n"
	"{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 7, \"tid\": 8, \"args\": {\"name\": \"main\"}},\n"
	"{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#12\", \"pid\": 7, \"tid\": 8, \"ts\": "
	"1, \"dur\": "
	"500, \"args\": {\"External id\": 1}},\n"
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 8, \"ts\": 10, \"dur\": "
	"100, \"args\": "
	"{\"External id\": 2, \"Input Dims\": [[2, 3], [3, 4]], \"Concrete Inputs\": [\"a\\\"b\", \"\"]}, \"cname\": "
	"\"good\", "
	"\"tts\": 17},\n"
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 8, \"ts\": 60, \"dur\": "
	"100, \"args\": "
	"{\"External id\": 3, \"Input Dims\": [[2, 3], [3, 4]], \"Concrete Inputs\": [\"\"]}},\n"
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7, \"tid\": 8, \"ts\": "
	"20, \"dur\": "
	"5.125, \"args\": {\"correlation\": 99}},\n"
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": 40, \"dur\": 30, "
	"\"args\": "
	"{\"device\": 0, \"stream\": 7, \"correlation\": 99, \"grid\": [8, 1, 1], \"registers per thread\": 32, "
	"\"blocks per "
	"SM\": 0.25}},\n"
	"{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD\", \"pid\": 0, \"tid\": 7, \"ts\": 71, "
	"\"dur\": "
	"3, \"args\": {\"device\": 0, \"stream\": 7, \"bytes\": 64, \"memory bandwidth (GB/s)\": 12.5}},\n"
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"lost\", \"pid\": 0, \"tid\": 7, \"ts\": 80, \"dur\": 3, "
	"\"args\": "
	"{\"device\": 0, \"stream\": 7, \"correlation\": 100}},\n"
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"pid\": 0, \"tid\": 20, \"ts\": "
	"90, "
	"\"dur\": 9, \"args\": {\"device\": 0, \"stream\": 20, \"Collective name\": \"allreduce\", \"dtype\": "
	"\"Half\", \"In msg nelems\": 64, \"Process Group Name\": \"0\", \"Seq\": 5}},\n"
	"{\"ph\": \"s\", \"id\": 5, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": 7, \"tid\": 8, \"ts\": 20},\n"
	"{\"ph\": \"f\", \"id\": 5, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": 0, \"tid\": 7, \"ts\": 40, \"bp\": "
	"\"e\"},\n"
	"{\"ph\": \"s\", \"id\": \"text\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": 7, \"tid\": 9, \"ts\": "
	"600},\n"
	"{\"ph\": \"i\", \"cat\": \"x\", \"name\": \"mark\", \"pid\": 7, \"tid\": 8, \"ts\": 30, \"s\": \"p\", "
	"\"args\": {\"v\": "
	"1.5}},\n"
	"{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 7, \"tid\": 8, \"ts\": 31, "
	"\"s\": \"t\", "
	"\"args\": {\"Total Reserved\": 4096, \"Total Allocated\": 1024, \"Bytes\": 512, \"Addr\": 140737488355328, "
	"\"Device "
	"Id\": 0, \"Device Type\": 1}},\n"
	"{\"ph\": \"C\", \"name\": \"memory\", \"pid\": 7, \"tid\": 8, \"ts\": 32, \"args\": {\"used\": 1, \"free\": "
	"2.5}},\n"
	"{\"ph\": \"C\", \"name\": \"load one\", \"pid\": 7, \"tid\": 8, \"ts\": 33, \"args\": {\"one\": 4}},\n"
	"{\"ph\": \"b\", \"cat\": \"async\", \"id\": 1, \"name\": \"request\", \"pid\": 7, \"tid\": 8, \"ts\": 50},\n"
	"{\"ph\": \"e\", \"cat\": \"async\", \"id\": 1, \"name\": \"request\", \"pid\": 7, \"tid\": 8, \"ts\": 90},\n"
	"{\"ph\": \"B\", \"name\": \"never ends\", \"pid\": 7, \"tid\": \"a thread\", \"ts\": 95},\n"
	"{\"ph\": \"X\", \"name\": \"no time\", \"pid\": 7, \"tid\": 8}\n"
	"]}\n";

typedef struct dump {
	char text[32768];
	size_t len;
} dump;

static void put(dump *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(dump *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	d->len += (size_t)vsnprintf(d->text + d->len, sizeof d->text - d->len, format, args);
	va_end(args);
	assert_true(d->len < sizeof d->text);
}

static void put_args(dump *d, const sonde_index *ix, int64_t args)
{
	args_reader *r = args_reader_new(ix);
	args_text text;

	assert_non_null(r);
	if (args && args_read(r, (uint32_t)args, &text))
		put(d, " %.*s %.*s", (int)text.args_len, text.args ? text.args : "", (int)text.extra_len,
		    text.extra ? text.extra : "");
	fact_reader *f = fact_reader_new(ix, SECTION_COLLECTIVES);
	int64_t sequence;
	assert_non_null(f);
	const index_message *m = fact_message(f, (uint32_t)args, &sequence);
	if (m)
		put(d, " collective %s %s %s %d %d %" PRId64 " %" PRId64, index_text(ix, m->name),
		    index_text(ix, m->dtype), index_text(ix, m->group), m->kind, m->element_bytes, m->in_elements,
		    sequence);
	put(d, "\n");
	fact_reader_free(f);
	args_reader_free(r);
}

static const char *site_text(const sonde_index *ix, int64_t site)
{
	static char text[300];
	size_t n;
	const index_site *s = index_sites(ix, &n);

	assert_in_range(site, 0, n - 1);
	snprintf(text, sizeof text, "%s/%s/%d/%d", index_text(ix, s[site].name), index_text(ix, s[site].category),
		 s[site].class, s[site].kind);
	return text;
}

static void put_tables(dump *d, const sonde_index *ix)
{
	static const index_kind kinds[] = { SECTION_INSTANTS,	 SECTION_FLOWS,	  SECTION_LAUNCHES,
					    SECTION_ALLOCATIONS, SECTION_SAMPLES, SECTION_VALUES };
	static const int sites[] = { INSTANT_SITE, FLOW_SITE, -1, ALLOCATION_SITE, SAMPLE_SITE, -1 };
	static const int args[] = { INSTANT_ARGS, FLOW_ARGS, -1, ALLOCATION_ARGS, SAMPLE_ARGS, -1 };
	table_cursor *c = malloc(sizeof *c);
	int64_t row[COLUMNS_MAX];

	assert_non_null(c);
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		table_first(c, ix, kinds[k], 0);
		while (table_next(c, row)) {
			put(d, "%d", (int)kinds[k]);
			for (uint32_t i = 0; i < c->n_columns; i++)
				if ((int)i == sites[k])
					put(d, " %s", site_text(ix, row[i]));
				else if (kinds[k] == SECTION_FLOWS && i == FLOW_ID && row[i] >> 62 & 1)
					put(d, " id %s", index_text(ix, (uint32_t)row[i]));
				else if ((int)i != args[k])
					put(d, " %" PRId64, row[i]);
			put_args(d, ix, args[k] < 0 ? 0 : row[args[k]]);
		}
	}
	free(c);
}

/* Everything but numbers of strings, sites and records. */
static void dump_index(dump *d, const sonde_index *ix)
{
	size_t n;
	const index_process *p = index_processes(ix, &n);

	d->len = 0;
	for (size_t i = 0; i < n; i++)
		put(d, "process %" PRId64 " %s %s %s %d %d %d\n", p[i].pid, index_text(ix, p[i].pid_text),
		    index_text(ix, p[i].name), index_text(ix, p[i].labels), p[i].sort, p[i].rank, p[i].device);
	const index_track *t = index_tracks(ix, &n);
	for (size_t i = 0; i < n; i++)
		put(d, "track %u %u %" PRId64 " %s %s %s %d %d %u %u %" PRIu64 "\n", t[i].kind, t[i].process, t[i].id,
		    index_text(ix, t[i].id_text), index_text(ix, t[i].name), index_text(ix, t[i].category), t[i].sort,
		    t[i].device, t[i].first_lane, t[i].n_lanes, t[i].n_slices);
	for (uint64_t i = 0; i < index_n_slices(ix); i++) {
		index_slice s;
		assert_true(index_slice_at(ix, i, &s));
		put(d, "slice %u %" PRId64 " %" PRId64 " %" PRIx64 " %u %s", s.lane, s.start_ns, s.dur_ns, s.parent,
		    s.flags, site_text(ix, s.site));
		put_args(d, ix, s.args);
	}
	put_tables(d, ix);
	const index_counter *c = index_counters(ix, &n);
	for (size_t i = 0; i < n; i++)
		put(d, "counter %s %s %u %s %" PRIu64 " %" PRIu64 "\n", index_text(ix, c[i].name),
		    index_text(ix, c[i].series), c[i].track, index_text(ix, c[i].category), c[i].first_value,
		    c[i].n_values);
	const index_step *s = index_steps(ix, &n);
	for (size_t i = 0; i < n; i++)
		put(d, "step %" PRId64 " %" PRIu64 " %" PRId64 " %" PRId64 " %u\n", s[i].number, s[i].slice,
		    s[i].start_ns, s[i].dur_ns, s[i].track);
	const index_meta *m = index_metas(ix, &n);
	for (size_t i = 0; i < n; i++)
		put(d, "meta %s %s %d %u\n", index_text(ix, m[i].key), index_text(ix, m[i].value), m[i].rank,
		    m[i].json);
	for (fact_role role = 1; role < ROLE_KINDS; role++)
		put(d, "role %d %s\n", (int)role, index_role_key(ix, role) ? index_role_key(ix, role) : "-");
	const index_device *v = index_devices(ix, &n);
	for (size_t i = 0; i < n; i++)
		put(d, "device %d %d %s %u %" PRId64 "\n", v[i].rank, v[i].id, index_text(ix, v[i].name), v[i].vendor,
		    v[i].memory_bytes);
	const index_diagnostic *g = index_diagnostics(ix, &n);
	for (size_t i = 0; i < n; i++)
		put(d, "diagnostic %s %s %" PRIu64 " %" PRId64 " %u\n", index_text(ix, g[i].text),
		    index_text(ix, g[i].file), g[i].count, g[i].first, g[i].lost);
	put(d, "clock %d\n", (int)index_clock_of(ix));
}

/* Opens it a second time: feeding takes an index. */
static sonde_status again(const uint8_t *bytes, size_t len, sonde_index **ret_index)
{
	builder *b = builder_new(NULL);
	sonde_index *ix = NULL;
	size_t n;

	assert_non_null(b);
	sonde_status status = index_open_memory(bytes, len, &ix, NULL);
	if (!status) {
		index_again *a = index_again_open(ix, "path");
		assert_non_null(a);
		const int32_t *ranks = index_again_ranks(a, &n);
		status = index_again_feed(a, b, 0, NULL, NULL, NULL);
		for (size_t i = 0; i < n; i++)
			builder_file_rank(b, (uint32_t)i, ranks[i]);
		index_again_meta(a, b, ranks);
		index_again_free(a);
	}
	if (!status)
		status = builder_finish(b, ret_index, NULL);
	builder_free(b);
	return status;
}

static sonde_trace *open_everything(void)
{
	sonde_trace *t;

	temp_write(temp_path("all.json"), everything, strlen(everything));
	assert_int_equal(sonde_trace_open(temp_path("all.json"), &t, NULL), SONDE_OK);
	return t;
}

static void everything_is_there_again(void **state)
{
	static dump first, second;
	sonde_trace *t = open_everything();
	sonde_index *ix;
	size_t len;

	(void)state;
	/* The trace is as rich as it is meant to be. */
	static const index_kind kinds[] = { SECTION_INSTANTS, SECTION_FLOWS, SECTION_LAUNCHES, SECTION_ALLOCATIONS,
					    SECTION_VALUES,   SECTION_STEPS, SECTION_ARGS,     SECTION_DIAGNOSTICS };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		assert_true(index_n_rows(t->index, kinds[i]) > 0);
	dump_index(&first, t->index);
	assert_non_null(strstr(first.text, "\"cname\": \"good\""));
	assert_non_null(strstr(first.text, "counter memory used used"));
	assert_non_null(strstr(first.text, "counter load one one"));
	const uint8_t *bytes = index_bytes(t->index, &len);
	assert_int_equal(again(bytes, len, &ix), SONDE_OK);
	dump_index(&second, ix);
	assert_string_equal(second.text, first.text);
	index_free(ix);
	sonde_trace_free(t);
	temp_clear();
}

/* Any byte behind the directory may be anything: its checksums are compared by `sonde info` only. */
static void a_damaged_index_does_no_harm(void **state)
{
	sonde_trace *t = open_everything();
	size_t len;
	const uint8_t *bytes = index_bytes(t->index, &len);
	uint8_t *copy = aligned_alloc(64, (len + 63) / 64 * 64);
	uint64_t seed = 1;
	unsigned n_opened = 0;
	const index_header *h = (const index_header *)bytes;
	size_t from = sizeof *h + h->n_sections * sizeof(index_section);

	(void)state;
	assert_non_null(copy);
	for (unsigned i = 0; i < 3000; i++) {
		memcpy(copy, bytes, len);
		for (unsigned k = 0; k <= i % 4; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			copy[from + (seed >> 20) % (len - from)] ^= (uint8_t)(1u << (seed >> 60 & 7));
		}
		sonde_index *ix = NULL;
		if (again(copy, len, &ix) == SONDE_OK)
			n_opened++;
		index_free(ix);
	}
	assert_true(n_opened > 1000);
	free(copy);
	sonde_trace_free(t);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_there_again),
		cmocka_unit_test(a_damaged_index_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
