/* Chrome's trace format: a golden trace, and names that would break JSON. */
#include "base/utf8.h"
#include "format/recording/ring.h"
#include "unit/import/recording/make_file.h"
#include <sonde/export.h>
#include <sonde/record.h>
#include <sonde/trace.h>

enum { A = 40, PHASE, STEP, MARK, LOSS, OP, NPU, QUEUE };

static char *export_of(const sonde_trace *t)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	sonde_error err = { .message = "" };

	if (sonde_export(t, "chrome", out, &err))
		fail_msg("%s", err.message);
	fclose(out);
	return text;
}

static void make_names(maker *m)
{
	make_start(m);
	make_name_of(m, &(name_parts){ .id = A,
				       .name = "a",
				       .name_len = 1,
				       .args = { { SONDE_ARG_I64_, "n" },
						 { SONDE_ARG_STR_, "type" },
						 { SONDE_ARG_SHAPE_, "x" },
						 { SONDE_ARG_F64_, "rate" } },
				       .n_args = 4 });
	make_name(m, PHASE, NAME_PHASE, "phase");
	make_name(m, STEP, NAME_STEP, "step");
	make_name(m, MARK, NAME_MARK, "mark");
	make_name(m, LOSS, NAME_COUNTER, "loss");
	make_name_of(m, &(name_parts){ .id = OP, .kind = NAME_OP, .category = 1, .name = "op", .name_len = 2 });
	make_name(m, NPU, NAME_DEVICE, "npu0");
	make_name_of(
		m, &(name_parts){ .id = QUEUE, .kind = NAME_STREAM, .category = NPU, .name = "queue", .name_len = 5 });
}

/* Each of the lines is in the export, in this order. */
static void assert_export(const maker *m, const char *const *lines)
{
	sonde_trace *t = make_trace(m);
	char *text = export_of(t);
	const char *at = text;

	for (; *lines; lines++) {
		const char *found = strstr(at, *lines);
		if (!found)
			fail_msg("no %s behind the line before it in\n%s", *lines, text);
		at = found + strlen(*lines);
	}
	free(text);
	sonde_trace_free(t);
}
#define ASSERT_EXPORT(m, ...) assert_export(m, (const char *const[]){ __VA_ARGS__, NULL })

static void scopes_steps_and_phases_are_complete_events(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	stream_block info = m.info;
	info.start_ns = 1000;
	info.end_ns = 9000;
	make_stream(&m, &info);
	MAKE_EVENTS(&m, 1, { 2000, STEP, 1, { 7 } }, { 2100, PHASE },
		    { 3001, A, 7, { (uint64_t)-5, 3, make_text("f32"), 2, 64, 128, make_double(0.5) } },
		    { 4002, END | A }, { 5000, END | STEP }, { 6000, A });
	ASSERT_EXPORT(&m, "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 77, \"args\": {\"name\": \"train\"}}",
		      "{\"ph\": \"X\", \"name\": \"step\", \"cat\": \"other,sonde.step.step\", \"pid\": 77, \"tid\": "
		      "101, \"ts\": "
		      "2.000, \"dur\": 3.000, \"args\": {\"step\": 7}}",
		      "{\"ph\": \"X\", \"name\": \"phase\", \"cat\": \"other,sonde.phase.phase\", \"pid\": 77, "
		      "\"tid\": 101, \"ts\": "
		      "2.100, \"dur\": 2.900}",
		      "{\"ph\": \"X\", \"name\": \"a\", \"cat\": \"other,sonde.scope.other\", \"pid\": 77, \"tid\": "
		      "101, \"ts\": 3.001, "
		      "\"dur\": 1.001, \"args\": {\"n\": -5, \"type\": \"f32\", \"x\": [64, 128], \"rate\": 0.5}}",
		      "{\"ph\": \"B\", \"name\": \"a\", \"cat\": \"other,sonde.scope.other\", \"pid\": 77, \"tid\": "
		      "101, \"ts\": 6.000}");
	make_done(&m);
}

