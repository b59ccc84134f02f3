/* SQL over a trace: what the tables say, that conditions and orders taken over give what SQLite would, and that no
   statement reaches anything else. */
#include "small_trace.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "query/table.h"
#include "store/trace.h"

static sonde_query *open_query(const sonde_index *ix, const sonde_query_options *options)
{
	sonde_query *q = NULL;
	sonde_error err = { 0 };

	if (query_open_index(ix, options, &q, &err))
		fail_msg("query_open_index: %s", err.message);
	return q;
}

static void put_cell(FILE *out, sonde_cell cell)
{
	switch (cell.type) {
	case SONDE_CELL_NULL:
		fputc('-', out);
		break;
	case SONDE_CELL_INTEGER:
		fprintf(out, "%lld", (long long)cell.integer);
		break;
	case SONDE_CELL_REAL:
		fprintf(out, "%g", cell.real);
		break;
	default:
		fwrite(cell.text, 1, cell.len, out);
	}
}

/* Rows of all statements as `a|b;c|d`, or the error's message. The caller frees. */
static char *ask(sonde_query *q, const char *sql)
{
	char *text = NULL;
	size_t len, at = 0;
	FILE *out = open_memstream(&text, &len);
	sonde_error err = { 0 };
	sonde_status status;
	bool is_row, any = false;

	assert_non_null(out);
	while (!(status = sonde_query_prepare(q, sql, &at, &err)) && sonde_query_is_ready(q)) {
		size_t n = sonde_query_n_columns(q);

		while (!(status = sonde_query_step(q, &is_row, &err)) && is_row) {
			fputs(any ? ";" : "", out);
			any = true;
			for (size_t i = 0; i < n; i++) {
				fputs(i ? "|" : "", out);
				put_cell(out, sonde_query_cell(q, i));
			}
		}
		if (status)
			break;
	}
	if (status)
		fprintf(out, "%s", err.message);
	fclose(out);
	return text;
}

static void assert_answer(sonde_query *q, const char *sql, const char *expected)
{
	char *text = ask(q, sql);

	if (strcmp(text, expected) != 0)
		fail_msg("%s\n  gives    %s\n  and not  %s", sql, text, expected);
	free(text);
}

typedef struct answer {
	const char *sql, *expected;
} answer;

static void assert_answers(const answer *answers, size_t n)
{
	sonde_index *ix = small_trace();
	sonde_query *q = open_query(ix, NULL);

	for (size_t i = 0; i < n; i++)
		assert_answer(q, answers[i].sql, answers[i].expected);
	sonde_query_free(q);
	index_free(ix);
}
#define ASSERT_ANSWERS(answers) assert_answers(answers, sizeof(answers) / sizeof((answers)[0]))

