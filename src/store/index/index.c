/*
 * Opening an index: header, directory, and whatever other numbers lead to; then the tables as they lie. See
 * index/sections.h.
 *
 * What is checked here is what takes no time: sections lie inside the image and have the size that their rows need;
 * lanes, tracks, processes, steps and counters refer to what is there. Blocks, strings and summaries are checked when
 * they are used.
 */
#include "store/index/index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "format/recording/file.h"
#include "store/index/image.h"
#include "base/mapping.h"

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

typedef enum section_shape {
	SHAPE_ROWS,    /* n_rows of `size` */
	SHAPE_OFFSETS, /* n_rows + 1 of them; none when there is no row */
	SHAPE_BYTES,
} section_shape;

static const struct {
	section_shape shape;
	size_t size;
} shapes[SECTION_KINDS] = {
	[SECTION_COARSE] = { SHAPE_ROWS, sizeof(index_summary) },
	[SECTION_LANES] = { SHAPE_ROWS, sizeof(index_lane) },
	[SECTION_TRACKS] = { SHAPE_ROWS, sizeof(index_track) },
	[SECTION_PROCESSES] = { SHAPE_ROWS, sizeof(index_process) },
	[SECTION_SITES] = { SHAPE_ROWS, sizeof(index_site) },
	[SECTION_STRINGS] = { SHAPE_OFFSETS, 0 },
	[SECTION_STRING_BYTES] = { SHAPE_BYTES, 0 },
	[SECTION_META] = { SHAPE_ROWS, sizeof(index_meta) },
	[SECTION_DIAGNOSTICS] = { SHAPE_ROWS, sizeof(index_diagnostic) },
	[SECTION_STEPS] = { SHAPE_ROWS, sizeof(index_step) },
	[SECTION_FINE] = { SHAPE_ROWS, sizeof(index_summary) },
	[SECTION_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_SLICES] = { SHAPE_BYTES, 0 },
	[SECTION_INSTANT_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_INSTANTS] = { SHAPE_BYTES, 0 },
	[SECTION_FLOW_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_FLOWS] = { SHAPE_BYTES, 0 },
	[SECTION_LAUNCH_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_LAUNCHES] = { SHAPE_BYTES, 0 },
	[SECTION_ALLOCATION_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_ALLOCATIONS] = { SHAPE_BYTES, 0 },
	[SECTION_COUNTERS] = { SHAPE_ROWS, sizeof(index_counter) },
	[SECTION_VALUE_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_VALUES] = { SHAPE_BYTES, 0 },
	[SECTION_SAMPLE_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_SAMPLES] = { SHAPE_BYTES, 0 },
	[SECTION_MESSAGES] = { SHAPE_ROWS, sizeof(index_message) },
	[SECTION_COLLECTIVE_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_COLLECTIVES] = { SHAPE_BYTES, 0 },
	[SECTION_DEVICES] = { SHAPE_ROWS, sizeof(index_device) },
	[SECTION_ROLES] = { SHAPE_ROWS, sizeof(index_role) },
	[SECTION_TEMPLATES] = { SHAPE_BYTES, 0 },
	[SECTION_ARG_TEXTS] = { SHAPE_OFFSETS, 0 },
	[SECTION_ARG_TEXT_BYTES] = { SHAPE_BYTES, 0 },
	[SECTION_ARG_BLOCKS] = { SHAPE_OFFSETS, 0 },
	[SECTION_ARGS] = { SHAPE_BYTES, 0 },
	[SECTION_PAGE_CRCS] = { SHAPE_ROWS, sizeof(uint32_t) },
};

static bool size_fits(const index_section *s)
{
	if (shapes[s->kind].shape == SHAPE_ROWS)
		return s->length % shapes[s->kind].size == 0 && s->length / shapes[s->kind].size == s->n_rows;
	if (shapes[s->kind].shape == SHAPE_OFFSETS)
		return (s->n_rows == 0 && s->length == 0) ||
		       (s->length % 8 == 0 && s->length >= 8 && s->length / 8 - 1 == s->n_rows);
	return true;
}

