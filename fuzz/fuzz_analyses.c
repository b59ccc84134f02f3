/*
 * A hostile trace, made from the bytes, and every analysis of it by name; then two such traces compared.
 *
 * Random JSON would hardly ever have a launch, a kernel and a step that belong together, so the bytes are not the text
 * but say what to write: eight bytes are an event or many alike. Times go up to the last nanosecond that 64 bits hold,
 * numbers of correlations and of sequences come twice, slices lie inside each other or on one instant.
 *
 *   byte 0    the selection, byte 1 whose definitions and the output format
 *   8 bytes   what, where, when, its number, how long, which arguments, how often, how the copies differ
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sonde/compare.h>
#include "import/importer.h"
#include "look.h"
#include "store/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENT_BYTES = 8, MAX_TRACE_EVENTS = 1500, MAX_RANKS = 3 };

typedef struct event_kind {
	const char *name, *category;
	bool on_stream;
} event_kind;

static const event_kind kinds[] = {
	{ "ProfilerStep#1", "user_annotation", false },
	{ "ProfilerStep#2", "user_annotation", false },
	{ "ProfilerStep#9223372036854775807", "user_annotation", false },
	{ "ProfilerStep#3", "gpu_user_annotation", true },
	{ "aten::mm", "cpu_op", false },
	{ "aten::convolution", "cpu_op", false },
	{ "aten::item", "cpu_op", false },
	{ "autograd::engine::evaluate_function: MmBackward0", "cpu_op", false },
	{ "MmBackward0", "cpu_op", false },
	{ "record_param_comms", "cpu_op", false },
	{ "gloo:all_reduce", "user_annotation", false },
	{ "Optimizer.step#SGD.step", "user_annotation", false },
	{ "Optimizer.zero_grad#SGD.zero_grad", "user_annotation", false },
	{ "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation", false },
	{ "Torch-Compiled Region: 0/1", "cpu_op", false },
	{ "nn.Module: Linear_0", "python_function", false },
	{ "torch/utils/checkpoint.py(100): recompute_fn", "python_function", false },
	{ "<built-in method item of Tensor object>", "python_function", false },
	{ "cudaLaunchKernel", "cuda_runtime", false },
	{ "cudaMemcpyAsync", "cuda_runtime", false },
	{ "cudaGraphLaunch", "cuda_runtime", false },
	{ "cudaStreamSynchronize", "cuda_runtime", false },
	{ "cudaStreamWaitEvent", "cuda_runtime", false },
	{ "cudaEventRecord", "cuda_runtime", false },
	{ "cudaMalloc", "cuda_runtime", false },
	{ "hipLaunchKernel", "cuda_runtime", false },
	{ "Event Sync", "cuda_sync", true },
	{ "Context Sync", "cuda_sync", true },
	{ "Stream Wait Event", "cuda_sync", true },
	{ "ampere_sgemm_128x64_nn", "kernel", true },
	{ "void at::native::elementwise_kernel<128>", "kernel", true },
	{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", true },
	{ "ncclKernel_AllToAll", "kernel", true },
	{ "triton_poi_fused_add_0", "kernel", true },
	{ "Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", true },
	{ "Memset (Device)", "gpu_memset", true },
	{ "[memory]", "cpu_instant_event", false },
	{ "forward", "gpu_user_annotation", true },
	{ "cupti counters", "cuda_profiler_range", true },
	{ "overhead", "overhead", false },
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- The text ---------------------------------------------------------------------------------------------------- */

typedef struct text {
	char *bytes;
	size_t n, size;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
	va_list args;

	if (t->size - t->n < 1000 && !(t->bytes = realloc(t->bytes, t->size = 2 * t->size + 4096)))
		abort();
	va_start(args, format);
	t->n += (size_t)vsnprintf(t->bytes + t->n, t->size - t->n, format, args);
	va_end(args);
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? b < 0 ? INT64_MIN : INT64_MAX : sum;
}