static void tables_hold_what_the_trace_does(void **state)
{
	static const answer answers[] = {
		{ "select count(*) from slices", "12" },
		{ "select ts, dur, end, name, category, class, depth, open, repaired from slices where tid = 101 order "
		  "by ts, depth",
		  "0|1000|1000|ProfilerStep#1|user_annotation|step|0|0|0;100|300|400|aten::mm|cpu_op|compute|1|0|0;"
		  "200|50|250|cudaLaunchKernel|cuda_runtime|runtime|2|0|0;500|100|600|aten::relu|cpu_op|compute|1|0|1;"
		  "520|20|540|cudaLaunchKernel|cuda_runtime|runtime|2|0|0;1000|1000|2000|ProfilerStep#2|user_"
		  "annotation|step|0|1|0;"
		  "1100|200|1300|aten::mm|cpu_op|compute|1|0|0;1150|50|1200|cudaLaunchKernel|cuda_runtime|runtime|2|0|"
		  "0" },
		{ "select distinct track_kind, track_name, tid, pid, process, rank from slices order by 1",
		  "stream|-|-|0|-|-;thread|main|101|100|python|0" },
		{ "select ts, self from slices where tid = 101 and depth < 2 order by ts",
		  "0|600;100|250;500|80;1000|800;1100|150" },
		{ "select ts, self from slices where name like 'aten%' order by name, ts", "100|250;1100|150;500|80" },
		{ "select p.name from slices s join slices p on p.id = s.parent where s.name = 'cudaLaunchKernel' "
		  "order by s.ts",
		  "aten::mm;aten::relu;aten::mm" },
		{ "select c.name, c.ts from slices s join slices c on c.parent = s.id where s.name = 'ProfilerStep#1' "
		  "order by 2",
		  "aten::mm|100;aten::relu|500" },
		{ "select count(*) from slices where parent is null", "3" },
		{ "select args from slices where name = 'aten::mm' order by ts",
		  "{\"Ev Idx\": 4, \"Input Dims\": [[2, 3]]};{\"Ev Idx\": 6, \"Input Dims\": [[2, 3]]}" },
		{ "select json_extract(args, '$.\"Ev Idx\"') from slices where args is not null and track_kind = "
		  "'thread' order by 1",
		  "4;5;6" },
		{ "select name, ts, stream, device, correlation, launch_ts, delay from kernels order by ts",
		  "gemm|300|7|0|11|200|50;relu_kernel|900|7|0|12|520|360;gemm|1250|7|0|13|1150|50" },
		{ "select k.name, s.name from kernels k join slices s on s.id = k.launch where k.correlation = 12",
		  "relu_kernel|cudaLaunchKernel" },
		{ "select name from kernels where id = (select id from slices where name = 'ann')", "" },
		{ "select correlation, kernel_ts, launch_ts, launch_dur, delay from launches order by 1",
		  "11|300|200|50|50;12|900|520|20|360;13|1250|1150|50|50" },
		{ "select k.name from launches l join kernels k on k.id = l.kernel where l.correlation = 13", "gemm" },
		{ "select count(grid), count(bytes), count(args_id) from kernels", "0|0|1" },
		{ "select count(*) from collectives", "0" },
		{ "select count(*) from devices", "0" },
		{ "select name, calls, total, self, min, max from names where class = 'compute' order by 1",
		  "aten::mm|2|500|400|200|300;aten::relu|1|100|80|100|100" },
		{ "select calls, min from names where name = 'mark'", "0|-" },
		{ "select ts, name, scope, track_kind, args from instants",
		  "50|mark|thread|thread|{\"why\": 1};60|mark|global|process|-" },
		{ "select arrow, name, id, from_ts, to_ts from flows order by from_ts",
		  "0|fwdbwd|5|150|550;0|fwdbwd|5|550|1150;1|fwdbwd|6|560|-" },
		{ "select a.name, b.name from flows f join slices a on a.id = f.from_slice join slices b on b.id = "
		  "f.to_slice order by f.from_ts",
		  "aten::mm|aten::relu;aten::relu|cudaLaunchKernel" },
		{ "select name, series, n_values, track_kind from counters order by 1",
		  "loss|-|2|process;mem used|used|1|thread" },
		{ "select name, ts, value from counter_values order by ts",
		  "loss|10|2.5;mem used|20|7;loss|1010|1.25" },
		{ "select v.value from counters c join counter_values v on v.counter = c.id where c.name = 'loss' and "
		  "v.ts > 10",
		  "1.25" },
		{ "select step, ts, dur, end, track_name from steps", "1|0|1000|1000|main;2|1000|1000|2000|main" },
		{ "select step, count(*) from steps p join slices s on s.ts >= p.ts and s.ts < p.end group by step",
		  "1|8;2|4" },
		{ "select ts, bytes, address, device_type, device, total_bytes, reserved_bytes, name from allocations",
		  "120|1024|4096|1|0|1024|-|[memory];1220|-1024|4096|0|-|0|2048|[memory]" },
		{ "select ts, name, class, tid from samples", "30|main.py:7|python|101" },
		{ "select id, kind, name, tid, stream, device, n_slices from tracks order by n_slices desc",
		  "1|thread|main|101|-|-|8;0|stream|-|-|7|0|4;2|process|-|-|-|-|0" },
		{ "select pid, name, rank, device from processes order by pid", "0|-|-|0;100|python|0|-" },
		{ "select key, value, rank from meta",
		  "trace.start_ns|1000000|-;trace.duration_ns|2000|-;trace.clock|trace|-;"
		  "host|box|-;world|[1, 2]|0" },
		{ "select * from diagnostics", "invalid UTF-8|3|0|x.json|77" },
	};

	(void)state;
	ASSERT_ANSWERS(answers);
}

