/*
 * Which conditions of a query a table takes care of by itself, and whether its rows come in the order that is asked
 * for.
 *
 * SQLite calls plan_make() with every way in which it could use the table and takes the cheapest. The plan travels as
 * text, "=name ]ts <ts +track", from here to the filter: operators ([ is <=, ] >=, ~ LIKE, * GLOB, { IN, 0 and 1 IS
 * NULL and not) and their columns, then the order.
 *
 * Conditions whose meaning could depend on types or collations that are not known yet are used to skip rows but left to
 * SQLite to check as well (omit = 0).
 */
#include "query/table.h"

#include <stdlib.h>
#include <string.h>

enum { PLAN_TEXT = 1024 };

/* What SQLite calls it, what it is in the text, what part of the rows is thought to remain (1 / n). */
static const struct operation {
	unsigned char constraint;
	char op;
	uint8_t share;
} operations[] = {
	{ SQLITE_INDEX_CONSTRAINT_EQ, '=', 20 },    { SQLITE_INDEX_CONSTRAINT_NE, '!', 1 },
	{ SQLITE_INDEX_CONSTRAINT_LT, '<', 3 },	    { SQLITE_INDEX_CONSTRAINT_LE, '[', 3 },
	{ SQLITE_INDEX_CONSTRAINT_GT, '>', 3 },	    { SQLITE_INDEX_CONSTRAINT_GE, ']', 3 },
	{ SQLITE_INDEX_CONSTRAINT_LIKE, '~', 5 },   { SQLITE_INDEX_CONSTRAINT_GLOB, '*', 5 },
	{ SQLITE_INDEX_CONSTRAINT_ISNULL, '0', 5 }, { SQLITE_INDEX_CONSTRAINT_ISNOTNULL, '1', 1 },
};

typedef struct maker {
	const query_table *table;
	sqlite3_index_info *info;
	char text[PLAN_TEXT];
	size_t len;
	int n_arguments;
	double n_scanned, n_rows; /* that are looked at, that remain */
	bool is_equal[N_KEYS];
} maker;

static const struct operation *find_operation(unsigned char constraint)
{
	for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
		if (operations[i].constraint == constraint)
			return &operations[i];
	return NULL;
}

static bool is_text(const query_column *column)
{
	return strcmp(column->type, "TEXT") == 0;
}

static bool is_range(char op)
{
	return strchr("<[>]", op) != NULL;
}

/* Whether the filter understands the condition; see filter.c. */
static bool is_usable(const maker *m, int i, const query_column *column, const struct operation *o)
{
	bool is_binary = sqlite3_stricmp(sqlite3_vtab_collation(m->info, i), "BINARY") == 0;

	if (column->key == KEY_TEXT || column->key == KEY_PARENT)
		return o->op == '=' && is_binary;
	if (column->key)
		return o->op == '=' || is_range(o->op);
	if (column->of == OF_ROW)
		return false;
	if (strchr("01", o->op))
		return true;
	/* Whether a text is before another depends on the other side's type. */
	return is_text(column) ? !is_range(o->op) && is_binary : !strchr("~*", o->op);
}

/* The filter alone decides: the value is known now and of the column's type. */
static bool is_exact(const maker *m, int i, const query_column *column, const struct operation *o)
{
	sqlite3_value *value = NULL;

	if (column->key && column->key != KEY_TEXT)
		return true;
	if (strchr("01", o->op))
		return true;
	if (sqlite3_vtab_rhs_value(m->info, i, &value) != SQLITE_OK || !value)
		return false;
	if (strchr("~*", o->op) && sqlite3_value_bytes(value) > 200) /* let SQLite's own limit for patterns judge */
		return false;
	int type = sqlite3_value_type(value);
	if (is_text(column))
		return type == SQLITE_TEXT;
	return strcmp(column->type, "INTEGER") == 0 && (type == SQLITE_INTEGER || type == SQLITE_FLOAT);
}

static bool append(maker *m, char op, const char *name)
{
	size_t len = strlen(name);

	if (m->len + len + 3 > sizeof m->text)
		return false;
	m->text[m->len++] = op;
	memcpy(m->text + m->len, name, len);
	m->len += len;
	m->text[m->len++] = ' ';
	return true;
}

static void estimate(maker *m, const query_column *column, const struct operation *o)
{
	double share = o->share;

	if (o->op == '=' && (column->key == KEY_ID || column->key == KEY_PARENT))
		share = m->n_rows > 4 ? m->n_rows / 4 : 1;
	m->n_rows /= share;
	if ((column->key && column->key != KEY_DUR && column->key != KEY_TEXT) || column->of == OF_LANE ||
	    column->of == OF_TRACK)
		m->n_scanned /= share;
}

static void take_term(maker *m, int i)
{
	const struct sqlite3_index_constraint *given = &m->info->aConstraint[i];
	const struct operation *o = find_operation(given->op);

	if (!given->usable || !o || given->iColumn < 0 || m->n_arguments == PLAN_TERMS)
		return;
	const query_column *column = &m->table->columns[given->iColumn];
	bool is_list = !column->key && o->op == '=' && sqlite3_vtab_in(m->info, i, -1);
	if (!is_usable(m, i, column, o) || !append(m, is_list ? '{' : o->op, column->name))
		return;
	struct sqlite3_index_constraint_usage *usage = &m->info->aConstraintUsage[i];
	usage->argvIndex = ++m->n_arguments;
	usage->omit = !is_list && is_exact(m, i, column, o);
	if (is_list) /* all values at once: one scan, not one for each */
		sqlite3_vtab_in(m->info, i, 1);
	else if (column->key && o->op == '=')
		m->is_equal[column->key] = true;
	if (column->key == KEY_ID && o->op == '=' && m->table->has_unique_ids)
		m->info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
	estimate(m, column, o);
}