static void what_need_not_nest_is_async(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 100, EVENT_OP_BEGIN, 6, { 9, OP, make_double(8), 0, 0, 0 } },
		    { 110, EVENT_OP_META, 5, { 9, 1, make_text("k"), 1, make_text("v") } }, { 120, A },
		    { 130, EVENT_OP_END, 1, { 9 } }, { 140, END | A }, { 150, EVENT_OP_RECORD, 3, { OP, 50, 25 } },
		    { 160, EVENT_OP_RECORD, 3, { OP, 60, 25 } });
	ASSERT_EXPORT(&m,
		      "{\"ph\": \"X\", \"name\": \"a\", \"cat\": \"other,sonde.scope.other\", \"pid\": 77, \"tid\": "
		      "101, \"ts\": 0.120, "
		      "\"dur\": 0.020}",
		      "{\"ph\": \"b\", \"name\": \"op\", \"cat\": \"compute,sonde.op.compute\", \"pid\": 77, \"tid\": "
		      "0, \"id\": 1, "
		      "\"ts\": 0.050}",
		      "{\"ph\": \"e\", \"name\": \"op\", \"cat\": \"compute,sonde.op.compute\", \"pid\": 77, \"tid\": "
		      "0, \"id\": 1, "
		      "\"ts\": 0.075}",
		      "\"id\": 2, \"ts\": 0.100, \"args\": {\"flops\": 8, \"k\": \"v\"}}", "\"id\": 2, \"ts\": 0.130}");
	make_done(&m);
}

static void numbers_of_operations_and_arguments_of_marks_are_there(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 100, EVENT_OP_BEGIN, 6, { 9, OP, 0, 0, 0, 0 } },
		    { 110, EVENT_OP_VALUE, 5, { 9, 1, (uint64_t)-2, 1, make_text("k") } },
		    { 120, EVENT_OP_END, 1, { 9 } },
		    { 130, EVENT_INSTANT, 5, { MARK, 2, 1, make_text("f"), make_double(0.5) } });
	sonde_trace *t = make_trace(&m);
	char *text = export_of(t);
	assert_non_null(strstr(text, "\"args\": {\"k\": -2}"));
	assert_non_null(strstr(text, "\"s\": \"t\", \"args\": {\"f\": 0.5}}"));
	free(text);
	sonde_trace_free(t);
	make_done(&m);
}

static void marks_counters_flows_and_memory_are_there(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 100, MARK }, { 110, LOSS, 1, { make_double(-0.25) } },
		    { 120, EVENT_FLOW_BEGIN, 2, { MARK, 255 } }, { 130, EVENT_FLOW_END, 2, { MARK, 255 } },
		    { 140, EVENT_ALLOC, 5, { 1, 1, 64, 0, 64 } });
	ASSERT_EXPORT(
		&m,
		"{\"ph\": \"i\", \"name\": \"mark\", \"cat\": \"other,sonde.mark.other\", \"pid\": 77, \"tid\": 101, "
		"\"ts\": "
		"0.100, \"s\": \"t\"}",
		"{\"ph\": \"i\", \"name\": \"gpu0\", \"cat\": \"alloc,sonde.device.memory\", \"pid\": 77, \"tid\": "
		"101, \"ts\": 0.140, \"s\": \"t\", \"args\": {\"Bytes\": 64, \"Device Id\": 0, \"Device Type\": "
		"1, \"Total Allocated\": 64, \"Addr\": 1}}",
		"{\"ph\": \"C\", \"name\": \"loss\", \"cat\": \"other\", \"pid\": 77, \"ts\": 0.110, \"args\": "
		"{\"value\": -0.25}}",
		"{\"ph\": \"s\", \"name\": \"mark\", \"cat\": \"other,sonde.mark.other\", \"pid\": 77, \"tid\": 101, "
		"\"ts\": "
		"0.120, \"id\": 255}",
		"{\"ph\": \"f\", \"name\": \"mark\", \"cat\": \"other,sonde.mark.other\", \"pid\": 77, \"tid\": 101, "
		"\"ts\": "
		"0.130, \"id\": 255, \"bp\": \"e\"}");
	make_done(&m);
}