static void arguments_have_the_types_of_their_json(void **state)
{
	static const answer answers[] = {
		{ "select key, value, type, typeof(value) from args where slice = (select id from kernels where ts = "
		  "300)",
		  "ab|x\ny|text|text;r|2.5|real|real;t|1|true|integer;f|0|false|integer;n|-|null|null;"
		  "big|1.23457e+19|integer|real;o|{\"p\": [1]}|object|text;neg|-3|integer|integer;s|plain|text|text;"
		  "no|NaN|text|text;py|True|text|text;nan|nan|text|text" },
		{ "select value from args where key = 'ab'", "x\ny" },
		{ "select count(*), sum(value) from args where key = 'Ev Idx'", "3|15" },
		{ "select count(*) from args where key = 'ev idx'", "0" },
		{ "select count(*) from args where key = 'Ev Idx' collate nocase", "3" },
		{ "select count(*) from args where key = 'ev idx' collate nocase", "3" },
		{ "select count(*) from args where key = 'r' and key = 's'", "0" },
		{ "select count(*) from args where key = null", "0" },
		{ "select s.name, count(*) from slices s join args a on a.slice = s.id where a.key = 'Input Dims' and "
		  "a.value = '[[2, 3]]' "
		  "group by 1",
		  "aten::mm|2" },
		{ "select count(*) from args where slice > 1000000", "0" },
		{ "select count(*) from args where slice < 0", "0" },
	};

	(void)state;
	ASSERT_ANSWERS(answers);
}

static void errors_say_what_and_where(void **state)
{
	static const answer answers[] = {
		{ "select nam from slices", "no such column: nam (at \"nam\", character 8)" },
		{ "select \"nam\" from slices", "no such column: nam (at \"\"nam\"\", character 8)" },
		{ "select name\nfrom slices\nwhere nmae = 'ä'",
		  "no such column: nmae (at \"nmae\", line 3, character 7)" },
		{ "select 'ä', nam from slices", "no such column: nam (at \"nam\", character 13)" },
		{ "selec 1", "near \"selec\": syntax error (character 1)" },
		{ "select 1; select nam from slices", "1no such column: nam (at \"nam\", character 18)" },
		{ "select * from slice", "no such table: slice" },
		{ "select", "incomplete input" },
		{ "", "" },
		{ ";;; -- nothing", "" },
		{ "select json_extract('{', '$.a')", "malformed JSON" },
	};

	(void)state;
	ASSERT_ANSWERS(answers);
}

static void temporary_tables_and_views_are_fine(void **state)
{
	static const answer answers[] = {
		{ "create temp table t as select name, dur from kernels; create index temp.i on t(name);"
		  "create temp view v as select * from t join slices using (name); insert into t values ('x', 1);"
		  "update t set dur = 2 where name = 'x'; delete from t where name = 'gemm'; select * from t; drop "
		  "view v; drop table t",
		  "relu_kernel|50;x|2" },
		{ "begin; create temp table t(x); rollback; select count(*) from sqlite_temp_schema", "0" },
		{ "with recursive r(x) as (select 1 union all select x + 1 from r where x < 5) select sum(x) from r",
		  "15" },
		{ "select value from json_each('[1, 2]')", "1;2" },
		{ "select name, type from pragma_table_info('launches') limit 2", "kernel|INTEGER;launch|INTEGER" },
		{ "select format_ns(1940000000), format_bytes(327155712), format_bytes(-1024), format_ns(null), "
		  "format_ns(-9223372036854775807 - 1)",
		  "1.94 s|312 MiB|-1.00 KiB|-|-9,223,372,037 s" },
		{ "explain query plan select name from slices where id = 3",
		  "2|0|0|SCAN slices VIRTUAL TABLE INDEX 16:=id " },
	};

	(void)state;
	ASSERT_ANSWERS(answers);
}

/* ---- Nothing else can be reached --------------------------------------------------------------------------------- */

