/*
 * A training loop: operators in each other with their shapes, each third one launches a kernel, with an arrow from the
 * call to the kernel; now and then an allocation and a step. The layout, down to the white space, is that of Kineto.
 */
#include "common/kineto.h"

#include <stdint.h>
#include <stdio.h>

enum { N_OPERATORS = 200, STEP_OPERATORS = 20000 };

typedef struct writer {
	FILE *out;
	uint64_t seed;
	uint64_t ns;	 /* of the host */
	uint64_t gpu_ns; /* when the stream is free */
	size_t n_events;
	unsigned id;
} writer;

static unsigned next_random(writer *w)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(w->seed >> 33);
}

static void begin_event(writer *w)
{
	fprintf(w->out, "%s  {\n", w->n_events++ ? ",\n" : "");
}

static void put_times(writer *w, uint64_t start_ns, uint64_t dur_ns)
{
	fprintf(w->out, "    \"ts\": %llu.%03u, \"dur\": %llu.%03u,\n", (unsigned long long)(start_ns / 1000),
		(unsigned)(start_ns % 1000), (unsigned long long)(dur_ns / 1000), (unsigned)(dur_ns % 1000));
}

static void put_operator(writer *w, uint64_t start_ns, uint64_t dur_ns)
{
	unsigned r = next_random(w), op = r % N_OPERATORS;

	begin_event(w);
	fprintf(w->out,
		"    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::operator_%u\", \"pid\": 4000, \"tid\": "
		"%u,\n",
		op, 4000 + op % 2);
	put_times(w, start_ns, dur_ns);
	fprintf(w->out,
		"    \"args\": {\n      \"External id\": %u,\"Record function id\": 0, \"Concrete Inputs\": [\"\", "
		"\"[%u]\", \"\"], "
		"\"Input type\": [\"float\", \"ScalarList\", \"\"], \"Input Strides\": [[%u, 1], [], []], "
		"\"Input Dims\": [[%u, %u], [], []], \"Ev Idx\": %u\n    }\n  }",
		w->id, r / 7 % 16, 64u << r % 5, 1u << r % 9, 64u << r % 5, w->id);
	w->id++;
}

static void put_flow(writer *w, char phase, unsigned pid, unsigned tid, uint64_t ns)
{
	begin_event(w);
	fprintf(w->out,
		"    \"ph\": \"%c\", \"id\": %u, \"pid\": %u, \"tid\": %u, \"ts\": %llu.%03u,\n    \"cat\": \"ac2g\", "
		"\"name\": \"ac2g\"%s\n  }",
		phase, w->id, pid, tid, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000),
		phase == 'f' ? ", \"bp\": \"e\"" : "");
}

static void put_launch(writer *w, uint64_t start_ns)
{
	unsigned r = next_random(w), kernel = r % 60;
	uint64_t dur_ns = 1500 + r % 60000;

	begin_event(w);
	fprintf(w->out, "    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4000, "
			"\"tid\": 4000,\n");
	put_times(w, start_ns, 2000 + r % 3000);
	fprintf(w->out, "    \"args\": {\n      \"External id\": %u, \"cbid\": 211, \"correlation\": %u\n    }\n  }",
		w->id - 1, w->id);
	put_flow(w, 's', 4000, 4000, start_ns);
	if (w->gpu_ns < start_ns + 4000)
		w->gpu_ns = start_ns + 4000;
	begin_event(w);
	fprintf(w->out,
		"    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
		"at::native::vectorized_elementwise_kernel<%u, "
		"at::native::Functor_%u<float>, std::array<char*, 3ul> >(int, at::native::Functor_%u<float>, "
		"std::array<char*, 3ul>)\", "
		"\"pid\": 0, \"tid\": 7,\n",
		4u << kernel % 2, kernel, kernel);
	put_times(w, w->gpu_ns, dur_ns);
	fprintf(w->out,
		"    \"args\": {\n      \"External id\": %u, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": "
		"7, \"correlation\": %u, "
		"\"registers per thread\": %u, \"shared memory\": 0, \"blocks per SM\": %u.%u, \"warps per SM\": %u, "
		"\"grid\": [%u, 1, 1], \"block\": [%u, 1, 1], \"est. achieved occupancy %%\": %u\n    }\n  }",
		w->id - 1, w->id, 16 + kernel % 40, r % 40, r / 64 % 100, r % 160, 1 + r % 4096, 32u << r % 5, r % 100);
	put_flow(w, 'f', 0, 7, w->gpu_ns);
	w->gpu_ns += dur_ns;
}

static void put_memory(writer *w)
{
	unsigned r = next_random(w);

	begin_event(w);
	fprintf(w->out,
		"    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    "
		"\"pid\": 4000, \"tid\": 4000,\n"
		"    \"ts\": %llu.%03u,\n    \"args\": {\n      \"Total Reserved\": 1073741824, \"Total Allocated\": "
		"%u, \"Bytes\": %d, "
		"\"Addr\": %llu, \"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": %u\n    }\n  }",
		(unsigned long long)(w->ns / 1000), (unsigned)(w->ns % 1000), r,
		(int)(r % 100000) * (r & 1 ? 512 : -512), 140000000000000ull + r * 512ull, w->id);
}

static void put_step(writer *w, unsigned step)
{
	begin_event(w);
	fprintf(w->out,
		"    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%u\", \"pid\": 4000, "
		"\"tid\": 4000,\n",
		step);
	put_times(w, w->ns, STEP_OPERATORS * UINT64_C(15000));
	fprintf(w->out, "    \"args\": {\n      \"External id\": %u, \"Ev Idx\": %u\n    }\n  }", w->id, w->id);
	w->id++;
}

bool kineto_write(const char *path, size_t n_events)
{
	writer w = { .out = fopen(path, "w"), .seed = 1, .ns = 7000000000, .id = 1 };

	if (!w.out)
		return false;
	fprintf(w.out, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": "
		       "\"GPU\"\n    }\n  ],\n"
		       "  \"baseTimeNanoseconds\": 1751410836000000000,\n  \"traceEvents\": [\n");
	for (unsigned i = 0; w.n_events < n_events; i++, w.ns += 15000) {
		if (i % STEP_OPERATORS == 0)
			put_step(&w, i / STEP_OPERATORS);
		put_operator(&w, w.ns, 14000);
		put_operator(&w, w.ns + 500, 12000);
		put_operator(&w, w.ns + 1000, 9000);
		put_launch(&w, w.ns + 2000);
		if (i % 7 == 0)
			put_memory(&w);
	}
	fprintf(w.out, "\n  ],\n  \"traceName\": \"bench.json\",\n  \"displayTimeUnit\": \"ms\"\n}\n");
	bool ok = !ferror(w.out);
	return fclose(w.out) == 0 && ok;
}
