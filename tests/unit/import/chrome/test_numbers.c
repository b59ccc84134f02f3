/* A reader's strings, sites and tracks as the builder's: classes of sites, ids that are numbers or texts. */
#include "unit/import/imported.h"

/* The class that a site of this name and category gets. */
static site_class class_of(const char *name, const char *category)
{
	char json[256];
	int len = snprintf(json, sizeof json, "[{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"ts\":1,\"dur\":1}]",
			   name, category);
	imported result = import_bytes(json, (size_t)len, (import_how){ 0 });
	size_t n;
	const index_site *sites = index_sites(result.ix, &n);

	assert_int_equal(n, 1);
	site_class class = (site_class)sites[0].class;
	index_free(result.ix);
	return class;
}

static void the_category_says_what_a_site_is(void **state)
{
	static const struct {
		const char *name, *category;
		site_class class;
	} cases[] = {
		{ "aten::mm", "cpu_op", CLASS_COMPUTE },
		{ "aten::mm", "Operator", CLASS_COMPUTE }, /* of older writers */
		{ "k", "kernel", CLASS_KERNEL },
		{ "k", "Kernel", CLASS_KERNEL },
		{ "m", "gpu_memcpy", CLASS_COPY },
		{ "m", "gpu_memset", CLASS_COPY },
		{ "cudaLaunchKernel", "cuda_runtime", CLASS_RUNTIME },
		{ "hipLaunchKernel", "hip_runtime", CLASS_RUNTIME },
		{ "s", "cuda_sync", CLASS_SYNC },
		{ "f", "python_function", CLASS_PYTHON },
		{ "f", "user_annotation", CLASS_ANNOTATION },
		{ "f", "overhead", CLASS_OVERHEAD },
		{ "f", "kernels", CLASS_OTHER }, /* the whole category */
		{ "kernel", "", CLASS_OTHER },
		/* A step is one whatever its category. */
		{ "ProfilerStep#3", "user_annotation", CLASS_STEP },
		{ "ProfilerStep#3", "cpu_op", CLASS_STEP },
		{ "MyProfilerStep", "cpu_op", CLASS_COMPUTE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (class_of(cases[i].name, cases[i].category) != cases[i].class)
			fail_msg("%s of %s has another class", cases[i].name, cases[i].category);
}

static void ids_written_in_several_ways_are_one_track(void **state)
{
	static const import_case cases[] = {
		{ "numbers, texts of numbers and hexadecimal",
		  "[{'ph':'X','name':'a','pid':1,'tid':16,'ts':1,'dur':1},{'ph':'X','name':'b','pid':'1','tid':'16','"
		  "ts':"
		  "3,'dur':1},{'ph':'X','name':'c','pid':'0x1','tid':'0x10','ts':5,'dur':1}]",
		  "slice 1/16 [1000 +1000] :a\n"
		  "slice 1/16 [3000 +1000] :b\n"
		  "slice 1/16 [5000 +1000] :c\n"
		  "3 events, 0 lost\n" },
		{ "a text and the number it has inside are two",
		  "[{'ph':'X','name':'a','pid':'p','tid':'0','ts':1,'dur':1},{'ph':'X','name':'b','pid':0,'tid':'p','"
		  "ts':"
		  "3,'dur':1}]",
		  "slice <p>/0 [1000 +1000] :a\n"
		  "slice 0/<p> [3000 +1000] :b\n"
		  "2 events, 0 lost\n" },
	};

	(void)state;
	CHECK_CASES(cases);
}

static void a_name_of_two_categories_is_two_sites_with_one_text(void **state)
{
	static const char json[] = "[{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"x\",\"ts\":1,\"dur\":1},"
				   "{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"y\",\"ts\":3,\"dur\":1},"
				   "{\"ph\":\"X\",\"name\":\"\\u0061\",\"cat\":\"x\",\"ts\":5,\"dur\":1}]";
	imported result = import_bytes(json, sizeof json - 1, (import_how){ 0 });
	size_t n;
	const index_site *sites = index_sites(result.ix, &n);

	(void)state;
	/* The third is written differently and means the first. */
	assert_int_equal(n, 2);
	assert_int_equal(sites[0].name, sites[1].name);
	assert_int_not_equal(sites[0].category, sites[1].category);
	assert_string_equal(index_text(result.ix, sites[0].name), "a");
	index_free(result.ix);
}

/* Longer than LONG_TEXT: kept in memory of its own, and once. */
static void names_of_any_length_are_kept(void **state)
{
	static const size_t lengths[] = { 1, 1000, 32767, 32768, 300000 };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		size_t room = lengths[i] + 100, len;
		char *json = malloc(2 * room);
		assert_non_null(json);
		int n = sprintf(json, "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"");
		memset(json + n, 'x', lengths[i]);
		strcpy(json + n + lengths[i], "\"}]");
		imported result = import_bytes(json, strlen(json), (import_how){ 0 });
		size_t n_sites;
		const index_site *sites = index_sites(result.ix, &n_sites);
		assert_int_equal(n_sites, 1);
		const char *name = index_textn(result.ix, sites[0].name, &len);
		assert_int_equal(len, lengths[i]);
		assert_memory_equal(name, json + n, len);
		index_free(result.ix);
		free(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_category_says_what_a_site_is),
		cmocka_unit_test(ids_written_in_several_ways_are_one_track),
		cmocka_unit_test(a_name_of_two_categories_is_two_sites_with_one_text),
		cmocka_unit_test(names_of_any_length_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