static void assert_refused(sonde_query *q, const char *sql)
{
	sonde_error err = { 0 };
	size_t at = 0;
	bool is_row = false;
	sonde_status status;

	while (!(status = sonde_query_prepare(q, sql, &at, &err)) && sonde_query_is_ready(q)) {
		while (!(status = sonde_query_step(q, &is_row, &err)) && is_row)
			;
		if (status)
			break;
	}
	if (!status)
		fail_msg("%s: was not refused", sql);
	assert_int_equal(status, SONDE_E_USAGE);
}

static void no_statement_reaches_a_file_or_changes_the_trace(void **state)
{
	static const char *const statements[] = {
		"attach '%s/x.db' as x",
		"attach ':memory:' as x",
		"attach 'file:%s/x.db?vfs=unix' as x",
		"vacuum into '%s/x.db'",
		"vacuum",
		"create table t(x)",
		"create table main.t(x)",
		"create view v as select 1",
		"create index i on slices(name)",
		"create virtual table v using fts5(x)",
		"create virtual table temp.v using sonde",
		"create virtual table temp.slices using sonde",
		"create temp trigger g after insert on t begin select 1; end",
		"insert into slices(name) values ('x')",
		"delete from slices",
		"update slices set name = 'x'",
		"drop table slices",
		"alter table slices rename to x",
		"insert into sqlite_schema values (1, 2, 3, 4, 5)",
		"update sqlite_schema set sql = ''",
		"update sqlite_master set name = 'x'",
		"delete from sqlite_master",
		"select load_extension('%s/x.so')",
		"select readfile('/etc/passwd')",
		"select writefile('%s/x', 'x')",
		"select fts3_tokenizer('simple')",
		"select edit('x')",
		"pragma temp_store = file",
		"pragma temp_store_directory = '%s'",
		"pragma journal_mode = wal",
		"pragma writable_schema = on",
		"pragma case_sensitive_like = on",
		"pragma database_list",
		"pragma mmap_size = 1000000",
		"pragma hard_heap_limit = 1000",
		"pragma page_size = 512",
		"select * from pragma_database_list",
		"detach main",
		"analyze",
	};
	char directory[] = "/tmp/sonde-query-XXXXXX", here[4096];
	sonde_index *ix = small_trace();
	sonde_query *q = open_query(ix, NULL);

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(directory), 0);
	for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
		char sql[512];
		const char *gap = strstr(statements[i], "%s");

		if (gap)
			snprintf(sql, sizeof sql, "%.*s%s%s", (int)(gap - statements[i]), statements[i], directory,
				 gap + 2);
		else
			snprintf(sql, sizeof sql, "%s", statements[i]);
		assert_refused(q, sql);
	}
	/* Large sorts and tables stay in memory. */
	assert_answer(
		q,
		"create temp table t as with recursive r(x) as (select 1 union all select x + 1 from r where x < "
		"50000) "
		"select x, hex(zeroblob(100)) as y from r; select count(*) from (select * from t order by y, x desc); "
		"create index temp.i on t(x); drop table t",
		"50000");
	assert_answer(q, "select count(*) from slices", "12");
	assert_int_equal(chdir(here), 0);
	assert_int_equal(rmdir(directory), 0); /* empty: nothing was written */
	sonde_query_free(q);
	index_free(ix);
}

/* ---- What is taken over gives what SQLite would ------------------------------------------------------------------ */