/* Microseconds with three decimals, as Kineto writes them, up to both ends of 64 bits of nanoseconds. */
static void put_time(text *t, const char *key, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	put(t, ", \"%s\": %s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "", size / 1000, (unsigned)(size % 1000));
}

/* Sixteen sizes of time: a few nanoseconds to all there is. */
static int64_t time_of(uint8_t code, uint8_t value)
{
	static const int64_t units[] = {
		0, 1, 1000, 50000, 1000000, INT64_C(1) << 40, INT64_C(1) << 55, INT64_MAX / 255
	};
	int64_t ns = units[code & 7] * value;

	return code & 8 ? INT64_MAX - ns : ns;
}

static void put_collective(text *t, unsigned number)
{
	static const char *const names[] = { "allreduce", "all_to_allv", "_allgather_base", "send" };

	put(t, ", \"Collective name\": \"%s\", \"In msg nelems\": %s, \"Out msg nelems\": %u, \"Group size\": %u",
	    names[number & 3], number & 4 ? "9223372036854775807" : "1024", number, number & 7);
	put(t, ", \"dtype\": \"Float\", \"Process Group Name\": \"%u\", \"Seq\": %u", number & 1, number >> 4);
	put(t, ", \"In split size\": \"[%u, -1, 9223372036854775807]\", \"Out split size\": \"[0, 4]\"", number);
}

static void put_launch_shape(text *t, unsigned number)
{
	put(t, ", \"grid\": [%u, 2147483647, %u], \"block\": [%u, 1, 1], \"registers per thread\": %u", number, number,
	    number, number);
	put(t, ", \"blocks per SM\": %s, \"est. achieved occupancy %%\": %u, \"shared memory\": %u",
	    number & 1 ? "1e300" : "0.5", number, number);
	put(t, ", \"memory bandwidth (GB/s)\": %s, \"bytes\": %s", number & 2 ? "1e308" : "12.5",
	    number & 4 ? "9223372036854775807" : "4096");
	put(t, ", \"smsp__inst_executed.sum\": %s", number & 8 ? "1.7e308" : "77");
}

static void put_args(text *t, const event_kind *kind, uint8_t which, unsigned number, int64_t bytes, unsigned stream)
{
	put(t, ", \"args\": {\"n\": %u", number);
	if (which & 1)
		put(t, ", \"correlation\": %u", number);
	if (which & 2)
		put(t, ", \"External id\": %u, \"Sequence number\": %u, \"Fwd thread id\": 1", number, number & 7);
	if (which & 4)
		put(t, ", \"stream\": %u, \"device\": 0", stream);
	if (which & 8)
		put(t,
		    ", \"Input Dims\": [[%u, 9223372036854775807], [4096, %u], []], \"Input type\": [\"float\", \"\"], "
		    "\"Concrete Inputs\": [\"\", \"[1]\"], \"Call stack\": \"a.py(1): f;b.py(2): g\"",
		    number, number);
	if (which & 16)
		put_collective(t, number);
	if (which & 32)
		put_launch_shape(t, number);
	if (which & 64)
		put(t, ", \"Python id\": %u, \"Python parent id\": %u, \"Python module id\": 0", number, number / 2);
	if (which & 128)
		put(t, ", \"wait_on_stream\": %u, \"wait_on_cuda_event_record_corr_id\": %u", number & 3, number / 2);
	if (kind->name[0] == '[')
		put(t,
		    ", \"Device Type\": %u, \"Device Id\": 0, \"Addr\": %u, \"Bytes\": %" PRId64
		    ", \"Total Allocated\": %" PRId64 ", \"Total Reserved\": %" PRId64,
		    stream & 1, number, bytes, bytes, bytes);
	put(t, "}");
}

typedef struct writer {
	text out[MAX_RANKS];
	size_t n_events;
	int64_t now;
} writer;

static void put_event(writer *w, const uint8_t *e, size_t copy)
{
	const event_kind *kind = &kinds[e[0] % N_KINDS];
	text *t = &w->out[(e[1] >> 5) % MAX_RANKS];
	unsigned place = e[1] & 31, number = e[3] + (e[7] & 1 ? (unsigned)copy : 0);
	int64_t start = w->now, dur = time_of(e[4] & 15, e[3]);
	int64_t apart = e[7] & 2 ? (int64_t)copy * (1 + (e[4] >> 4)) : 0;
	char more[32] = "";

	if (e[7] & 4) /* one inside the other */
		dur = plus(dur, -2 * apart);
	if (e[7] & 8) /* each begins before the last one ends, and ends behind it */
		dur = plus(dur, apart);
	if (e[7] & 16)
		snprintf(more, sizeof more, "#%zu", copy);
	if (e[7] & 32)
		place = (unsigned)copy;
	put(t, "%s\n{\"ph\": \"%c\", \"name\": \"%s%s\", \"cat\": \"%s\", \"pid\": %d, \"tid\": %u", t->n ? "," : "",
	    kind->name[0] == '[' ? 'i' : 'X', kind->name, more, kind->category, kind->on_stream ? 0 : 100, place);
	put_time(t, "ts", plus(start, apart));
	if (kind->name[0] != '[')
		put_time(t, "dur", dur < 0 && !(e[7] & 64) ? 0 : dur);
	put_args(t, kind, e[5], number, e[7] & 128 ? -dur : dur, place);
	put(t, "}");
}

static void put_events(writer *w, const uint8_t *e)
{
	static const size_t times[] = { 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 5, 8, 20, 60, 200, 1100 };
	size_t n = times[e[6] & 15];

	/* The upper half of byte 6 says where it begins: mostly a bit later, sometimes somewhere. */
	switch (e[6] >> 4) {
	case 15:
		w->now = time_of(e[2] & 15, e[2]);
		break;
	case 14:
		w->now = -time_of(e[2] & 15, e[2]);
		break;
	default:
		w->now = plus(w->now, time_of(e[6] >> 5, e[2]));
	}
	for (size_t i = 0; i < n && w->n_events < MAX_TRACE_EVENTS; i++, w->n_events++)
		put_event(w, e, i);
}

/* ---- The trace --------------------------------------------------------------------------------------------------- */

static bool import_rank(builder *b, uint32_t number, const text *t)
{
	sonde_error err;
	input *in;
	text whole = { 0 };

	put(&whole,
	    "{\"distributedInfo\": {\"rank\": %u, \"world_size\": %d}, \"deviceProperties\": [{\"id\": 0, "
	    "\"name\": \"A100\", \"numSms\": %u, \"totalGlobalMem\": 1000, \"warpSize\": 32}], \"traceEvents\": [",
	    number, MAX_RANKS, number);
	if (!(whole.bytes = realloc(whole.bytes, whole.size = whole.n + t->n + 1000)))
		abort();
	if (t->n)
		memcpy(whole.bytes + whole.n, t->bytes, t->n);
	whole.n += t->n;
	put(&whole, "]}");
	if (input_open_memory((const uint8_t *)whole.bytes, whole.n, &in))
		abort();
	import_job job = { .in = in, .builder = b, .file = "fuzz", .file_number = number, .n_threads = 1, .rank = -1 };
	bool ok = !chrome_importer.run(&job, &err);
	if (ok)
		builder_file_rank(b, number, (int32_t)number);
	input_close(in);
	free(whole.bytes);
	return ok;
}

/* NULL: the importer refused it. */
static sonde_trace *make_trace(const uint8_t *data, size_t size)
{
	builder *b = builder_new(&(builder_options){ .n_threads = 1 });
	writer w = { .now = 1000000 };
	sonde_trace *trace = NULL;
	sonde_index *ix = NULL;
	bool ok = true;

	if (!b)
		abort();
	for (; size >= EVENT_BYTES; data += EVENT_BYTES, size -= EVENT_BYTES)
		put_events(&w, data);
	for (uint32_t i = 0; i < MAX_RANKS; i++) {
		ok = ok && (!w.out[i].n || import_rank(b, i, &w.out[i]));
		free(w.out[i].bytes);
	}
	if (ok && !builder_finish(b, &ix, NULL) && trace_of_index(ix, &trace, NULL))
		abort();
	builder_free(b);
	return trace;
}

/* ---- Everything that can be asked -------------------------------------------------------------------------------- */

static void analyze(const sonde_trace *trace, const char *name, const sonde_analyze_options *options, unsigned format)
{
	sonde_result *result;
	sonde_error err;

	if (sonde_analyze(trace, name, options, &result, &err))
		return;
	print(result, format);
	sonde_result_free(result);
}

static void analyze_all(const sonde_trace *trace, uint8_t choice, unsigned format)
{
	static const char *const compats[] = { NULL, "hta", "hta-noround", "tracelens" };
	sonde_analyze_options options = { .struct_size = sizeof options,
					  .use_steps = choice & 1,
					  .first_step = 1,
					  .last_step = choice & 2 ? INT64_MAX : 2,
					  .use_time = choice & 4,
					  .from_ns = choice & 8 ? INT64_MIN : 1000,
					  .to_ns = choice & 16 ? INT64_MAX : INT64_C(1) << 40,
					  .ranks = choice & 32 ? "0-1" : NULL,
					  .warmup = choice & 64 ? "1" : NULL,
					  .tree = choice & 128,
					  .top = choice & 64 ? 3 : 0,
					  .compat = compats[format % 4] };
	const char *name, *summary;

	for (size_t i = 0; sonde_analysis(i, &name, &summary); i++)
		analyze(trace, name, &options, format / 4 + (unsigned)i);
}

static void compare_all(const sonde_trace *const *traces, unsigned format)
{
	sonde_analyze_options hta = { .struct_size = sizeof hta, .compat = "hta" };
	sonde_compare_options options = { .struct_size = sizeof options,
					  .fail_above = 0.05,
					  .by = format % 4 == 3 ? "tree" : NULL,
					  .select = format % 4 == 1 ? &hta : NULL };
	sonde_result *result;

	if (sonde_compare(traces, 2, &options, &result, NULL))
		return;
	print(result, format / 4);
	sonde_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > 4096)
		return 0;
	size_t half = (size - 2) / 2 / EVENT_BYTES * EVENT_BYTES;
	sonde_trace *trace = make_trace(data + 2, size - 2), *other = half ? make_trace(data + 2, half) : NULL;
	const sonde_trace *both[] = { trace, other };
	if (trace) {
		analyze_all(trace, data[0], data[1]);
		look(trace, data[1]);
	}
	if (trace && other)
		compare_all(both, data[1]);
	sonde_trace_free(trace);
	sonde_trace_free(other);
	return 0;
}
