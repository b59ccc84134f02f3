/* Collectives on the device: what the trace says about each; see rule.h. */
#include "analyze/bottlenecks/rule.h"

bool messages_read(const rule_run *r, messages *m)
{
	m->facts = fact_reader_new(r->e->rows.ix, SECTION_COLLECTIVES);
	r->result->failed = r->result->failed || !m->facts;
	return m->facts;
}

void messages_done(messages *m)
{
	fact_reader_free(m->facts);
}

static message_kind kind_of(int32_t kind)
{
	switch (kind) {
	case COLLECTIVE_ALL_REDUCE:
		return MESSAGE_ALL_REDUCE;
	case COLLECTIVE_ALL_GATHER:
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_ALL_TO_ALL:
	case COLLECTIVE_GATHER:
	case COLLECTIVE_SCATTER:
		return MESSAGE_GATHER;
	case COLLECTIVE_SEND:
		return MESSAGE_SEND;
	case COLLECTIVE_RECEIVE:
		return MESSAGE_RECEIVE;
	default:
		return MESSAGE_OTHER;
	}
}

/* -1 where either is unknown. */
static int64_t bytes_of(int64_t elements, int32_t element_bytes)
{
	int64_t bytes;

	return elements < 0 || element_bytes < 0 || __builtin_mul_overflow(elements, element_bytes, &bytes) ? -1
													    : bytes;
}

bool message_of(const rule_run *r, const messages *m, const row *at, message *ret)
{
	int64_t sequence;

	if (!(row_traits(r->e, at) & TRAIT_COMM_KERNEL))
		return false;
	*ret = (message){ .in_bytes = -1, .bytes = -1 };
	const index_message *of = fact_message(m->facts, at->args, &sequence);
	if (!of)
		return true;
	int64_t most = of->in_elements > of->out_elements ? of->in_elements : of->out_elements;
	*ret = (message){ .in_bytes = bytes_of(of->in_elements, of->element_bytes),
			  .bytes = bytes_of(most, of->element_bytes),
			  .group = of->group_size > 0 ? of->group_size : 0,
			  .kind = kind_of(of->kind) };
	return true;
}
