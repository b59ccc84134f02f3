/* From struct and environment to what is recorded. */
#include "record/runtime.h"
#include "unit/record/recorded.h"

static void wrong_values_in_the_struct_are_errors(void **state)
{
	static char long_path[5000];
	const size_t size = sizeof(sonde_config);
	const struct {
		sonde_config config;
		const char *message;
	} cases[] = {
		{ { .struct_size = 0 }, "struct_size is 0; set it to sizeof(sonde_config)" },
		{ { .struct_size = 5000 }, "struct_size is 5000; set it to sizeof(sonde_config)" },
		{ { .struct_size = size, .output = long_path }, "output is longer than 4095 bytes" },
		{ { .struct_size = size, .output = "run.json" },
		  "output ends in .json, but a recording is a .sonde file" },
		{ { .struct_size = size, .activities = "gpu" },
		  "activities is \"gpu\", not a list of cpu, memory, device" },
		{ { .struct_size = size, .activities = "cpu,,memory" },
		  "activities is \"cpu,,memory\", not a list of cpu, memory, device" },
		{ { .struct_size = size, .activities = "" }, "activities is \"\", not a list of cpu, memory, device" },
		{ { .struct_size = size, .full = "explode" }, "full is \"explode\", not block, overwrite or drop" },
		{ { .struct_size = size, .memory = 3 }, "memory is 3, not SONDE_DEFAULT, SONDE_ON or SONDE_OFF" },
		{ { .struct_size = size, .full = "" }, "full is \"\", not block, overwrite or drop" },
		{ { .struct_size = size, .buffer = 1 }, "buffer is 1 bytes, not 256 KiB to 64 GiB" },
		{ { .struct_size = size, .buffer = (256 << 10) - 1 }, "buffer is 262143 bytes, not 256 KiB to 64 GiB" },
		{ { .struct_size = size, .buffer = ((size_t)64 << 30) + 1 },
		  "buffer is 68719476737 bytes, not 256 KiB to 64 GiB" },
	};
	sonde_error err;

	(void)state;
	memset(long_path, 'x', sizeof long_path - 1);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(sonde_start(&cases[i].config, &err), SONDE_E_USAGE);
		assert_string_equal(err.message, cases[i].message);
		assert_int_equal(sonde_start(&cases[i].config, NULL), SONDE_E_USAGE);
		assert_int_equal(sonde_stop(&err), SONDE_E_STATE);
	}
	assert_string_equal(sonde_output(), "");
}

typedef struct setting_case {
	const char *name; /* of the variable */
	const char *value;
	sonde_config config;
} setting_case;

static void assert_same_options(const char *what, const record_options *a, const record_options *b)
{
	if (a->active != b->active || a->buffer != b->buffer || a->full != b->full || a->report != b->report ||
	    a->shapes != b->shapes || a->stacks != b->stacks || a->flops != b->flops ||
	    strcmp(a->output, b->output) != 0)
		fail_msg("%s: struct and environment differ", what);
}

static void clear_environment(void);

/* Nothing given, and every setting given in both ways. */
static void struct_and_environment_have_the_same_names_and_defaults(void **state)
{
	static const setting_case cases[] = {
		{ "SONDE_REPORT", "", { 0 } },
		{ "SONDE_OUTPUT", "x.sonde", { .output = "x.sonde" } },
		{ "SONDE_REPORT", "5", { .report = 5 } },
		{ "SONDE_ACTIVITIES", "cpu", { .activities = "cpu" } },
		{ "SONDE_MEMORY", "0", { .memory = SONDE_OFF } },
		{ "SONDE_MEMORY", "1", { .memory = true } },
		{ "SONDE_SHAPES", "0", { .shapes = SONDE_OFF } },
		{ "SONDE_FLOPS", "0", { .flops = SONDE_OFF } },
		{ "SONDE_MODULES", "0", { .modules = SONDE_OFF } },
		{ "SONDE_STACKS", "1", { .stacks = SONDE_ON } },
		{ "SONDE_BUFFER", "1M", { .buffer = 1 << 20 } },
		{ "SONDE_FULL", "drop", { .full = "drop" } },
	};
	static record_options from_struct, from_environment;
	size_t n_fields = 0;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sonde_config config = cases[i].config;
		config.struct_size = sizeof config;
		clear_environment();
		setenv(cases[i].name, cases[i].value, 1);
		config_from_environment(&from_environment);
		assert_int_equal(config_from_struct(&config, &from_struct, NULL), SONDE_OK);
		assert_same_options(cases[i].name, &from_struct, &from_environment);
	}
	clear_environment();
	config_from_environment(&from_environment);
	assert_int_equal(from_environment.buffer, RING_DEFAULT_BYTES);

	/* The struct has no field that the list lacks. */