static void devices_are_processes_with_their_queues(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 100, EVENT_LAUNCH, 3, { OP, QUEUE, 3 } },
		    { 200, EVENT_STREAM_SLICE, 5, { QUEUE, 3, OP, 150, 180 } },
		    { 201, EVENT_STREAM_SLICE, 5, { QUEUE, 0, OP, 160, 170 } });
	/* pid 2^23 + 46, the device's id */
	ASSERT_EXPORT(&m,
		      "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 8388654, \"args\": {\"name\": \"npu0\"}}",
		      "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 8388654, \"tid\": 47, \"args\": {\"name\": "
		      "\"queue\"}}",
		      "{\"ph\": \"X\", \"name\": \"op\", \"cat\": \"launch,sonde.stream.runtime\", \"pid\": 77, "
		      "\"tid\": 101, \"ts\": "
		      "0.100, \"dur\": 0.000, \"args\": {\"stream\": 47, \"correlation\": 3}}",
		      "{\"ph\": \"X\", \"name\": \"op\", \"cat\": \"compute,sonde.device.kernel\", \"pid\": 8388654, "
		      "\"tid\": 47, \"ts\": "
		      "0.150, \"dur\": 0.030",
		      "{\"ph\": \"X\", \"name\": \"op\", \"cat\": \"compute,sonde.device.kernel\", \"pid\": 8388654, "
		      "\"tid\": 47, \"ts\": "
		      "0.160, \"dur\": 0.010");
	make_done(&m);
}

static void two_processes_do_not_share_operations(void **state)
{
	maker m = { 0 };

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 100, EVENT_OP_BEGIN, 6, { 1, OP, 0, 0, 0, 0 } },
		    { 110, EVENT_OP_META, 5, { 1, 1, make_text("k"), 1, make_text("v") } },
		    { 120, EVENT_OP_END, 1, { 1 } });
	m.stream++;
	make_stream(&m, &m.info);
	MAKE_EVENTS(&m, 1, { 100, EVENT_OP_BEGIN, 6, { 1, OP, 0, 0, 0, 0 } }, { 120, EVENT_OP_END, 1, { 1 } });
	sonde_trace *t = make_trace(&m);
	char *text = export_of(t);
	char *notes = strstr(text, "\"k\": \"v\"");
	assert_non_null(notes);
	assert_null(strstr(notes + 1, "\"k\": \"v\""));
	free(text);
	sonde_trace_free(t);
	make_done(&m);
}

/* ---- Valid, whatever the names are ------------------------------------------------------------------------------- */

/* A validator by the book (RFC 8259). Returns the end of the value or NULL. */
static const char *json_value(const char *p);

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static const char *json_text(const char *p)
{
	if (*p++ != '"')
		return NULL;
	while (*p != '"') {
		uint32_t code;
		size_t n = utf8_decode(p, strlen(p) ? strlen(p) : 1, &code);
		if (!n || code < 0x20)
			return NULL;
		p += n;
		if (code != '\\')
			continue;
		if (*p == 'u') {
			if (strspn(p + 1, "0123456789abcdefABCDEF") < 4)
				return NULL;
			p += 5;
		} else if (!*p || !strchr("\"\\/bfnrt", *p++)) {
			return NULL;
		}
	}
	return p + 1;
}

static const char *json_number(const char *p)
{
	p += *p == '-';
	if (*p == '0')
		p++;
	else if (*p >= '1' && *p <= '9')
		p += strspn(p, "0123456789");
	else
		return NULL;
	if (*p == '.') {
		size_t n = strspn(p + 1, "0123456789");
		if (!n)
			return NULL;
		p += 1 + n;
	}
	if (*p == 'e' || *p == 'E') {
		p += 1 + (p[1] == '+' || p[1] == '-');
		size_t n = strspn(p, "0123456789");
		if (!n)
			return NULL;
		p += n;
	}
	return p;
}