static sonde_status read_header(const uint8_t *bytes, size_t len, index_header *ret_header, sonde_error *err)
{
	index_header h;

	if ((uintptr_t)bytes % 8 != 0)
		return error_set(err, SONDE_E_FORMAT, 0, "the index is not aligned to 8 bytes");
	if (len < sizeof h)
		return error_set(err, SONDE_E_TRUNCATED, 0, "the index is truncated in its header: %zu of %zu bytes",
				 len, sizeof h);
	memcpy(&h, bytes, sizeof h);
	if (h.magic != INDEX_MAGIC)
		return error_set(err, SONDE_E_FORMAT, 0, "not an index of Sonde");
	if (h.version > INDEX_VERSION)
		return error_set(err, SONDE_E_VERSION, 0, "written by a newer Sonde (index version %" PRIu32 ")",
				 h.version);
	if (h.version == 0 || h.header_crc != crc32c(0, &h, offsetof(index_header, header_crc)))
		return error_set(err, SONDE_E_FORMAT, 0, "the index's header is damaged");
	if (h.version < INDEX_VERSION)
		return error_set(err, SONDE_E_VERSION, 0,
				 "written by an older Sonde (index version %" PRIu32 "): import the trace again",
				 h.version);
	if (h.length > len)
		return error_set(err, SONDE_E_TRUNCATED, (int64_t)len,
				 "the index is truncated: %zu of %" PRIu64 " bytes", len, h.length);
	if (h.length < sizeof h + INDEX_PAD || h.start_ns > h.end_ns ||
	    (uint64_t)h.end_ns - (uint64_t)h.start_ns > INT64_MAX)
		return error_set(err, SONDE_E_FORMAT, 0, "the index's header is damaged");
	*ret_header = h;
	return SONDE_OK;
}

static sonde_status add_section(sonde_index *ix, const index_section *s, sonde_error *err)
{
	uint64_t room = ix->len - INDEX_PAD;

	if (s->kind >= SECTION_KINDS)
		return SONDE_OK; /* of a later Sonde that says older ones can do without it */
	if (ix->data[s->kind])
		return error_set(err, SONDE_E_FORMAT, -1, "the index has section %" PRIu32 " twice", s->kind);
	if (s->offset % 8 != 0 || s->offset > room || s->length > room - s->offset || !size_fits(s))
		return error_set(err, SONDE_E_FORMAT, -1, "section %" PRIu32 " of the index is damaged", s->kind);
	ix->sections[s->kind] = *s;
	ix->data[s->kind] = ix->bytes + s->offset;
	return SONDE_OK;
}

/* What is checked once must stay as it was; the rest is checked at each use. These are small. */
static const index_kind kept_kinds[] = { SECTION_LANES, SECTION_TRACKS, SECTION_PROCESSES, SECTION_STEPS,
					 SECTION_COUNTERS };
enum { N_KEPT = sizeof kept_kinds / sizeof kept_kinds[0] };

static sonde_status keep_checked(sonde_index *ix, sonde_error *err)
{
	size_t len = 0;

	for (size_t i = 0; i < N_KEPT; i++)
		len += ix->sections[kept_kinds[i]].length; /* of rows, so each begins at a multiple of 8 */
	uint8_t *to = ix->kept = malloc(len ? len : 1);
	if (!to)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	for (size_t i = 0; i < N_KEPT; i++) {
		const index_section *s = &ix->sections[kept_kinds[i]];
		if (!ix->data[kept_kinds[i]])
			continue;
		if (!image_use(ix, kept_kinds[i], 0, s->length))
			return error_set(err, SONDE_E_FORMAT, (int64_t)s->offset,
					 "the %s in the index are damaged: wrong checksum",
					 index_section_name(kept_kinds[i]));
		memcpy(to, ix->data[kept_kinds[i]], s->length);
		ix->data[kept_kinds[i]] = to;
		to += s->length;
	}
	return SONDE_OK;
}

