/*
 * A request from a stranger: the address up to the first line feed, then the body. Whatever comes, texts are UTF-8
 * without NUL and numbers within their bounds, or the request is refused with a reason.
 */
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "serve/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	size_t len = strlen(text);
	uint32_t code;

	for (size_t i = 0, n; i < len; i += n)
		if (!(n = utf8_decode(text + i, len - i, &code)))
			abort();
}

static void count(void *context, uint64_t number)
{
	if (number >= 100)
		abort();
	++*(size_t *)context;
}

static void read_body(request *r)
{
	static const char *const keys[] = { "text", "sql", "limit", "a" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		char *text = request_body_text(r, keys[i], 1000);
		if (text ? strlen(text) > 1000 : !*r->problem)
			abort();
		if (text)
			check_text(text);
		free(text);
		int64_t n = request_body_number(r, keys[i], -5, 1000, 7);
		if (n < -5 || n > 1000)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const choices[] = { "time", "self", NULL };
	request *r = calloc(1, sizeof *r);
	const uint8_t *end = memchr(data, '\n', size);
	size_t len = end ? (size_t)(end - data) : size, n = 0;
	char *uri = malloc(len + 1);

	if (!r || !uri)
		abort();
	memcpy(uri, data, len);
	uri[len] = '\0';
	if (!request_parse(r, uri) && !*r->problem)
		abort();
	check_text(r->path);
	for (size_t i = 0; i < r->n_params; i++) {
		const char *key = r->params[i].key;
		check_text(key);
		check_text(r->params[i].value);
		int64_t number = request_number(r, key, -10, 1 << 20, 3);
		if (number < -10 || number > 1 << 20)
			abort();
		request_truth(r, key, true);
		if (request_choice(r, key, choices) > 1)
			abort();
		request_numbers(r, key, 100, count, &n);
	}
	if (end) {
		/* As it arrives: no NUL behind it. */
		size_t body_len = size - len - 1;
		char *body = malloc(body_len ? body_len : 1);
		if (!body)
			abort();
		memcpy(body, end + 1, body_len);
		r->body = body;
		r->body_len = body_len;
		read_body(r);
		free(body);
	}
	free(uri);
	free(r);
	return 0;
}