static const char *json_list(const char *p, char end)
{
	p = skip_space(p + 1);
	if (*p == end)
		return p + 1;
	for (;;) {
		if (end == '}') {
			p = json_text(p);
			p = p ? skip_space(p) : NULL;
			if (!p || *p++ != ':')
				return NULL;
		}
		p = json_value(p);
		if (!p)
			return NULL;
		p = skip_space(p);
		if (*p == end)
			return p + 1;
		if (*p++ != ',')
			return NULL;
		p = skip_space(p);
	}
}

static const char *json_value(const char *p)
{
	p = skip_space(p);
	if (*p == '{' || *p == '[')
		return json_list(p, *p == '{' ? '}' : ']');
	if (*p == '"')
		return json_text(p);
	for (const char *const *word = (const char *const[]){ "true", "false", "null", NULL }; *word; word++)
		if (strncmp(p, *word, strlen(*word)) == 0)
			return p + strlen(*word);
	return json_number(p);
}

static bool is_json(const char *text)
{
	const char *end = json_value(text);

	return end && *skip_space(end) == 0;
}

static void the_validator_knows_json(void **state)
{
	static const char *const good[] = { "{}", "[]", "[1,-0.5e+3,\"a\\u0041\\n\",{\"k\":[null,true]}]", " 0 ",
					    "\"\xc3\xa4\"" };
	static const char *const bad[] = { "",	 "{",	"[1,]", "{\"a\"}", "\"\n\"", "\"\xff\"",
					   "01", "nan", "1.",	"\"\\x\"", "[1] 2",  "\"\\u12\"" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(is_json(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(is_json(bad[i]));
}

static void hostile_names_stay_inside_their_strings(void **state)
{
	static const struct {
		const char *name;
		size_t len;
		const char *written; /* somewhere in the export */
	} cases[] = {
		{ "say \"hello\"", 11, "\"say \\\"hello\\\"\"" },
		{ "back\\slash", 10, "\"back\\\\slash\"" },
		{ "line\nbreak\ttab", 14, "\"line\\nbreak\\ttab\"" },
		{ "\x01\x1f\x7f", 3, "\\u0001\\u001f\\u007f" },
		{ "a\xff\xfe", 3, "\"a\xef\xbf\xbd" },
		{ "cut \xe2\x82", 6, "\"cut \xef\xbf\xbd" },
		{ "</script><script>alert(1)</script>", 34, "script" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", 6, "\\u2028\\u2029" },
		{ "\xc3\xa4\xf0\x9f\x98\x80", 6, "\"\xc3\xa4\xf0\x9f\x98\x80\"" },
		{ "", 0, "\"name\": \"\"" },
		{ "nul\0inside", 10, "\"nul" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		maker m = { 0 };
		uint64_t words[8] = { cases[i].len < 50 ? cases[i].len : 50 };
		made_event named = { 5, EVENT_THREAD_NAME, 8, { 0 } }, process = named;
		make_start(&m);
		stream_block info = m.info;
		snprintf(info.program, sizeof info.program, "%s", cases[i].name);
		make_stream(&m, &info);
		make_name_of(&m, &(name_parts){ .id = A,
						.name = cases[i].name,
						.name_len = cases[i].len,
						.args = { { SONDE_ARG_STR_, cases[i].name }, { 77, "?" } },
						.n_args = 2 });
		make_name_of(&m,
			     &(name_parts){
				     .id = MARK, .kind = NAME_MARK, .name = cases[i].name, .name_len = cases[i].len });
		make_name_of(&m, &(name_parts){ .id = LOSS,
						.kind = NAME_COUNTER,
						.name = cases[i].name,
						.name_len = cases[i].len });
		make_name_of(&m,
			     &(name_parts){
				     .id = NPU, .kind = NAME_DEVICE, .name = cases[i].name, .name_len = cases[i].len });
		make_name_of(&m, &(name_parts){ .id = QUEUE,
						.kind = NAME_STREAM,
						.category = NPU,
						.name = cases[i].name,
						.name_len = cases[i].len });
		memcpy(words + 1, cases[i].name, words[0]);
		memcpy(named.words, words, sizeof words);
		memcpy(process.words, words, sizeof words);
		process.code = EVENT_PROCESS_NAME;
		make_events(&m, 1, &named, 1);
		make_events(&m, 1, &process, 1);
		MAKE_EVENTS(&m, 1, { 10, A, 8, { words[0], words[1], words[2], words[3], words[4], words[5], 6 } },
			    { 20, MARK }, { 30, LOSS, 1, { UINT64_C(0x7ff0000000000000) } },
			    { 40, LOSS, 1, { UINT64_MAX } }, { 50, EVENT_ALLOC, 5, { NPU, 1, 1, 1, 1 } },
			    { 60, EVENT_STREAM_SLICE, 5, { QUEUE, 1, MARK, 1, 2 } },
			    { 70, EVENT_STREAM_SLICE, 5, { 9999, 1, 8888, 1, 2 } },
			    { 80, EVENT_SNAPSHOT, 4, { NPU, 1, 1, 1 } });
		make_block(&m, BLOCK_PROCESS, "\1\0\0\0\0\0\0\0\"\xff\n", 11, 0);
		make_block(&m, BLOCK_SAMPLES, &(process_sample){ .pid = 1 }, sizeof(process_sample), 0);
		sonde_trace *t = make_trace(&m);
		char *text = export_of(t);
		if (!is_json(text))
			fail_msg("case %d: %s", (int)i, text);
		if (!strstr(text, cases[i].written))
			fail_msg("case %d: no %s in %s", (int)i, cases[i].written, text);
		free(text);
		sonde_trace_free(t);
		make_done(&m);
	}
}

static void an_unknown_format_is_refused(void **state)
{
	maker m = { 0 };
	sonde_error err;

	(void)state;
	make_start(&m);
	sonde_trace *t = make_trace(&m);
	assert_int_equal(sonde_export(t, "papyrus", stdout, &err), SONDE_E_USAGE);
	assert_string_equal(err.message, "unknown export format \"papyrus\"");
	sonde_trace_free(t);
	make_done(&m);
}

static void without_arguments_steps_keep_their_numbers(void **state)
{
	maker m = { 0 };
	sonde_export_options options = { .struct_size = sizeof options,
					 .settings = &(sonde_setting){ "args", "no" },
					 .n_settings = 1 };
	char *text;
	size_t len;

	(void)state;
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, STEP, 1, { 7 } },
		    { 20, A, 7, { 5, 3, make_text("f32"), 2, 64, 128, make_double(0.5) } }, { 30, END | A },
		    { 40, END | STEP });
	sonde_trace *t = make_trace(&m);
	options.out = open_memstream(&text, &len);
	assert_int_equal(sonde_export_to(t, &options, NULL), SONDE_OK);
	fclose(options.out);
	assert_non_null(strstr(text, "\"args\": {\"step\": 7}"));
	assert_null(strstr(text, "\"n\""));
	free(text);
	text = export_of(t);
	assert_non_null(strstr(text, "\"n\": 5"));
	free(text);
	sonde_trace_free(t);
	make_done(&m);
}

static void a_full_disk_is_an_error(void **state)
{
	maker m = { 0 };
	FILE *full = fopen("/dev/full", "w");
	sonde_error err;

	(void)state;
	if (!full)
		skip();
	make_names(&m);
	MAKE_EVENTS(&m, 1, { 10, A }, { 20, END | A });
	sonde_trace *t = make_trace(&m);
	assert_int_equal(sonde_export(t, "chrome", full, &err), SONDE_E_IO);
	fclose(full);
	sonde_trace_free(t);
	make_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_steps_and_phases_are_complete_events),
		cmocka_unit_test(what_need_not_nest_is_async),
		cmocka_unit_test(numbers_of_operations_and_arguments_of_marks_are_there),
		cmocka_unit_test(marks_counters_flows_and_memory_are_there),
		cmocka_unit_test(devices_are_processes_with_their_queues),
		cmocka_unit_test(two_processes_do_not_share_operations),
		cmocka_unit_test(the_validator_knows_json),
		cmocka_unit_test(hostile_names_stay_inside_their_strings),
		cmocka_unit_test(an_unknown_format_is_refused),
		cmocka_unit_test(without_arguments_steps_keep_their_numbers),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
