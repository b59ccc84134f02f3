/*
 * What events carried: values that many share get numbers, rows are packed as they come. See builder.h.
 */
#include "store/build/builder_state.h"

static const uint32_t n_columns[FACT_KINDS] = { [FACT_COLLECTIVE] = COLLECTIVE_COLUMNS };

/* The number of the value, which has no padding. */
static uint32_t number_of(builder *b, intern_table *values, const void *value, size_t size)
{
	uint32_t number = intern(values, value, size);

	if (number == INTERN_NONE)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
	return number;
}

uint32_t builder_message(builder *b, const index_message *m)
{
	return number_of(b, &b->messages, m, sizeof *m);
}

void builder_fact(builder *b, builder_fact_kind kind, const int64_t *row)
{
	build_table *t = &b->tables[TABLE_FACTS + kind];

	if (row[0] <= b->last_fact[kind] || row[0] > b->args.n_records) {
		builder_fail(b, SONDE_E_USAGE, "facts of arguments that do not exist, or not in their order");
		return;
	}
	b->last_fact[kind] = (uint32_t)row[0];
	if (t->values || table_begin(t, n_columns[kind]))
		table_add(t, row);
	if (t->failed)
		builder_fail(b, SONDE_E_MEMORY, "out of memory");
}

void builder_role(builder *b, fact_role role, const char *key)
{
	if (role > ROLE_NONE && role < ROLE_KINDS && b->roles[role].role == ROLE_NONE)
		b->roles[role] = (index_role){ role, builder_string(b, key, strlen(key)) };
}
