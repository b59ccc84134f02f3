/*
 * A trace whose events are in an index: its tracks are the trace's threads, in the same order, so that what reads
 * recordings reads it too.
 */
#include <stdio.h>
#include "base/error.h"
#include "store/trace.h"

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

/* So many events are there: what an importer says it read, less what it lost. */
static void count_events(sonde_trace *t)
{
	static const index_kind tables[] = { SECTION_INSTANTS, SECTION_FLOWS, SECTION_ALLOCATIONS, SECTION_VALUES,
					     SECTION_SAMPLES };
	size_t n;
	const index_diagnostic *d = index_diagnostics(t->index, &n);

	t->diagnostics.n_kept = index_n_slices(t->index);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		t->diagnostics.n_kept += index_n_rows(t->index, tables[i]);
	for (size_t i = 0; i < n; i++)
		if (d[i].lost)
			t->diagnostics.n_lost_import += d[i].count;
		else
			t->diagnostics.n_repaired_import += d[i].count;
}

static sonde_status use_index(sonde_trace *t, sonde_index *index, sonde_error *err)
{
	t->index = index;
	t->diagnostics.first_damage = -1;
	t->start_ns = trace_bounded_ns(index_start_ns(index));
	t->end_ns = trace_bounded_ns(index_end_ns(index));
	if (t->end_ns < t->start_ns)
		t->end_ns = t->start_ns;
	if (!add_threads(t))
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	count_events(t);
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

sonde_status sonde_trace_damage(const sonde_trace *trace, sonde_error *err)
{
	return trace->index ? index_damage(trace->index, err) : SONDE_OK;
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

/* As PyTorch counts them (c10/core/DeviceType.h). CUDA and HIP are both what people call a GPU. */
static const char *const device_types[] = { "cpu",  "gpu",  "mkldnn", "opengl", "opencl", "ideep", "gpu",
					    "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
					    "meta", "hpu",  "ve",     "lazy",	"ipu",	  "mtia",  "device" };
enum { N_DEVICE_TYPES = sizeof device_types / sizeof device_types[0] };

uint32_t trace_index_device(const sonde_trace *t, const int64_t *allocation)
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

const char *trace_index_device_name(const sonde_trace *t, uint32_t device, char *buffer, size_t size)
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
