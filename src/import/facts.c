/* What a trace holds, in numbers, and where its ranks came from: <sonde/trace.h>. */
#include "store/index/facts.h"

#include <stdlib.h>
#include <string.h>
#include "store/index/index.h"
#include "store/trace.h"

/* The next meta entry of this key at or after *at, which moves on; NULL: none. */
static const index_meta *next_meta(const sonde_index *ix, const char *key, size_t *at)
{
	size_t n;
	const index_meta *metas = index_metas(ix, &n);

	for (; *at < n; ++*at)
		if (strcmp(index_text(ix, metas[*at].key), key) == 0)
			return &metas[(*at)++];
	return NULL;
}

static void count_index(const sonde_index *ix, sonde_trace_facts *f)
{
	const index_meta *m;
	size_t n, at = 0;
	const index_diagnostic *diagnostics = index_diagnostics(ix, &n);

	while ((m = next_meta(ix, FACT_EVENTS, &at)))
		f->n_events += strtoull(index_text(ix, m->value), NULL, 10);
	for (at = 0; (m = next_meta(ix, FACT_BYTES, &at));)
		f->n_bytes += strtoull(index_text(ix, m->value), NULL, 10);
	for (size_t i = 0; i < n; i++) {
		f->n_lost += diagnostic_is(&diagnostics[i], EFFECT_LOSS) ? diagnostics[i].count : 0;
		f->n_repaired += diagnostic_is(&diagnostics[i], EFFECT_REPAIR) ? diagnostics[i].count : 0;
	}
}

void sonde_trace_get_facts(const sonde_trace *trace, sonde_trace_facts *ret_facts)
{
	sonde_trace_facts f = { .struct_size = ret_facts->struct_size };
	size_t size = f.struct_size < sizeof f ? f.struct_size : sizeof f;

	count_index(trace->index, &f);
	memcpy(ret_facts, &f, size);
}

bool sonde_trace_rank(const sonde_trace *trace, size_t index, int32_t *ret_rank, const char **ret_file)
{
	const index_meta *m;
	size_t at = 0;

	while ((m = next_meta(trace->index, FACT_FILE, &at)))
		if (m->rank >= 0 && index-- == 0) {
			*ret_rank = m->rank;
			*ret_file = index_text(trace->index, m->value);
			return true;
		}
	return false;
}
