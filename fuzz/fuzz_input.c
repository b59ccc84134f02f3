/* Compressed text from a stranger, through the input layer to its end or the damage. */
#include <stdlib.h>
#include <string.h>
#include "import/input/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64 << 20 }; /* a small bomb takes the fuzzer's time, and is what the unit test is for */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t slack[INPUT_SLACK];
	input_window w;
	sonde_error err;
	uint64_t n = 0, offset;
	const uint8_t *first;
	size_t n_first;
	bool last = false;
	input *in;

	if (input_open_memory(data, size, &in))
		abort();
	if (!input_peek(in, &first, &n_first, &err))
		do {
			sonde_status status = input_next(in, &w, &err);
			if (status && status != SONDE_E_FORMAT)
				abort();
			if (status)
				break;
			if (w.offset != n || (n == 0 && n_first > w.len) ||
			    memcmp(w.bytes + w.len, slack, INPUT_SLACK) != 0)
				abort();
			n += w.len;
			last = w.last;
			input_release(in, &w);
		} while (!last && n < MOST);
	input_damage(in, &offset);
	input_close(in);
	return 0;
}