#define SETTING(name, NAME, kind, value, expected, argument, help) n_fields += sizeof((sonde_config *)NULL)->name;
#define SETTING_NO_FIELD(...)
#define SETTING_VARIABLE(...)
#include "base/record_settings.def"
	assert_in_range(sizeof(sonde_config) - sizeof(size_t) - n_fields, 0, 2 * sizeof(size_t) - 1);
}

static void activities_come_before_the_switches(void **state)
{
	static record_options o;

	(void)state;
	clear_environment();
	setenv("SONDE_ACTIVITIES", "cpu", 1);
	config_from_environment(&o);
	assert_int_equal(o.active, SONDE_ACTIVE_CPU_ | SONDE_ACTIVE_MODULES_);
	setenv("SONDE_MEMORY", "1", 1);
	config_from_environment(&o);
	assert_int_equal(o.active, SONDE_ACTIVE_CPU_ | SONDE_ACTIVE_MODULES_ | SONDE_ACTIVE_MEMORY_);
	clear_environment();
}

/* Of a program that was built when the struct ended earlier. */
static void a_shorter_struct_is_understood(void **state)
{
	sonde_config config = { .struct_size = offsetof(sonde_config, activities), .output = temp_path("run.sonde") };

	(void)state;
	config.activities = (const char *)1; /* not there yet in that version */
	config.buffer = 1;
	assert_int_equal(sonde_start(&config, NULL), SONDE_OK);
	SONDE_MARK("a");
	assert_recorded("*a");
}

static const char *const variables[] = { "SONDE_OUTPUT", "SONDE_ACTIVITIES", "SONDE_BUFFER", "SONDE_FULL",
					 "SONDE_CLOCK",	 "SONDE_REPORT",     "SONDE_MEMORY", "SONDE_MODULES",
					 "SONDE_SHAPES", "SONDE_STACKS",     "SONDE_FLOPS" };

static void clear_environment(void)
{
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		unsetenv(variables[i]);
}

/* What is recorded with the environment as it is. */
static void assert_by_environment(const char *expected)
{
	const int64_t dims[] = { 2 };
	sonde_error err = { .message = "" };

	unlink(temp_path("env.sonde"));
	setenv("SONDE_OUTPUT", temp_path("env.sonde"), 1);
	if (sonde_start(NULL, &err))
		fail_msg("%s", err.message);
	{
		SONDE_MODULE("m");
	}
	SONDE_OP("op", SONDE_COMPUTE, .flops = 8, .shape = dims, .n_dims = 1) {
	}
	sonde_alloc(SONDE_CPU, (void *)8, 10, 0);
	sonde_launch("k", 5);
	assert_string_equal(sonde_output(), temp_path("env.sonde"));
	recorded *r = record_stop();
	assert_string_equal(r->text, expected);
	record_done(r);
	clear_environment();
}

static void the_environment_says_the_same_by_the_same_names(void **state)
{
	static const struct {
		const char *name, *value, *expected;
	} cases[] = {
		{ "SONDE_REPORT", "", "+m -m +op(flops=8,shape=2) -op alloc0:10=10 launch k" },
		{ "SONDE_ACTIVITIES", "cpu", "+m -m +op(flops=8,shape=2) -op" },
		{ "SONDE_ACTIVITIES", "device,memory", "+m -m alloc0:10=10 launch k" },
		{ "SONDE_MEMORY", "0", "+m -m +op(flops=8,shape=2) -op launch k" },
		{ "SONDE_MODULES", "off", "+op(flops=8,shape=2) -op alloc0:10=10 launch k" },
		{ "SONDE_SHAPES", "no", "+m -m +op(flops=8) -op alloc0:10=10 launch k" },
		{ "SONDE_FLOPS", "False", "+m -m +op(shape=2) -op alloc0:10=10 launch k" },
		{ "SONDE_STACKS", "1", "+m -m +op(flops=8,shape=2) -op alloc0:10=10 launch k" },
		{ "SONDE_FULL", "drop", "+m -m +op(flops=8,shape=2) -op alloc0:10=10 launch k" },
	};

	(void)state;
	clear_environment();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		setenv(cases[i].name, cases[i].value, 1);
		assert_by_environment(cases[i].expected);
	}
}