static bool is_point(const query_column *column, unsigned char constraint)
{
	return constraint == SQLITE_INDEX_CONSTRAINT_EQ && (column->key == KEY_ID || column->key == KEY_PARENT);
}

/* A condition that leaves a row or a few makes marks for the others more work than they save. */
static bool take_point(maker *m)
{
	for (int i = 0; i < m->info->nConstraint; i++) {
		const struct sqlite3_index_constraint *given = &m->info->aConstraint[i];

		if (!given->usable || given->iColumn < 0 || !is_point(&m->table->columns[given->iColumn], given->op))
			continue;
		take_term(m, i);
		return true;
	}
	return false;
}

static void take_terms(maker *m, bool only_text)
{
	for (int i = 0; i < m->info->nConstraint; i++) {
		int column = m->info->aConstraint[i].iColumn;

		if (column >= 0 && !m->info->aConstraintUsage[i].argvIndex &&
		    (!only_text || m->table->columns[column].key == KEY_TEXT))
			take_term(m, i);
	}
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* The order in which the rows come anyway. Keys that are bound to one value do not count. */
static bool has_natural_order(const maker *m)
{
	const sqlite3_index_info *info = m->info;
	size_t at = 0, n = sizeof m->table->order / sizeof m->table->order[0];

	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;
		column_key key = column < 0 ? KEY_ID : m->table->columns[column].key;

		while (at < n && m->table->order[at] != key && m->is_equal[m->table->order[at]])
			at++;
		if (at == n || key == KEY_NONE || m->table->order[at++] != key || info->aOrderBy[i].desc)
			return false;
	}
	return true;
}

/* Columns of sites and columns of lanes, each together: the scan can sort by those. */
static bool can_group(const maker *m)
{
	const sqlite3_index_info *info = m->info;
	unsigned n_changes = 0;
	bool before = false;

	if (!m->table->is_grouped || info->nOrderBy > PLAN_ORDERS)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		if (info->aOrderBy[i].iColumn < 0)
			return false;
		column_of of = m->table->columns[info->aOrderBy[i].iColumn].of;
		bool is_site = of == OF_SITE;
		n_changes += i && is_site != before;
		before = is_site;
		if (of == OF_ROW || n_changes > 1)
			return false;
	}
	return true;
}

static bool is_sorted_by(const maker *m, int column)
{
	for (int i = 0; i < m->info->nOrderBy; i++)
		if (m->info->aOrderBy[i].iColumn == column)
			return true;
	return false;
}

static unsigned needs_of(const maker *m)
{
	unsigned needs = 0;

	for (size_t i = 0; i < m->table->n_columns; i++) {
		const query_column *column = &m->table->columns[i];

		if (!(m->info->colUsed >> (i < 63 ? i : 63) & 1) || is_sorted_by(m, (int)i))
			continue;
		needs |= column->of == OF_SITE	  ? NEED_SITE
			 : column->of != OF_ROW	  ? NEED_TRACK_OR_LANE
			 : column->key == KEY_TS  ? NEED_TS
			 : column->key == KEY_DUR ? NEED_DUR
			 : column->key == KEY_END ? NEED_TS | NEED_DUR
						  : NEED_ALL;
	}
	return needs;
}

static void take_order(maker *m)
{
	sqlite3_index_info *info = m->info;

	if (!info->nOrderBy)
		return;
	if (has_natural_order(m)) {
		info->orderByConsumed = 1;
		return;
	}
	if (!can_group(m))
		return;
	size_t len = m->len;
	for (int i = 0; i < info->nOrderBy; i++)
		if (!append(m, info->aOrderBy[i].desc ? '-' : '+', m->table->columns[info->aOrderBy[i].iColumn].name)) {
			m->len = len;
			return;
		}
	info->orderByConsumed = 1;
	info->idxNum = (int)needs_of(m);
}

int plan_make(const query_table *t, const sonde_index *ix, sqlite3_index_info *info)
{
	maker m = { .table = t, .info = info };

	m.n_rows = m.n_scanned = (double)t->n_rows(ix) + 1;
	info->idxNum = NEED_ALL;
	take_terms(&m, take_point(&m));
	take_order(&m);
	m.text[m.len] = '\0';
	info->idxStr = sqlite3_mprintf("%s", m.text);
	if (!info->idxStr)
		return SQLITE_NOMEM;
	info->needToFreeIdxStr = 1;
	info->estimatedRows = m.n_rows < 1 ? 1 : (sqlite3_int64)m.n_rows;
	info->estimatedCost = 10 + m.n_scanned * 0.1 + m.n_rows;
	return SQLITE_OK;
}

static bool find_column(const query_table *t, const char *name, size_t len, uint8_t *ret_column)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (strncmp(t->columns[i].name, name, len) == 0 && !t->columns[i].name[len]) {
			*ret_column = (uint8_t)i;
			return true;
		}
	return false;
}

void plan_parse(const query_table *t, const char *text, int needs, query_plan *ret_plan)
{
	memset(ret_plan, 0, sizeof *ret_plan);
	ret_plan->needs = (unsigned)needs;
	while (*text) {
		char op = *text++;
		size_t len = strcspn(text, " ");
		uint8_t column;

		if (find_column(t, text, len, &column)) {
			if (op != '+' && op != '-')
				ret_plan->terms[ret_plan->n_terms++] = (plan_term){ column, op };
			else
				ret_plan->orders[ret_plan->n_orders++] = (plan_order){ column, op == '-' };
		}
		text += len + (text[len] == ' ');
	}
}