static sonde_status read_directory(sonde_index *ix, const index_header *h, bool is_trusted, sonde_error *err)
{
	const index_section *sections = (const index_section *)(ix->bytes + sizeof *h);
	sonde_status status = SONDE_OK;

	if (h->n_sections > (ix->len - sizeof *h - INDEX_PAD) / sizeof *sections ||
	    h->directory_crc != crc32c(0, sections, h->n_sections * sizeof *sections))
		return error_set(err, SONDE_E_FORMAT, sizeof *h, "the index's directory is damaged");
	for (uint32_t i = 0; i < h->n_sections && !status; i++)
		status = add_section(ix, &sections[i], err);
	if (!status && !is_trusted)
		status = pages_open(ix, sections, h->n_sections, err);
	if (!status)
		status = keep_checked(ix, err);
	ix->lanes = ix->data[SECTION_LANES];
	ix->n_lanes = ix->sections[SECTION_LANES].n_rows;
	ix->n_sites = ix->sections[SECTION_SITES].n_rows;
	ix->n_tracks = ix->sections[SECTION_TRACKS].n_rows;
	if (!status && (ix->n_lanes >= INDEX_NONE || ix->n_sites >= INDEX_NONE || ix->n_tracks >= INDEX_NONE ||
			ix->sections[SECTION_PROCESSES].n_rows >= INDEX_NONE))
		return error_set(err, SONDE_E_FORMAT, -1, "the index has too many lanes, sites, tracks or processes");
	return status;
}

/* ---- What refers to what ----------------------------------------------------------------------------------------- */

static bool range_within(uint64_t first, uint64_t n, uint64_t all)
{
	return first <= all && n <= all - first;
}

static bool lane_fits(const sonde_index *ix, uint64_t number, uint64_t first_slice)
{
	const index_lane *lane = &ix->lanes[number];
	const index_track *tracks = ix->data[SECTION_TRACKS];
	uint64_t n_fine = 0, n = divided_up(lane->n_slices, INDEX_GROUP);

	for (; n > INDEX_COARSE; n = divided_up(n, INDEX_FAN))
		n_fine += n;
	if (lane->first_slice != first_slice || lane->track >= ix->n_tracks ||
	    lane->n_slices > ix->sections[SECTION_SLICES].n_rows - first_slice ||
	    !range_within(lane->first_block, divided_up(lane->n_slices, COLUMNS_ROWS),
			  ix->sections[SECTION_BLOCKS].n_rows) ||
	    !range_within(lane->first_fine, n_fine, ix->sections[SECTION_FINE].n_rows) ||
	    !range_within(lane->first_coarse, n, ix->sections[SECTION_COARSE].n_rows))
		return false;
	if (lane->depth && (number == 0 || lane[-1].track != lane->track || lane[-1].group != lane->group ||
			    lane[-1].depth + 1 != lane->depth))
		return false;
	const index_track *track = &tracks[lane->track];
	return number >= track->first_lane && number - track->first_lane < track->n_lanes;
}

static sonde_status check_lanes(const sonde_index *ix, sonde_error *err)
{
	uint64_t n_slices = 0;

	for (uint64_t i = 0; i < ix->n_lanes; n_slices += ix->lanes[i++].n_slices)
		if (!lane_fits(ix, i, n_slices))
			return error_set(err, SONDE_E_FORMAT, -1, "lane %" PRIu64 " of the index is damaged", i);
	if (n_slices != ix->sections[SECTION_SLICES].n_rows)
		return error_set(err, SONDE_E_FORMAT, -1,
				 "the index's lanes have %" PRIu64 " slices, but there are %" PRIu64, n_slices,
				 ix->sections[SECTION_SLICES].n_rows);
	return SONDE_OK;
}

