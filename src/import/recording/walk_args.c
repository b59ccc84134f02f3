/* The arguments of a slice, out of the payload of its begin. Operations have the same four, scopes what their site
 * says. */
#include "import/recording/walk.h"

#include <sonde/record.h>

static bool get_shape(const event *e, size_t *pos, walk_arg *arg)
{
	if (*pos >= e->n_words)
		return false;
	arg->n_dims = e->words[(*pos)++];
	arg->dims = e->words + *pos;
	if (arg->n_dims == UINT64_MAX)
		return true;
	if (arg->n_dims > e->n_words - *pos)
		return false;
	*pos += (size_t)arg->n_dims;
	return true;
}

static bool get_arg(const event *e, size_t *pos, walk_arg *arg)
{
	if (arg->type == SONDE_ARG_STR_)
		return event_text(e, pos, &arg->text, &arg->text_len);
	if (arg->type == SONDE_ARG_SHAPE_)
		return get_shape(e, pos, arg);
	if (*pos >= e->n_words)
		return false;
	arg->i64 = (int64_t)e->words[*pos];
	memcpy(&arg->f64, &e->words[(*pos)++], sizeof arg->f64);
	return true;
}

/* The fixed arguments of an operation; what was not given is left out. */
static void op_args(const event *e, void (*each)(void *context, const walk_arg *arg), void *context)
{
	static const struct {
		const char *key;
		uint8_t type;
	} keys[] = { { "flops", SONDE_ARG_F64_ },
		     { "bytes", SONDE_ARG_F64_ },
		     { "type", SONDE_ARG_STR_ },
		     { "shape", SONDE_ARG_SHAPE_ } };
	size_t pos = 0;

	for (size_t i = 0; i < 4; i++) {
		walk_arg arg = { .key = keys[i].key, .key_len = strlen(keys[i].key), .type = keys[i].type };
		if (!get_arg(e, &pos, &arg))
			return;
		bool given = arg.type == SONDE_ARG_F64_	  ? arg.i64 != 0
			     : arg.type == SONDE_ARG_STR_ ? arg.text_len != 0
							  : arg.n_dims != 0 && arg.n_dims != UINT64_MAX;
		if (given)
			each(context, &arg);
	}
}

/* sonde_instant_args: each argument brings its type and its key. */
static void keyed_args(const event *e, void (*each)(void *context, const walk_arg *arg), void *context)
{
	for (size_t pos = 0; pos < e->n_words;) {
		uint64_t type = e->words[pos++];
		walk_arg arg = { .type = (uint8_t)type };
		if (type < SONDE_ARG_I64_ || type > SONDE_ARG_SHAPE_ || !event_text(e, &pos, &arg.key, &arg.key_len) ||
		    !get_arg(e, &pos, &arg))
			return;
		each(context, &arg);
	}
}

void walk_args(const trace_site *site, const event *e, void (*each)(void *context, const walk_arg *arg), void *context)
{
	size_t pos = 0;

	if ((e->code & EVENT_ID_MASK) == EVENT_INSTANT) {
		keyed_args(e, each, context);
		return;
	}
	if (site->kind == NAME_OP) {
		op_args(e, each, context);
		return;
	}
	for (unsigned i = 0; site->record && i < site->record->n_args; i++) {
		walk_arg arg = { 0 };
		if (!name_arg(site->record, i, &arg.type, &arg.key, &arg.key_len) || !get_arg(e, &pos, &arg))
			return;
		each(context, &arg);
	}
}
