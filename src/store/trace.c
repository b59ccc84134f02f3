/* See trace.h. */
#include "store/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "store/index/facts.h"

static bool add_threads(sonde_trace *t)
{
	size_t n;
	const index_track *tracks = index_tracks(t->index, &n);

	for (size_t i = 0; i < n; i++) {
		trace_thread *thread = VEC_ADD(&t->threads);
		if (!thread)
			return false;
		thread->number = (uint32_t)i;
		thread->tid = (uint32_t)tracks[i].id;
		thread->name = index_text(t->index, tracks[i].name);
	}
	return true;
}

static uint64_t count_events(const sonde_index *ix)
{
	static const index_kind tables[] = { SECTION_INSTANTS, SECTION_FLOWS, SECTION_ALLOCATIONS, SECTION_VALUES,
					     SECTION_SAMPLES };
	uint64_t n = index_n_slices(ix);

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		n += index_n_rows(ix, tables[i]);
	return n;
}

static sonde_status use_index(sonde_trace *t, sonde_index *index, sonde_error *err)
{
	t->index = index;
	t->start_ns = trace_bounded_ns(index_start_ns(index));
	t->end_ns = trace_bounded_ns(index_end_ns(index));
	if (t->end_ns < t->start_ns)
		t->end_ns = t->start_ns;
	if (!add_threads(t))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	t->n_events = count_events(index);
	t->is_recorded = trace_meta_value(t, FACT_WRITER) != NULL;
	return SONDE_OK;
}

sonde_status trace_of_index(sonde_index *index, sonde_trace **ret_trace, sonde_error *err)
{
	sonde_trace *t = calloc(1, sizeof *t);

	if (!t) {
		index_free(index);
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	}
	sonde_status status = use_index(t, index, err);
	if (status)
		sonde_trace_free(t);
	else
		*ret_trace = t;
	return status;
}

bool trace_add_file(sonde_trace *t, const char *path, size_t len)
{
	trace_file *f = VEC_ADD(&t->files);

	if (f)
		*f = (trace_file){ .path = path ? arena_strdup(&t->arena, path) : NULL, .len = len };
	return f && (f->path || !path);
}

sonde_trace *trace_hold(const sonde_trace *t)
{
	sonde_trace *held = (sonde_trace *)(uintptr_t)t;

	__atomic_add_fetch(&held->n_holders, 1, __ATOMIC_RELAXED);
	return held;
}

void sonde_trace_free(sonde_trace *t)
{
	/* Pairs with itself: the last owner sees what the others did. */
	if (!t || __atomic_fetch_sub(&t->n_holders, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	index_free(t->index);
	if (t->recording) {
		VEC_DONE(&t->recording->streams);
		VEC_DONE(&t->recording->threads);
		VEC_DONE(&t->recording->blocks);
		free(t->recording);
	}
	if (t->source)
		t->free_source(t->source);
	VEC_DONE(&t->files);
	VEC_DONE(&t->threads);
	arena_done(&t->arena);
	free(t);
}

const char *trace_meta_value(const sonde_trace *t, const char *key)
{
	size_t n;
	const index_meta *metas = index_metas(t->index, &n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(index_text(t->index, metas[i].key), key) == 0)
			return index_text(t->index, metas[i].value);
	return NULL;
}

bool trace_is_broken(const sonde_trace *t)
{
	return index_is_broken(t->index) || (t->source && t->source_is_broken(t->source));
}

const char *sonde_trace_warning(const sonde_trace *trace)
{
	return trace->warning ? trace->warning : "";
}

sonde_status sonde_trace_damage(const sonde_trace *trace, sonde_error *err)
{
	return index_damage(trace->index, err);
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* As PyTorch counts them (c10/core/DeviceType.h). CUDA and HIP are both what people call a GPU. */
static const char *const device_types[] = { "cpu",  "gpu",  "mkldnn", "opengl", "opencl", "ideep", "gpu",
					    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
					    "meta", "hpu",  "ve",     "lazy",	"ipu",	  "mtia",  "device" };
enum { N_DEVICE_TYPES = sizeof device_types / sizeof device_types[0] };

uint32_t trace_device_of(const sonde_trace *t, const int64_t *allocation)
{
	size_t n_sites;
	const index_site *sites = index_sites(t->index, &n_sites);
	uint64_t site = (uint64_t)allocation[ALLOCATION_SITE];
	int64_t type = allocation[ALLOCATION_DEVICE_TYPE], device = allocation[ALLOCATION_DEVICE];

	if (site < n_sites && sites[site].kind == NAME_DEVICE)
		return TRACE_DEVICE_NAMED | sites[site].name;
	type = type < 0 || type >= N_DEVICE_TYPES ? N_DEVICE_TYPES - 1 : type;
	device = device < 0 || device >= UINT16_MAX || type == 0 ? -1 : device;
	return (uint32_t)type << 16 | (uint16_t)(device + 1);
}

const char *trace_device_name(const sonde_trace *t, uint32_t device, char *buffer, size_t size)
{
	uint32_t type = device >> 16, number = device & UINT16_MAX;

	if (device & TRACE_DEVICE_NAMED)
		return index_text(t->index, device & ~TRACE_DEVICE_NAMED);
	const char *name = device_types[type < N_DEVICE_TYPES ? type : N_DEVICE_TYPES - 1];
	if (!number)
		return name;
	snprintf(buffer, size, "%s%u", name, number - 1);
	return buffer;
}