/* The program goes on; one line says what was wrong. */
static void wrong_values_in_the_environment_are_said_and_not_used(void **state)
{
	static const struct {
		const char *name, *value, *said;
	} cases[] = {
		{ "SONDE_ACTIVITIES", "gpu",
		  "sonde: SONDE_ACTIVITIES=gpu is not a list of cpu, memory, device; using the default\n" },
		{ "SONDE_BUFFER", "lots",
		  "sonde: SONDE_BUFFER=lots is not a size from 256K to 64G; using the default\n" },
		{ "SONDE_BUFFER", "-1", "sonde: SONDE_BUFFER=-1 is not a size from 256K to 64G; using the default\n" },
		{ "SONDE_BUFFER", "99999999999999999999G",
		  "sonde: SONDE_BUFFER=99999999999999999999G is not a size from 256K to 64G; using the default\n" },
		{ "SONDE_BUFFER", "4Mx",
		  "sonde: SONDE_BUFFER=4Mx is not a size from 256K to 64G; using the default\n" },
		{ "SONDE_FULL", "wait", "sonde: SONDE_FULL=wait is not block, overwrite or drop; using the default\n" },
		{ "SONDE_CLOCK", "sundial", "sonde: SONDE_CLOCK=sundial is not monotonic or tsc; using the default\n" },
		{ "SONDE_REPORT", "many", "sonde: SONDE_REPORT=many is not a number of names; using the default\n" },
		{ "SONDE_MEMORY", "maybe", "sonde: SONDE_MEMORY=maybe is not 0 or 1; using the default\n" },
		{ "SONDE_BUFFER", "4MiB", "" },
		{ "SONDE_BUFFER", "1048576", "" },
		{ "SONDE_BUFFER", "512k", "" },
		{ "SONDE_REPORT", "0", "" },
	};

	(void)state;
	clear_environment();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *said_path = temp_path("said");
		int before = dup(STDERR_FILENO), file = open(said_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		size_t len;
		dup2(file, STDERR_FILENO);
		setenv(cases[i].name, cases[i].value, 1);
		assert_by_environment("+m -m +op(flops=8,shape=2) -op alloc0:10=10 launch k");
		dup2(before, STDERR_FILENO);
		close(before);
		close(file);
		char *said = (char *)temp_read(said_path, &len);
		assert_string_equal(said, cases[i].said);
		free(said);
	}
}

/* Half of it would be another file's name. */
static void an_output_that_is_too_long_is_not_cut(void **state)
{
	static char path[4092];
	sonde_config config = { .struct_size = sizeof config, .output = path };
	sonde_error err;

	(void)state;
	snprintf(path, sizeof path, "%s", temp_path(""));
	for (size_t n = strlen(path); n + 4 < sizeof path; n += 2)
		memcpy(path + n, "./", 2);
	memcpy(path + sizeof path - 4, "%p", 3);
	assert_int_equal(sonde_start(&config, &err), SONDE_E_USAGE);
	assert_string_equal(err.message, "the path of the output is too long");
	assert_int_equal(sonde_stop(&err), SONDE_E_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_values_in_the_struct_are_errors),
		cmocka_unit_test(a_shorter_struct_is_understood),
		cmocka_unit_test(struct_and_environment_have_the_same_names_and_defaults),
		cmocka_unit_test(activities_come_before_the_switches),
		cmocka_unit_test(the_environment_says_the_same_by_the_same_names),
		cmocka_unit_test(wrong_values_in_the_environment_are_said_and_not_used),
		cmocka_unit_test(an_output_that_is_too_long_is_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
