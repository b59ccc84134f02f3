/* The arguments of a slice, out of the payload of its begin. Operations have the same four, scopes what their site
 * says. */
#include "import/recording/walk.h"

#include <sonde/record.h>

static bool get_text(payload_reader *r, walk_arg *arg)
{
	payload_text text;

	if (!payload_get_text(r, &text))
		return false;
	arg->text = text.ptr;
	arg->text_len = text.len;
	return true;
}

static bool get_shape(payload_reader *r, walk_arg *arg)
{
	payload_shape shape;

	if (!payload_get_shape(r, &shape))
		return false;
	arg->dims = shape.dims;
	arg->n_dims = shape.n_dims;
	return true;
}

static bool get_arg(payload_reader *r, walk_arg *arg)
{
	if (arg->type == SONDE_ARG_STR_)
		return get_text(r, arg);
	if (arg->type == SONDE_ARG_SHAPE_)
		return get_shape(r, arg);
	if (!payload_get_i64(r, &arg->i64))
		return false;
	memcpy(&arg->f64, &arg->i64, sizeof arg->f64);
	return true;
}

/* The arguments of an operation are the fields of its op_info; what was not given is left out. */
static void op_args(payload_reader r, void (*each)(void *context, const walk_arg *arg), void *context)
{
	static const struct {
		const char *key;
		uint8_t type;
	} fields[] = {
#define F64(field) { #field, SONDE_ARG_F64_ },
#define TEXT(field) { #field, SONDE_ARG_STR_ },
#define SHAPE(field) { #field, SONDE_ARG_SHAPE_ },
#define IF_op_info(...) __VA_ARGS__
#define IF_keyed_arg(...)
#define IF_step(...)
#define IF_counter(...)
#define PAYLOAD(NAME, number, name, fields)
#define PAYLOAD_CODE(NAME, number)
#define PAYLOAD_PART(name, fields) IF_##name(fields)
#include "format/recording/payloads.def"
	};

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		walk_arg arg = { .key = fields[i].key, .key_len = strlen(fields[i].key), .type = fields[i].type };
		if (!get_arg(&r, &arg))
			return;
		bool given = arg.type == SONDE_ARG_F64_	  ? arg.i64 != 0
			     : arg.type == SONDE_ARG_STR_ ? arg.text_len != 0
							  : arg.n_dims != 0 && arg.n_dims != UINT64_MAX;
		if (given)
			each(context, &arg);
	}
}

/* sonde_instant_args: each argument brings its type and its key. */
static void keyed_args(payload_reader r, void (*each)(void *context, const walk_arg *arg), void *context)
{
	payload_keyed_arg keyed;

	while (payload_get_keyed_arg(&r, &keyed)) {
		walk_arg arg = { .key = keyed.key.ptr, .key_len = keyed.key.len, .type = (uint8_t)keyed.type };
		if (keyed.type < SONDE_ARG_I64_ || keyed.type > SONDE_ARG_SHAPE_ || !get_arg(&r, &arg))
			return;
		each(context, &arg);
	}
}

static bool has_size(const uint64_t *size)
{
	return size[0] || size[1] || size[2];
}

void walk_device_args(const walk_device *d, void (*each)(void *context, const walk_arg *arg), void *context)
{
	const char *kind = device_work_text(d->kind);

	if (kind)
		each(context, &(walk_arg){ .key = "kind",
					   .key_len = 4,
					   .type = SONDE_ARG_STR_,
					   .text = kind,
					   .text_len = strlen(kind) });
	if (d->bytes)
		each(context, &(walk_arg){ .key = "bytes",
					   .key_len = 5,
					   .type = SONDE_ARG_I64_,
					   .i64 = d->bytes <= INT64_MAX ? (int64_t)d->bytes : INT64_MAX });
	if (has_size(d->grid))
		each(context,
		     &(walk_arg){
			     .key = "grid", .key_len = 4, .type = SONDE_ARG_SHAPE_, .dims = d->grid, .n_dims = 3 });
	if (has_size(d->block))
		each(context,
		     &(walk_arg){
			     .key = "block", .key_len = 5, .type = SONDE_ARG_SHAPE_, .dims = d->block, .n_dims = 3 });
}

void walk_args(const trace_site *site, const event *e, void (*each)(void *context, const walk_arg *arg), void *context)
{
	payload_reader r = payload_of(e);

	if ((e->code & EVENT_ID_MASK) == EVENT_INSTANT) {
		keyed_args(r, each, context);
		return;
	}
	if (site->kind == NAME_OP) {
		op_args(r, each, context);
		return;
	}
	for (unsigned i = 0; site->record && i < site->record->n_args; i++) {
		walk_arg arg = { 0 };
		if (!name_arg(site->record, i, &arg.type, &arg.key, &arg.key_len) || !get_arg(&r, &arg))
			return;
		each(context, &arg);
	}
}
