/*
 * The tables as SQLite sees them: one module for all. What is particular to a table is in its query_table.
 *
 * SQLite asks for one cell at a time, so a cell that nobody asks for is never decoded. Texts that live as long as the
 * trace are handed over as they lie.
 */
#include "query/table.h"

#include <stdlib.h>
#include <string.h>
#include "query/slice_reader.h"

typedef struct vtab {
	sqlite3_vtab base;
	const query_table *table;
	sonde_query *query;
} vtab;

static const query_table *const tables[] = {
#define TABLE(name) &name##_table,
#include "query/tables.def"
#undef TABLE
};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

bool sonde_query_table(size_t index, const char **ret_name, const char **ret_summary)
{
	if (index >= N_TABLES)
		return false;
	*ret_name = tables[index]->name;
	*ret_summary = tables[index]->summary;
	return true;
}

bool sonde_query_table_column(size_t table, size_t index, const char **ret_name, const char **ret_type,
			      const char **ret_summary)
{
	if (table >= N_TABLES || index >= tables[table]->n_columns)
		return false;
	*ret_name = tables[table]->columns[index].name;
	*ret_type = tables[table]->columns[index].type;
	*ret_summary = tables[table]->columns[index].summary;
	return true;
}

static const query_table *find_table(const char *name)
{
	for (size_t i = 0; i < N_TABLES; i++)
		if (strcmp(tables[i]->name, name) == 0)
			return tables[i];
	return NULL;
}

static int declare(sqlite3 *db, const query_table *t)
{
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendall(sql, "create table t(");
	for (size_t i = 0; i < t->n_columns; i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", t->columns[i].name, t->columns[i].type);
	sqlite3_str_appendall(sql, ")");
	char *text = sqlite3_str_finish(sql);
	int code = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	return code;
}

static int connect_table(sqlite3 *db, void *query, int argc, const char *const *argv, sqlite3_vtab **ret_vtab,
			 char **err)
{
	const query_table *t = argc > 2 ? find_table(argv[2]) : NULL;

	if (!t) {
		*err = sqlite3_mprintf("no such table");
		return SQLITE_ERROR;
	}
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	int code = declare(db, t);
	vtab *v = code ? NULL : sqlite3_malloc(sizeof *v);
	if (!v)
		return code ? code : SQLITE_NOMEM;
	*v = (vtab){ .table = t, .query = query };
	*ret_vtab = &v->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const vtab *t = (const vtab *)v;

	return plan_make(t->table, query_index(t->query), info);
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **ret_cursor)
{
	const vtab *t = (const vtab *)v;
	query_cursor *c = calloc(1, t->table->cursor_bytes);

	if (!c)
		return SQLITE_NOMEM;
	c->table = t->table;
	c->query = t->query;
	c->ix = query_index(t->query);
	c->start_ns = index_start_ns(c->ix);
	c->tracks = index_tracks(c->ix, &c->n_tracks);
	c->sites = index_sites(c->ix, &c->n_sites);
	c->lanes = index_lanes(c->ix, &c->n_lanes);
	*ret_cursor = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	query_cursor *c = (query_cursor *)cursor;

	if (c->table->done)
		c->table->done(c);
	filter_done(&c->filter);
	args_reader_free(c->args);
	slice_reader_free(c->slices);
	free(c);
	return SQLITE_OK;
}

args_reader *cursor_args(query_cursor *c)
{
	if (!c->args)
		c->args = args_reader_new(c->ix);
	c->out_of_memory |= !c->args;
	return c->args;
}

bool cursor_slice(query_cursor *c, uint64_t id, index_slice *ret_slice)
{
	if (!c->slices)
		c->slices = slice_reader_new(c->ix);
	return c->slices ? slice_reader_get(c->slices, id, ret_slice) : index_slice_at(c->ix, id, ret_slice);
}

static int moved(query_cursor *c, int code)
{
	c->is_done = code != SQLITE_OK;
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int filter(sqlite3_vtab_cursor *cursor, int needs, const char *text, int argc, sqlite3_value **argv)
{
	query_cursor *c = (query_cursor *)cursor;

	if (c->plan_text != text) { /* the same text for as long as the statement lives */
		plan_parse(c->table, text, needs, &c->plan);
		c->plan_text = text;
	}
	int code = filter_make(c, argc, argv);
	if (!code)
		code = c->filter.is_empty ? SQLITE_DONE : c->table->first(c);
	return moved(c, code);
}

static int next(sqlite3_vtab_cursor *cursor)
{
	query_cursor *c = (query_cursor *)cursor;

	return moved(c, c->table->next(c));
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((const query_cursor *)cursor)->is_done;
}

static int get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int i)
{
	query_cursor *c = (query_cursor *)cursor;
	const query_column *column = &c->table->columns[i];
	query_cell cell;

	cell.is_fleeting = false;
	column->get(c, c->at[column->of], column->which, &cell);
	if (c->out_of_memory)
		return SQLITE_NOMEM;
	switch (cell.type) {
	case SONDE_CELL_INTEGER:
		sqlite3_result_int64(context, cell.integer);
		break;
	case SONDE_CELL_REAL:
		sqlite3_result_double(context, cell.real);
		break;
	case SONDE_CELL_TEXT:
		sqlite3_result_text64(context, cell.text, cell.len, cell.is_fleeting ? SQLITE_TRANSIENT : SQLITE_STATIC,
				      SQLITE_UTF8);
		break;
	case SONDE_CELL_NULL:
	case SONDE_CELL_BLOB:
		break;
	}
	return SQLITE_OK;
}

static int get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = (sqlite3_int64)((const query_cursor *)cursor)->at[OF_ROW];
	return SQLITE_OK;
}

const sqlite3_module query_module = {
	.xCreate = connect_table,
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = get_column,
	.xRowid = get_rowid,
};
