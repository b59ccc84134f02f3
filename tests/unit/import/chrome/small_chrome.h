/* A small trace of everything. */
#ifndef TESTS_UNIT_IMPORT_SMALL_CHROME_H
#define TESTS_UNIT_IMPORT_SMALL_CHROME_H

#include <stddef.h>
#include <stdio.h>

static const char small_head[] = "{\n\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\"}],\n"
				 "\"baseTimeNanoseconds\": 1700000000000000000,\n\"traceEvents\": [\n";
static const char small_tail[] = "\n],\n\"traceName\": \"t.json\", \"displayTimeUnit\": \"ms\"\n}\n";

/* Most of them twice, so that the matcher has something to do. */
static const char *const small_events[] = {
	"{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0.5, \"pid\": 7, \"tid\": 0, \"args\": {\"name\": "
	"\"python\"}}",
	"{\"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 0.5, \"pid\": 7, \"tid\": 8, \"args\": {\"name\": \"main "
	"\\u00e9\"}}",
	"{\n  \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 8,\n  \"ts\": 10.125, "
	"\"dur\": 50.5,\n"
	"  \"args\": {\n    \"External id\": 5, \"Input Dims\": [[2, 3], []], \"Stack\": [{\"name\": \"f\"}, "
	"{\"name\": \"g\"}]\n  }\n}",
	"{\n  \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 7, \"tid\": 8,\n  \"ts\": 20.125, "
	"\"dur\": 5,\n"
	"  \"args\": {\n    \"External id\": 6, \"Input Dims\": [[2]], \"Stack\": []\n  }\n}",
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 7, \"tid\": 8, \"ts\": "
	"21, \"dur\": 2, \"args\": {\"correlation\": 9}}",
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void k<float>(\\\"a\\\")\", \"pid\": 0, \"tid\": 7, \"ts\": "
	"30, \"dur\": 4.5, "
	"\"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 9, \"occupancy\": 0.5}}",
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k2\", \"pid\": 0, \"tid\": 7, \"ts\": 33, \"dur\": 4.5, "
	"\"args\": {\"device\": 0, \"stream\": 7, \"correlation\": 10, \"occupancy\": 1}}",
	"{\"ph\": \"s\", \"id\": 9, \"pid\": 7, \"tid\": 8, \"ts\": 21, \"cat\": \"ac2g\", \"name\": \"ac2g\"}",
	"{\"ph\": \"f\", \"id\": 9, \"pid\": 0, \"tid\": 7, \"ts\": 30, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": "
	"\"e\"}",
	"{\"ph\":\"B\",\"name\":\"outer\",\"pid\":7,\"tid\":9,\"ts\":\"11\"}",
	"{\"ph\":\"B\",\"name\":\"inner\",\"pid\":7,\"tid\":9,\"ts\":\"12\"}",
	"{\"ph\":\"E\",\"pid\":7,\"tid\":9,\"ts\":13,\"tts\":5}",
	"{\"ph\":\"E\",\"pid\":7,\"tid\":9,\"ts\":14,\"tts\":6}",
	"{\"ph\":\"b\",\"cat\":\"io\",\"id\":\"0x1\",\"name\":\"read\",\"pid\":7,\"ts\":15}",
	"{\"ph\":\"e\",\"cat\":\"io\",\"id\":\"0x1\",\"name\":\"read\",\"pid\":7,\"ts\":16}",
	"{\"ph\":\"C\",\"name\":\"mem\",\"pid\":7,\"ts\":17,\"args\":{\"a\":5,\"b\":2.5}}",
	"{\"ph\":\"C\",\"name\":\"mem\",\"pid\":7,\"ts\":18,\"args\":{\"a\":6,\"b\":3.5}}",
	"{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7,\"tid\":8,\"ts\":19,\"args\":{\"Bytes\":-64,"
	"\"Addr\":1234,\"Device Type\":0,\"Device Id\":-1}}",
	"{\"ph\":\"i\",\"s\":\"g\",\"name\":\"mark\",\"pid\":7,\"tid\":8,\"ts\":19.5}",
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#3\",\"pid\":7,\"tid\":8,\"ts\":9,\"dur\":"
	"70}",
};
enum { N_EVENTS = sizeof small_events / sizeof small_events[0] };

typedef struct small_trace {
	char text[4096];
	size_t len, list; /* where the list begins */
	size_t start[N_EVENTS], end[N_EVENTS];
} small_trace;

static inline small_trace make_small(void)
{
	small_trace t = { 0 };

	t.len = t.list = (size_t)sprintf(t.text, "%s", small_head);
	for (size_t i = 0; i < N_EVENTS; i++) {
		t.len += (size_t)sprintf(t.text + t.len, "%s", i ? ",\n" : "");
		t.start[i] = t.len;
		t.len += (size_t)sprintf(t.text + t.len, "%s", small_events[i]);
		t.end[i] = t.len;
	}
	t.len += (size_t)sprintf(t.text + t.len, "%s", small_tail);
	return t;
}

#endif