/* Each lane lies in its own track's range; the ranges together are as long as there are lanes, so they do not overlap.
 */
static sonde_status check_tracks(const sonde_index *ix, sonde_error *err)
{
	const index_track *tracks = ix->data[SECTION_TRACKS];
	uint64_t n_lanes = 0;

	for (uint64_t i = 0; i < ix->n_tracks; i++) {
		if (tracks[i].kind >= TRACK_KINDS || tracks[i].process >= ix->sections[SECTION_PROCESSES].n_rows ||
		    !range_within(tracks[i].first_lane, tracks[i].n_lanes, ix->n_lanes))
			return error_set(err, SONDE_E_FORMAT, -1, "track %" PRIu64 " of the index is damaged", i);
		n_lanes += tracks[i].n_lanes;
	}
	if (n_lanes != ix->n_lanes)
		return error_set(err, SONDE_E_FORMAT, -1, "the index's tracks do not have its lanes");
	return SONDE_OK;
}

/* Their rows must fit the blocks that hold them. */
static sonde_status check_tables(const sonde_index *ix, sonde_error *err)
{
	static const index_kind kinds[] = { SECTION_INSTANTS, SECTION_FLOWS,   SECTION_LAUNCHES,   SECTION_ALLOCATIONS,
					    SECTION_VALUES,   SECTION_SAMPLES, SECTION_COLLECTIVES };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (divided_up(ix->sections[kinds[i]].n_rows, COLUMNS_ROWS) != ix->sections[kinds[i] - 1].n_rows)
			return error_set(err, SONDE_E_FORMAT, -1, "section %d of the index is damaged", (int)kinds[i]);
	if (divided_up(ix->sections[SECTION_ARGS].n_rows, ARGS_RECORDS) != ix->sections[SECTION_ARG_BLOCKS].n_rows ||
	    ix->sections[SECTION_ARGS].n_rows > ix->sections[SECTION_ARGS].length ||
	    ix->sections[SECTION_ARGS].n_rows >= UINT32_MAX)
		return error_set(err, SONDE_E_FORMAT, -1, "section %d of the index is damaged", SECTION_ARGS);
	return SONDE_OK;
}

