/*
 * A Chrome trace from a stranger: imported, fast and carefully, and read back. Both ways must give the same image.
 *
 * The first byte is not part of the text: it says how many threads and which instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "import/importer.h"
#include "store/build/builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sonde_index *import_text(const uint8_t *data, size_t size, unsigned n_threads, bool scalar, bool careful)
{
	builder *b = builder_new(&(builder_options){ .n_threads = 1 });
	sonde_index *ix = NULL;
	sonde_error err;
	input *in;

	if (!b || input_open_memory(data, size, &in))
		abort();
	import_job job = { .in = in,
			   .builder = b,
			   .file = "fuzz",
			   .n_threads = n_threads,
			   .scalar = scalar,
			   .careful = careful,
			   .rank = -1,
			   .world_size = -1 };
	if (!chrome_importer.run(&job, &err) && builder_finish(b, &ix, &err))
		abort();
	input_close(in);
	builder_free(b);
	return ix;
}

static void compare(const sonde_index *a, const sonde_index *b)
{
	size_t n_a, n_b;

	if (!a != !b)
		abort();
	if (!a)
		return;
	const uint8_t *image = index_bytes(a, &n_a), *other = index_bytes(b, &n_b);
	if (n_a != n_b || memcmp(image, other, n_a) != 0)
		abort();
}

/* Every slice and its arguments. */
static void read_back(const sonde_index *ix)
{
	static lane_cursor c;
	args_reader *args = args_reader_new(ix);
	index_slice s;
	args_text text;
	size_t n;

	if (!args || index_verify(ix, NULL))
		abort();
	index_lanes(ix, &n);
	for (uint32_t i = 0; i < n; i++) {
		for (lane_first(&c, ix, i, 0); lane_next(&c, &s);)
			if (s.args && !args_read(args, s.args, &text))
				abort();
		if (c.damaged)
			abort();
	}
	args_reader_free(args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	/* A block of its own size, so that a sanitizer sees what reads further. */
	uint8_t how = data[0], *text = malloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	sonde_index *fast = import_text(text, size - 1, how & 1 ? 2 : 1, how & 2, false);
	sonde_index *careful = import_text(text, size - 1, 1, false, true);
	compare(fast, careful);
	if (fast)
		read_back(fast);
	index_free(fast);
	index_free(careful);
	free(text);
	return 0;
}