/* Asked of a table, and of a copy of it that SQLite made. */
static const char *const conditions[] = {
	"name = 'op_03'",
	"name != 'op_03'",
	"name in ('op_03', 'Kernel<04', 'nothing', null)",
	"name in (select name from names where class = 'copy')",
	"name not in ('op_03')",
	"name like 'OP%'",
	"name like '%3'",
	"name glob 'K*'",
	"name not like 'op%'",
	"name > 'a'",
	"name between 'op_03' and 'op_07'",
	"name = 'OP_03' collate nocase",
	"name is null",
	"name is not null",
	"name = 3",
	"name = null",
	"name is 'op_03'",
	"class = 'kernel' and category = 'cat2'",
	"class in ('copy', 'kernel')",
	"track = 4",
	"track in (1, 2, 99)",
	"track_kind = 'stream'",
	"track_kind <> 'stream'",
	"track_name is null",
	"track_name is not null",
	"tid = 4",
	"tid = '4'",
	"tid >= 5",
	"tid > 'a'",
	"pid = 11",
	"rank < 2",
	"rank <= 1.5",
	"rank is not null",
	"lane = 3",
	"depth > 0",
	"depth = 1.0",
	"id = 777",
	"id = 777.5",
	"id in (1, 5, 5, 19999, 777777)",
	"id > 15000 and id <= 16000",
	"id < 0",
	"id > 9223372036854775807",
	"id < -9223372036854775808",
	"ts >= 500000",
	"ts < 300000 and ts > 200000",
	"ts = (select ts from slices where id = 300)",
	"ts > 999999999999999999999",
	"ts < 1e300",
	"ts > -1",
	"ts between 100000.5 and 200000.5",
	"ts > '900000'",
	"ts < 'x'",
	"ts > 'x'",
	"ts < x'00'",
	"ts > null",
	"end <= 1000",
	"end > 990000 and end < 999000",
	"dur > 1000",
	"dur = 0",
	"dur >= 10 and dur <= 11",
	"ts >= 100000 and end <= 120000 and name like 'op%' and track = 2",
	"parent = 100",
	"parent is null",
	"parent in (100, 200, 300)",
	"parent = 100 and name > ''",
	"ts > 100 or name = 'op_03'",
};

static void assert_same(sonde_query *q, const char *a, const char *b)
{
	char *expected = ask(q, b);

	assert_answer(q, a, expected);
	free(expected);
}

/* The question has a %s where the table's name is. */
static void assert_same_of_copy(sonde_query *q, const char *question, const char *table)
{
	char sql[2][2048], copy[64];

	snprintf(copy, sizeof copy, "copy_of_%s", table);
	for (int k = 0; k < 2; k++) {
		const char *gap = strstr(question, "%s");
		snprintf(sql[k], sizeof sql[k], "%.*s%s%s", (int)(gap - question), question, k ? copy : table, gap + 2);
	}
	assert_same(q, sql[0], sql[1]);
}

static sonde_query *open_with_copies(const sonde_index *ix)
{
	sonde_query *q = open_query(ix, NULL);

	assert_answer(q,
		      "create temp table copy_of_slices as select * from slices;"
		      "create temp table copy_of_kernels as select * from kernels;"
		      "select count(*) > 0 from copy_of_kernels",
		      "1");
	return q;
}

static void conditions_give_what_sqlite_would(void **state)
{
	sonde_index *ix = random_trace(5000);
	sonde_query *q = open_with_copies(ix);

	(void)state;
	for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
		char sql[1024];

		snprintf(sql, sizeof sql,
			 "select count(*), sum(id), sum(ts), sum(dur), min(name), max(lane), sum(self) from %%s where "
			 "%s",
			 conditions[i]);
		assert_same_of_copy(q, sql, "slices");
		assert_same_of_copy(q, sql, "kernels");
		for (size_t k = 0; k < 3; k++) { /* in the order of sites, of lanes, and of both */
			static const char *const groups[] = { "name", "track", "track_name, class" };
			snprintf(sql, sizeof sql,
				 "select %s, count(*), sum(id), sum(dur) from %%s where %s group by %s order by %s",
				 groups[k], conditions[i], groups[k], groups[k]);
			assert_same_of_copy(q, sql, "slices");
			assert_same_of_copy(q, sql, "kernels");
		}
	}
	sonde_query_free(q);
	index_free(ix);
}