static sonde_status check_steps_and_counters(const sonde_index *ix, sonde_error *err)
{
	const index_step *steps = ix->data[SECTION_STEPS];
	const index_counter *counters = ix->data[SECTION_COUNTERS];

	for (uint64_t i = 0; i < ix->sections[SECTION_STEPS].n_rows; i++)
		if (steps[i].track >= ix->n_tracks || steps[i].start_ns < 0 || steps[i].start_ns > ix->span_ns ||
		    steps[i].dur_ns < 0 || steps[i].dur_ns > ix->span_ns - steps[i].start_ns)
			return error_set(err, SONDE_E_FORMAT, -1, "step %" PRIu64 " of the index is damaged", i);
	for (uint64_t i = 0; i < ix->sections[SECTION_COUNTERS].n_rows; i++)
		if (counters[i].track >= ix->n_tracks ||
		    !range_within(counters[i].first_value, counters[i].n_values, ix->sections[SECTION_VALUES].n_rows))
			return error_set(err, SONDE_E_FORMAT, -1, "counter %" PRIu64 " of the index is damaged", i);
	return SONDE_OK;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static sonde_status read_all(sonde_index *ix, const index_header *h, bool is_trusted, sonde_error *err)
{
	sonde_status status = read_directory(ix, h, is_trusted, err);

	if (!status)
		status = check_tracks(ix, err);
	if (!status)
		status = check_lanes(ix, err);
	if (!status)
		status = check_tables(ix, err);
	if (!status)
		status = check_steps_and_counters(ix, err);
	return status;
}

static sonde_status open_image(const uint8_t *bytes, size_t len, bool is_trusted, sonde_index **ret_index,
			       sonde_error *err)
{
	index_header h = { 0 };
	sonde_status status = read_header(bytes, len, &h, err);

	if (status)
		return status;
	sonde_index *ix = calloc(1, sizeof *ix);
	if (!ix)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	*ix = (sonde_index){
		.bytes = bytes,
		.len = h.length,
		.start_ns = h.start_ns,
		.span_ns = h.end_ns - h.start_ns,
		.clock = h.clock <= INDEX_CLOCK_MONOTONIC ? (index_clock)h.clock : INDEX_CLOCK_TRACE,
	};
	status = read_all(ix, &h, is_trusted, err);
	if (status)
		index_free(ix);
	else
		*ret_index = ix;
	return status;
}

sonde_status index_open_memory(const uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err)
{
	return open_image(bytes, len, false, ret_index, err);
}

sonde_status index_open_made(const uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err)
{
	return open_image(bytes, len, true, ret_index, err);
}

static sonde_status adopt(uint8_t *bytes, size_t len, bool is_trusted, sonde_index **ret_index, sonde_error *err)
{
	sonde_status status = open_image(bytes, len, is_trusted, ret_index, err);

	if (status) {
		free(bytes);
	} else {
		(*ret_index)->owned = bytes;
		(*ret_index)->owner = IMAGE_ALLOCATED;
	}
	return status;
}

sonde_status index_adopt(uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err)
{
	return adopt(bytes, len, false, ret_index, err);
}

sonde_status index_adopt_made(uint8_t *bytes, size_t len, sonde_index **ret_index, sonde_error *err)
{
	return adopt(bytes, len, true, ret_index, err);
}

void index_share(sonde_index *ix, block_place *places, shared_blocks *shared)
{
	ix->places = places;
	ix->shared = shared_blocks_use(shared);
}

void index_free(sonde_index *ix)
{
	if (!ix)
		return;
	if (ix->owner == IMAGE_ALLOCATED)
		free(ix->owned);
	else if (ix->owner == IMAGE_MAPPED)
		mapping_free(ix->owned, ix->owned_len);
	shared_blocks_release(ix->shared);
	pages_free(ix->pages);
	free(ix->places);
	free(ix->kept);
	free(ix);
}

const uint8_t *index_bytes(const sonde_index *ix, size_t *ret_len)
{
	*ret_len = ix->len;
	return ix->bytes;
}

/* ---- What lies there --------------------------------------------------------------------------------------------- */

int64_t index_start_ns(const sonde_index *ix)
{
	return ix->start_ns;
}

int64_t index_end_ns(const sonde_index *ix)
{
	return ix->start_ns + ix->span_ns;
}

index_clock index_clock_of(const sonde_index *ix)
{
	return ix->clock;
}

/* One of kept_kinds: it was verified when the index was opened. */
static const void *kept_of(const sonde_index *ix, index_kind kind, size_t *ret_n)
{
	*ret_n = ix->sections[kind].n_rows;
	return ix->data[kind];
}

static const void *table_of(const sonde_index *ix, index_kind kind, size_t *ret_n)
{
	image_use(ix, kind, 0, ix->sections[kind].length);
	return kept_of(ix, kind, ret_n);
}

const index_lane *index_lanes(const sonde_index *ix, size_t *ret_n)
{
	return kept_of(ix, SECTION_LANES, ret_n);
}

const index_track *index_tracks(const sonde_index *ix, size_t *ret_n)
{
	return kept_of(ix, SECTION_TRACKS, ret_n);
}

const index_process *index_processes(const sonde_index *ix, size_t *ret_n)
{
	return kept_of(ix, SECTION_PROCESSES, ret_n);
}

int32_t index_rank_of(const sonde_index *ix, uint32_t track)
{
	size_t n_tracks, n_processes;
	const index_track *tracks = index_tracks(ix, &n_tracks);
	const index_process *processes = index_processes(ix, &n_processes);
	uint32_t process = track < n_tracks ? tracks[track].process : UINT32_MAX;

	return process < n_processes && processes[process].rank >= 0 ? processes[process].rank : -1;
}

bool index_has_ranks(const sonde_index *ix)
{
	size_t n;
	const index_process *processes = index_processes(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (processes[i].rank >= 0)
			return true;
	return false;
}

const index_site *index_sites(const sonde_index *ix, size_t *ret_n)
{
	return table_of(ix, SECTION_SITES, ret_n);
}

const index_meta *index_metas(const sonde_index *ix, size_t *ret_n)
{
	return table_of(ix, SECTION_META, ret_n);
}

const index_diagnostic *index_diagnostics(const sonde_index *ix, size_t *ret_n)
{
	return table_of(ix, SECTION_DIAGNOSTICS, ret_n);
}

const index_message *index_messages(const sonde_index *ix, size_t *ret_n)
{
	return table_of(ix, SECTION_MESSAGES, ret_n);
}

const index_device *index_devices(const sonde_index *ix, size_t *ret_n)
{
	return table_of(ix, SECTION_DEVICES, ret_n);
}

const index_role *index_roles(const sonde_index *ix, size_t *ret_n)
{
	return table_of(ix, SECTION_ROLES, ret_n);
}

const char *index_role_key(const sonde_index *ix, fact_role role)
{
	size_t n;
	const index_role *roles = index_roles(ix, &n);

	for (size_t i = 0; i < n; i++)
		if (roles[i].role == (uint32_t)role)
			return index_text(ix, roles[i].key);
	return NULL;
}

const index_step *index_steps(const sonde_index *ix, size_t *ret_n)
{
	return kept_of(ix, SECTION_STEPS, ret_n);
}

const index_counter *index_counters(const sonde_index *ix, size_t *ret_n)
{
	return kept_of(ix, SECTION_COUNTERS, ret_n);
}

uint64_t index_n_slices(const sonde_index *ix)
{
	return ix->sections[SECTION_SLICES].n_rows;
}

uint64_t index_n_rows(const sonde_index *ix, index_kind kind)
{
	return (unsigned)kind < SECTION_KINDS ? ix->sections[kind].n_rows : 0;
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

size_t index_n_strings(const sonde_index *ix)
{
	return ix->sections[SECTION_STRINGS].n_rows;
}

const char *index_textn(const sonde_index *ix, uint32_t string, size_t *ret_len)
{
	const char *bytes = ix->data[SECTION_STRING_BYTES];
	uint64_t from, to;

	*ret_len = 0;
	if (string == INDEX_NONE)
		return "";
	if (image_offsets(ix, SECTION_STRINGS, SECTION_STRING_BYTES, string, &from, &to) && from < to &&
	    image_use(ix, SECTION_STRING_BYTES, from, to - from) && bytes[to - 1] == 0) {
		*ret_len = to - from - 1;
		return bytes + from;
	}
	*ret_len = 1;
	return "?";
}

const char *index_text(const sonde_index *ix, uint32_t string)
{
	size_t len;

	return index_textn(ix, string, &len);
}

uint32_t index_find_text(const sonde_index *ix, const char *text, size_t len)
{
	const uint64_t *offsets = ix->data[SECTION_STRINGS];
	uint64_t n =
		ix->sections[SECTION_STRINGS].n_rows < INDEX_NONE ? ix->sections[SECTION_STRINGS].n_rows : INDEX_NONE;

	image_use(ix, SECTION_STRINGS, 0, ix->sections[SECTION_STRINGS].length);
	for (uint64_t i = 0; i < n; i++) {
		size_t its_len;
		/* The offsets alone rule out nearly all. */
		if (offsets[i + 1] - offsets[i] != len + 1)
			continue;
		const char *its = index_textn(ix, (uint32_t)i, &its_len);
		if (its_len == len && memcmp(its, text, len) == 0)
			return (uint32_t)i;
	}
	return INDEX_NONE;
}
