/* What Kineto says about a collective on the device; see rule.h. */
#define _GNU_SOURCE /* memmem, strncasecmp */
#include "analyze/bottlenecks/rule.h"

#include <string.h>
#include <strings.h>

static const char *const keys[MESSAGE_COLUMNS] = { "Collective name", "dtype", "In msg nelems", "Out msg nelems",
						   "Group size" };
enum { NAME, TYPE, IN, OUT, GROUP };

bool messages_read(const rule_run *r, messages *m)
{
	for (size_t i = 0; i < MESSAGE_COLUMNS; i++)
		m->columns[i] = (args_column){ .key = keys[i] };
	bool ok = args_columns_read(r->e->rows.ix, m->columns, MESSAGE_COLUMNS);
	r->result->failed = r->result->failed || !ok;
	return ok;
}

void messages_done(messages *m)
{
	args_columns_done(m->columns, MESSAGE_COLUMNS);
}

static int64_t size_of_type(const char *type, size_t len)
{
	if (!type)
		return 4;
	if (memmem(type, len, "Double", 6) || memmem(type, len, "Long", 4))
		return 8;
	if (memmem(type, len, "Half", 4) || memmem(type, len, "BFloat16", 8))
		return 2;
	return memmem(type, len, "Byte", 4) || memmem(type, len, "Char", 4) || memmem(type, len, "Float8", 6) ? 1 : 4;
}

/* Kineto writes "allreduce", "_allgather_base", "reduce_scatter_tensor_coalesced", "all_to_allv", "send". */
static message_kind kind_of(const char *name, size_t len)
{
	static const struct {
		const char *text;
		message_kind kind;
	} kinds[] = {
		{ "allreduce", MESSAGE_ALL_REDUCE },
		{ "all_reduce", MESSAGE_ALL_REDUCE },
		{ "gather", MESSAGE_GATHER },
		{ "scatter", MESSAGE_GATHER },
		{ "all_to_all", MESSAGE_GATHER },
		{ "alltoall", MESSAGE_GATHER },
		{ "send", MESSAGE_SEND },
		{ "recv", MESSAGE_RECEIVE },
	};

	for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
		if (memmem(name, len, kinds[i].text, strlen(kinds[i].text)))
			return kinds[i].kind;
	return MESSAGE_OTHER;
}

bool message_of(const rule_run *r, const messages *m, const row *at, message *ret)
{
	const sonde_index *ix = r->e->rows.ix;
	size_t type_len, name_len;

	if (!(row_traits(r->e, at) & TRAIT_COMM_KERNEL))
		return false;
	int64_t in = args_column_int(ix, &m->columns[IN], at->args, -1);
	int64_t out = args_column_int(ix, &m->columns[OUT], at->args, -1);
	const char *type = args_column_text(ix, &m->columns[TYPE], at->args, &type_len);
	const char *name = args_column_text(ix, &m->columns[NAME], at->args, &name_len);
	int64_t size = size_of_type(type, type_len);
	*ret = (message){ .in_bytes = in >= 0 && in < INT64_MAX / 8 ? in * size : -1,
			  .bytes = in > out && in < INT64_MAX / 8    ? in * size
				   : out >= 0 && out < INT64_MAX / 8 ? out * size
								     : -1,
			  .group = args_column_int(ix, &m->columns[GROUP], at->args, 0),
			  .kind = kind_of(name, name_len) };
	return true;
}