static void arguments_and_launches_give_what_sqlite_would(void **state)
{
	static const char *const args[] = {
		"1",
		"slice = 700",
		"slice in (1, 2, 3, 700, 9999999, -1)",
		"slice = -1",
		"slice = 700 or slice = 703 or slice in (1, 2, 3)",
		"slice = 701 or key = 'Ev Idx'",
		"slice < 0",
		"slice = 0.5",
		"slice between 100 and 900",
		"slice > 4000 and key = 'Ev Idx'",
		"key = 'Ev Idx' and value > 1000",
		"key in ('Ev Idx', 'nothing')",
		"key > 'F'",
		"type = 'array'",
		"slice = 700 and key = 'Input Dims'",
	};
	sonde_index *ix = random_trace(5000);
	sonde_query *q = open_with_copies(ix);

	(void)state;
	assert_answer(q,
		      "create temp table copy_of_args as select * from args; select count(*) > 1000 from copy_of_args",
		      "1");
	for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
		char sql[1024];

		snprintf(sql, sizeof sql,
			 "select count(*), sum(slice), min(key), max(key), sum(value), max(value) from %%s where %s",
			 args[i]);
		assert_same_of_copy(q, sql, "args");
		snprintf(sql, sizeof sql, "select slice, key, value from %%s where %s order by slice, key", args[i]);
		assert_same_of_copy(q, sql, "args");
	}
	assert_answer(q, "select count(*) > 300, count(launch) > 100 from kernels where correlation is not null",
		      "1|1");
	assert_same(q,
		    "select count(*), sum(correlation), count(launch), sum(launch), sum(launch_ts), sum(delay) from "
		    "kernels",
		    "select count(*), sum(l.correlation), count(l.launch), sum(l.launch), sum(h.ts), sum(k.ts - h.end) "
		    "from "
		    "copy_of_kernels k left join launches l on l.kernel = k.id left join copy_of_slices h on h.id = "
		    "l.launch");
	assert_same(q, "select name, sum(launch_ts), sum(delay) from kernels group by name order by name",
		    "select name, sum(launch_ts), sum(delay) from copy_of_kernels group by name order by name");
	assert_same(q,
		    "select sum(launch_ts), sum(kernel_ts), sum(launch_dur), sum(delay) from launches where launch is "
		    "not null",
		    "select sum(h.ts), sum(k.ts), sum(h.dur), sum(k.ts - h.end) from launches l join copy_of_slices k "
		    "on k.id = "
		    "l.kernel join copy_of_slices h on h.id = l.launch");
	sonde_query_free(q);
	index_free(ix);
}

/* Columns without their "desc". */
static void names_of(const char *order, char *to)
{
	for (; *order; order++)
		if (strncmp(order, " desc", 5) == 0)
			order += 4;
		else
			*to++ = *order;
	*to = '\0';
}

static void orders_give_what_sqlite_would(void **state)
{
	static const char *const orders[] = {
		"name",
		"name desc",
		"category, name",
		"class desc, name",
		"track",
		"track desc",
		"track_kind, name",
		"name, track",
		"name desc, track_kind, lane desc",
		"depth",
		"rank, class",
		"lane",
		"id",
		"tid, name",
		"track_name, pid desc, category",
	};
	static const char *const filters[] = { "1", "dur > 20 and track_kind = 'stream'",
					       "name like 'op%' and ts > 400000", "0" };
	static const char *const questions[] = {
		"select %s, count(*), sum(dur), sum(ts), min(end), sum(lane), max(name), sum(self), count(args) "
		"from %%s where %s group by %s order by %s",
		"select %s, count(*) from %%s where %s group by %s order by %s",
		"select %s, sum(dur), max(category) from %%s where %s group by %s order by %s",
		"select distinct %s from %%s where %s and '%s' > '' order by %s",
	};
	sonde_index *ix = random_trace(5000);
	sonde_query *q = open_with_copies(ix);

	(void)state;
	for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
		for (size_t f = 0; f < sizeof filters / sizeof filters[0]; f++)
			for (size_t k = 0; k < sizeof questions / sizeof questions[0]; k++) {
				char sql[1024], names[256];

				names_of(orders[i], names);
				/* The compiler cannot see that each has four gaps. */
				_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
					snprintf(sql, sizeof sql, questions[k], names, filters[f], names, orders[i]);
				_Pragma("GCC diagnostic pop") assert_same_of_copy(q, sql, "slices");
			}
	sonde_query_free(q);
	index_free(ix);
}

