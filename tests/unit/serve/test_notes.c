/* Notes in a file beside the trace, in memory, and in files of strangers. */
#include "unit/store/temp_dir.h"

#include <sqlite3.h>
#include "serve/notes.h"

static void tell_one(void *context, const notes_entry *e)
{
	char *text = context;

	snprintf(text + strlen(text), 1000 - strlen(text), "%lld [%lld %lld] %s %s; ", (long long)e->id,
		 (long long)e->from_ns, (long long)e->to_ns, e->text, e->name ? e->name : "-");
}

static const char *tell(notes *n, notes_kind kind)
{
	static char text[1000];
	sonde_error err;

	text[0] = 0;
	assert_int_equal(notes_list(n, kind, tell_one, text, &err), SONDE_OK);
	return text;
}

static void add(notes *n, const char *text, int64_t from_ns)
{
	notes_entry e = { .text = text, .from_ns = from_ns, .to_ns = from_ns + 1 };

	assert_int_equal(notes_add(n, NOTES_NOTE, &e, NULL), SONDE_OK);
	assert_true(e.created > 0);
}

static void notes_stay_in_a_file_of_the_owner_alone(void **state)
{
	const char *path = temp_path("kept.sonde"), *file = temp_path("kept.sonde.notes.sqlite");
	struct stat st;
	bool is_found;
	notes *n = notes_new(path);

	(void)state;
	assert_string_equal(tell(n, NOTES_NOTE), "");
	assert_null(notes_name(n));
	assert_false(temp_exists(file)); /* looking leaves nothing */
	add(n, "later", 20);
	add(n, "earlier \xc3\xbc '\"", 10);
	assert_int_equal(notes_add(n, NOTES_VIEW, &(notes_entry){ .text = "#a=1", .name = "mine" }, NULL), SONDE_OK);
	assert_int_equal(notes_set_name(n, "old", NULL), SONDE_OK);
	assert_int_equal(notes_set_name(n, "baseline", NULL), SONDE_OK);
	assert_true(notes_are_kept(n));
	notes_free(n);

	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	n = notes_new(path);
	assert_string_equal(tell(n, NOTES_NOTE), "2 [10 11] earlier \xc3\xbc '\" -; 1 [20 21] later -; ");
	assert_string_equal(tell(n, NOTES_VIEW), "1 [0 0] #a=1 mine; ");
	char *name = notes_name(n);
	assert_string_equal(name, "baseline");
	free(name);
	assert_int_equal(notes_delete(n, NOTES_NOTE, 2, &is_found, NULL), SONDE_OK);
	assert_true(is_found);
	assert_int_equal(notes_delete(n, NOTES_NOTE, 2, &is_found, NULL), SONDE_OK);
	assert_false(is_found);
	assert_string_equal(tell(n, NOTES_NOTE), "1 [20 21] later -; ");
	notes_free(n);
}

static void without_a_place_they_are_in_memory(void **state)
{
	notes *n = notes_new("/nowhere/at/all.sonde"), *none = notes_new(NULL);

	(void)state;
	add(n, "here", 1);
	add(none, "there", 2);
	assert_false(notes_are_kept(n));
	assert_false(notes_are_kept(none));
	assert_string_equal(tell(n, NOTES_NOTE), "1 [1 2] here -; ");
	assert_string_equal(tell(none, NOTES_NOTE), "1 [2 3] there -; ");
	notes_free(n);
	notes_free(none);
}

/* A link where the file should be is not followed. */
static void a_link_is_left_alone(void **state)
{
	const char *target = temp_path("precious");

	(void)state;
	temp_write(target, "precious", 8);
	assert_int_equal(symlink(target, temp_path("linked.sonde.notes.sqlite")), 0);
	notes *n = notes_new(temp_path("linked.sonde"));
	add(n, "a", 1);
	assert_false(notes_are_kept(n));
	notes_free(n);
	size_t len;
	uint8_t *bytes = temp_read(target, &len);
	assert_int_equal(len, 8);
	free(bytes);
}

static void strange_files_do_no_harm(void **state)
{
	static const char *const schemas[] = {
		"create view notes as with recursive r(id) as (select 1 union all select id + 1 from r) select id, 0 "
		"as "
		"created, 'x' as text, 0 as from_ns, 0 as to_ns from r where id < 0",
		"create table notes(x)",
		"create table names(name); create trigger t before insert on names begin select 1; end;"
		"create table notes(id integer primary key, from_ns, to_ns, created, text);"
		"with recursive r(x) as (select 1 union all select x + 1 from r where x < 10000) insert into notes "
		"select x, 0, 0, 0, 'n' from r",
	};
	char text[100000];
	sonde_error err;

	(void)state;
	for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
		sqlite3 *db;
		const char *file = temp_path("strange.sonde.notes.sqlite");
		unlink(file);
		assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, schemas[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		notes *n = notes_new(temp_path("strange.sonde"));
		text[0] = 0;
		sonde_status status = notes_list(n, NOTES_NOTE, tell_one, text, &err);
		assert_int_equal(status, i == 2 ? SONDE_OK : SONDE_E_IO);
		assert_int_not_equal(notes_add(n, NOTES_NOTE, &(notes_entry){ .text = "x" }, &err), SONDE_OK);
		notes_free(n);
	}
	temp_write(temp_path("junk.sonde.notes.sqlite"), "this is no database, whatever its name says", 43);
	notes *n = notes_new(temp_path("junk.sonde"));
	add(n, "a", 1);
	assert_false(notes_are_kept(n));
	notes_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_stay_in_a_file_of_the_owner_alone),
		cmocka_unit_test(without_a_place_they_are_in_memory),
		cmocka_unit_test(a_link_is_left_alone),
		cmocka_unit_test(strange_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
