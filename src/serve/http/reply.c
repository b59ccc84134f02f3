/* See reply.h. */
#include "serve/http/reply.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/format_number.h"

static void drop(reply *out)
{
	if (out->stream)
		fclose(out->stream);
	out->stream = NULL;
	free(out->bytes);
	out->bytes = NULL;
	out->len = 0;
}

json_writer *reply_json(reply *out)
{
	drop(out);
	out->type = "application/json";
	out->stream = open_memstream(&out->bytes, &out->len);
	if (!out->stream)
		out->stream = fopen("/dev/null", "we");
	out->json = json_to(out->stream);
	return &out->json;
}

void reply_bytes(reply *out, const char *type, void *bytes, size_t len)
{
	drop(out);
	if (!bytes) {
		reply_out_of_memory(out);
		return;
	}
	out->type = type;
	out->bytes = bytes;
	out->len = len;
}

void reply_error(reply *out, unsigned status, const char *code, const char *format, ...)
{
	char message[600];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	json_writer *w = reply_json(out);
	json_begin_object(w);
	json_key(w, "error");
	json_begin_object(w);
	put_text(w, "code", code);
	put_text(w, "message", message);
	json_end_object(w);
	json_end_object(w);
	out->status = status;
}

/* Messages of the library have no full stop. */
void reply_failure(reply *out, sonde_status status, const sonde_error *err)
{
	static const struct {
		unsigned http;
		const char *code;
	} as[] = {
		[SONDE_E_USAGE] = { 400, "bad-request" },
		[SONDE_E_FORMAT] = { 422, "bad-trace" },
		[SONDE_E_TRUNCATED] = { 422, "bad-trace" },
		[SONDE_E_VERSION] = { 422, "bad-trace" },
		[SONDE_E_IO] = { 500, "io" },
		[SONDE_E_MEMORY] = { 507, "out-of-memory" },
		[SONDE_E_STATE] = { 408, "stopped" },
		[SONDE_E_UNSUPPORTED] = { 501, "unsupported" },
	};

	reply_error(out, as[status].http, as[status].code, "%s.", err->message);
}

void reply_out_of_memory(reply *out)
{
	reply_error(out, 507, "out-of-memory", "The server is out of memory.");
}

void reply_finish(reply *out)
{
	if (!out->stream)
		return;
	bool ok = fflush(out->stream) == 0 && !ferror(out->stream) && out->bytes;
	fclose(out->stream);
	out->stream = NULL;
	if (!ok) {
		free(out->bytes);
		out->bytes = NULL;
		out->len = 0;
		out->status = 507;
	}
}

void reply_done(reply *out)
{
	drop(out);
}

void put_text(json_writer *w, const char *key, const char *value)
{
	json_key(w, key);
	json_string(w, value);
}

void put_i64(json_writer *w, const char *key, int64_t value)
{
	json_key(w, key);
	json_i64(w, value);
}

void put_u64(json_writer *w, const char *key, uint64_t value)
{
	json_key(w, key);
	json_u64(w, value);
}

void put_f64(json_writer *w, const char *key, double value)
{
	json_key(w, key);
	json_f64(w, value);
}

void put_bool(json_writer *w, const char *key, bool value)
{
	json_key(w, key);
	json_bool(w, value);
}

void put_known(json_writer *w, const char *key, bool is_known, int64_t value)
{
	json_key(w, key);
	if (is_known)
		json_i64(w, value);
	else
		json_null(w);
}

void put_list(json_writer *w, const char *key)
{
	json_key(w, key);
	json_begin_array(w);
}

void put_name(json_writer *w, const char *text, size_t len, size_t max)
{
	char cut[PUT_NAME_MAX + NUMBER_TEXT + 32], bytes[NUMBER_TEXT];
	size_t half = (max < PUT_NAME_MAX ? max : PUT_NAME_MAX) / 2, tail = len - half;

	if (!max || len <= max) {
		json_stringn(w, text, len);
		return;
	}
	while (half > 0 && (text[half] & 0xc0) == 0x80) /* not into the middle of a character */
		half--;
	while (tail < len && (text[tail] & 0xc0) == 0x80)
		tail++;
	int n = snprintf(cut, sizeof cut, "%.*s\u2026%.*s (cut, %s bytes)", (int)half, text, (int)(len - tail),
			 text + tail, format_count(bytes, len));
	json_stringn(w, cut, (size_t)n);
}