static void tables_of_events_filter_by_time_and_name(void **state)
{
	static const answer answers[] = {
		{ "select ts from instants where ts > 50", "60" },
		{ "select ts from instants where ts <= 50", "50" },
		{ "select ts from instants where track_kind = 'process'", "60" },
		{ "select ts from instants where name = 'no'", "" },
		{ "select ts from allocations where ts between 120 and 1000", "120" },
		{ "select ts from allocations order by ts desc", "1220;120" },
		{ "select count(*) from samples where ts < 0", "0" },
		{ "select count(*) from launches where kernel = 1000", "0" },
		{ "select ts from counter_values where counter = 0 order by ts", "10;1010" },
		{ "select count(*) from counter_values where counter = -1", "0" },
		{ "select count(*) from counter_values where counter = 99", "0" },
		{ "select count(*) from counter_values where track_kind = 'thread'", "1" },
		{ "select count(*) from flows where name = 'no'", "0" },
		{ "select id from tracks where id > 0 and id < 2", "1" },
		{ "select id from tracks where id = 77", "" },
		{ "select kind from tracks where kind in ('thread', 'stream')", "stream;thread" },
		{ "select count(*) from steps where track_name = 'no'", "0" },
	};

	(void)state;
	ASSERT_ANSWERS(answers);
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

static const char *const endless =
	"with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r";

static bool is_cut(sonde_query *q, const char *sql)
{
	sonde_error err;
	size_t at = 0;
	bool is_row = true;

	assert_int_equal(sonde_query_prepare(q, sql, &at, &err), SONDE_OK);
	while (is_row)
		assert_int_equal(sonde_query_step(q, &is_row, &err), SONDE_OK);
	return sonde_query_is_cut(q);
}

static void limits_end_a_query(void **state)
{
	sonde_index *ix = small_trace();
	sonde_query *q =
		open_query(ix, &(sonde_query_options){ .struct_size = sizeof(sonde_query_options), .n_rows = 3 });

	(void)state;
	assert_answer(q, "select id from slices", "0;1;2");
	assert_true(is_cut(q, "select id from slices"));
	assert_false(is_cut(q, "select id from slices limit 3"));
	sonde_query_free(q);

	q = open_query(ix, &(sonde_query_options){ .struct_size = sizeof(sonde_query_options), .time_ns = 50000000 });
	assert_answer(q, endless, "stopped after 50.0 ms");
	assert_answer(
		q,
		"select count(*) from slices a, slices b, slices c, slices d, slices e, slices f, slices g, slices h",
		"stopped after 50.0 ms");
	assert_answer(q, "select count(*) from slices", "12");
	sonde_query_free(q);

	q = open_query(ix,
		       &(sonde_query_options){ .struct_size = sizeof(sonde_query_options), .memory_bytes = 50 << 20 });
	assert_answer(q,
		      "create temp table t as with recursive r(x) as (select 1 union all select x + 1 from r) select "
		      "x, zeroblob(1000) from r",
		      "stopped: the statement needs more than 50.0 MiB of memory");
	assert_answer(q, "select count(*) from slices", "12");
	sonde_query_free(q);
	index_free(ix);
}

/* What does not fit is placed in batches: less memory gives the same answer, or none. */
static void less_memory_gives_the_same_groups(void **state)
{
	static const char *const sql = "select name, count(*), sum(dur), min(ts), max(depth) from slices group by name";
	sonde_index *ix = random_trace(50000);
	sonde_query *all = open_query(ix, NULL);
	char *expected = ask(all, sql);
	size_t n_same = 0;

	(void)state;
	for (uint64_t limit = 1 << 15; limit <= 4 << 20; limit += 1 << 15) {
		sonde_query *q = open_query(ix, &(sonde_query_options){ .struct_size = sizeof(sonde_query_options),
									.memory_bytes = limit });
		char *got = ask(q, sql);
		if (strncmp(got, "stopped: the statement needs more", 32) != 0)
			assert_string_equal(got, expected);
		n_same += strcmp(got, expected) == 0;
		free(got);
		sonde_query_free(q);
	}
	assert_true(n_same > 0);
	free(expected);
	sonde_query_free(all);
	index_free(ix);
}

static void *interrupt_later(void *q)
{
	usleep(50000);
	sonde_query_interrupt(q);
	return NULL;
}

static void another_thread_can_stop_it(void **state)
{
	sonde_index *ix = small_trace();
	sonde_query *q = open_query(ix, NULL);
	pthread_t thread;

	(void)state;
	sonde_query_interrupt(q); /* nothing runs: nothing happens */
	assert_answer(q, "select 1", "1");
	assert_int_equal(pthread_create(&thread, NULL, interrupt_later, q), 0);
	assert_answer(q, endless, "stopped");
	pthread_join(thread, NULL);
	assert_answer(q, "select 1", "1");
	sonde_query_free(q);
	index_free(ix);
}

static void a_scan_without_rows_can_be_stopped(void **state)
{
	sonde_index *ix = random_trace(50000);
	sonde_query *q = open_query(ix, NULL);
	size_t at = 0;
	bool is_row;
	sonde_error err;

	(void)state;
	assert_int_equal(
		sonde_query_prepare(q, "select name, sum(dur) from slices where dur > 1e9 group by name", &at, &err),
		SONDE_OK);
	sonde_query_interrupt(q);
	assert_int_equal(sonde_query_step(q, &is_row, &err), SONDE_E_STATE);
	assert_string_equal(err.message, "stopped");
	sonde_query_free(q);
	index_free(ix);
}

static void a_query_belongs_to_a_trace(void **state)
{
	sonde_trace trace = { .index = small_trace() };
	sonde_query *q = NULL;
	sonde_error err;

	(void)state;
	assert_int_equal(sonde_query_open(&trace, NULL, &q, &err), SONDE_OK);
	assert_answer(q, "select count(*) from slices", "12");
	assert_false(sonde_query_is_damaged(q));
	sonde_query_free(q);
	sonde_query_free(NULL);
	index_free(trace.index);
}

static void a_damaged_index_gives_fewer_rows_and_says_so(void **state)
{
	sonde_index *ix = random_trace(8000), *copy = NULL;
	size_t len;
	const uint8_t *bytes = index_bytes(ix, &len);
	uint64_t seed = 3;
	bool any = false;

	(void)state;
	for (int round = 0; round < 40; round++) {
		uint8_t *image = malloc(len);
		sonde_error err;

		assert_non_null(image);
		memcpy(image, bytes, len);
		for (int i = 0; i < 20; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			size_t at = 4096 + (seed >> 16) % (len - 4096);
			image[at] = (uint8_t)(seed >> 8);
		}
		if (index_adopt(image, len, &copy, &err))
			continue;
		sonde_query *q = open_query(copy, NULL);
		static const char *const all[] = {
			"select * from slices",
			"select * from kernels",
			"select * from launches",
			"select * from collectives",
			"select * from devices",
			"select * from args",
			"select name, sum(self), count(args), min(ts) from slices group by name",
			"select * from names",
			"select * from tracks",
			"select count(*) from slices where ts > 500000 and end < 600000",
		};
		for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
			free(ask(q, all[i]));
		any |= sonde_query_is_damaged(q);
		sonde_query_free(q);
		index_free(copy);
	}
	assert_true(any);
	index_free(ix);
}

static void a_statement_is_complete_with_its_semicolon(void **state)
{
	static const struct {
		const char *sql;
		bool is_complete;
	} cases[] = {
		{ "", false },
		{ "select 1", false },
		{ "select 1;", true },
		{ "select 1; -- one\n", true },
		{ "select 1; select 2", false },
		{ "select ';'", false },
		{ "select 1 /* ;", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (sonde_query_is_complete(cases[i].sql) != cases[i].is_complete)
			fail_msg("%s", cases[i].sql);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_hold_what_the_trace_does),
		cmocka_unit_test(arguments_have_the_types_of_their_json),
		cmocka_unit_test(errors_say_what_and_where),
		cmocka_unit_test(temporary_tables_and_views_are_fine),
		cmocka_unit_test(no_statement_reaches_a_file_or_changes_the_trace),
		cmocka_unit_test(conditions_give_what_sqlite_would),
		cmocka_unit_test(arguments_and_launches_give_what_sqlite_would),
		cmocka_unit_test(orders_give_what_sqlite_would),
		cmocka_unit_test(tables_of_events_filter_by_time_and_name),
		cmocka_unit_test(limits_end_a_query),
		cmocka_unit_test(less_memory_gives_the_same_groups),
		cmocka_unit_test(another_thread_can_stop_it),
		cmocka_unit_test(a_scan_without_rows_can_be_stopped),
		cmocka_unit_test(a_query_belongs_to_a_trace),
		cmocka_unit_test(a_damaged_index_gives_fewer_rows_and_says_so),
		cmocka_unit_test(a_statement_is_complete_with_its_semicolon),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
