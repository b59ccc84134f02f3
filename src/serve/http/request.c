/* See request.h. */
#include "serve/http/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/json_members.h"
#include "base/json_read.h"
#include "base/parse_units.h"
#include "base/utf8.h"

/* The first problem is the one that is told. */
static bool __attribute__((format(printf, 2, 3))) refuse(request *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!*r->problem)
		vsnprintf(r->problem, sizeof r->problem, format, args);
	va_end(args);
	return false;
}

/* ---- The address ------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* In place. False: not what an address may hold. */
static bool unescape(char *text, bool is_query)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		char c = *at;
		if (c == '%') {
			int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
			if (low < 0)
				return false;
			c = (char)(high * 16 + low);
			at += 2;
		} else if (c == '+' && is_query) {
			c = ' ';
		}
		if (c == '\0')
			return false;
		*to++ = c;
	}
	*to = '\0';
	return true;
}

static bool is_text(const char *text, size_t len)
{
	uint32_t code;

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_decode(text + i, len - i, &code);
		if (n == 0 || code == 0)
			return false;
	}
	return true;
}

static bool add_param(request *r, char *pair)
{
	char *value = strchr(pair, '=');

	if (!*pair)
		return true;
	if (r->n_params == REQUEST_PARAMS_MAX)
		return refuse(r, "The address has too many parameters.");
	if (value)
		*value++ = '\0';
	else
		value = pair + strlen(pair);
	if (!unescape(pair, true) || !unescape(value, true) || !is_text(pair, strlen(pair)) ||
	    !is_text(value, strlen(value)))
		return refuse(r, "A parameter of the address is not UTF-8 text.");
	r->params[r->n_params++] = (request_param){ pair, value };
	return true;
}

bool request_parse(request *r, const char *uri)
{
	size_t len = strlen(uri);

	r->n_params = 0;
	r->body = NULL;
	r->body_len = 0;
	*r->problem = '\0';
	r->path = "/";
	if (len > REQUEST_URI_MAX)
		return refuse(r, "The address is too long.");
	memcpy(r->text, uri, len + 1);
	char *query = strchr(r->text, '?');
	if (query)
		*query++ = '\0';
	if (r->text[0] != '/' || !unescape(r->text, false) || !is_text(r->text, strlen(r->text)))
		return refuse(r, "The path of the address is not UTF-8 text.");
	r->path = r->text;
	for (char *pair = query; pair;) {
		char *next = strchr(pair, '&');
		if (next)
			*next++ = '\0';
		if (!add_param(r, pair))
			return false;
		pair = next;
	}
	return true;
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

const char *request_text(const request *r, const char *key)
{
	for (size_t i = 0; i < r->n_params; i++)
		if (strcmp(r->params[i].key, key) == 0)
			return r->params[i].value;
	return NULL;
}

/* Digits from text on; NULL when there are none or too many. */
static const char *parse_digits(const char *text, uint64_t *ret_number)
{
	uint64_t n = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		unsigned digit = (unsigned)(*text - '0');
		if (n > (UINT64_MAX - digit) / 10)
			return NULL;
		n = n * 10 + digit;
	}
	*ret_number = n;
	return text;
}

bool request_parse_number(const char *text, uint64_t *ret_number)
{
	const char *end = parse_digits(text, ret_number);

	return end && !*end;
}

static bool parse_signed(const char *text, int64_t *ret_number)
{
	uint64_t n;
	bool is_negative = *text == '-';

	if (!request_parse_number(text + is_negative, &n) || n > INT64_MAX)
		return false;
	*ret_number = is_negative ? -(int64_t)n : (int64_t)n;
	return true;
}

static bool check_number(request *r, const char *key, const char *text, int64_t min, int64_t max, int64_t *ret)
{
	char range[64];

	if (parse_signed(text, ret) && *ret >= min && *ret <= max)
		return true;
	snprintf(range, sizeof range, "from %lld to %lld", (long long)min, (long long)max);
	return refuse(r, "%s must be a whole number %s.", key, range);
}

int64_t request_number(request *r, const char *key, int64_t min, int64_t max, int64_t otherwise)
{
	const char *text = request_text(r, key);
	int64_t n;

	return text && check_number(r, key, text, min, max, &n) ? n : otherwise;
}

bool request_truth(request *r, const char *key, bool otherwise)
{
	const char *text = request_text(r, key);
	bool truth = otherwise;

	if (text && !parse_truth(text, &truth))
		refuse(r, "%s must be yes or no.", key);
	return truth;
}

size_t request_choice(request *r, const char *key, const char *const *choices)
{
	const char *text = request_text(r, key);
	char list[96] = "";

	for (size_t i = 0; text && choices[i]; i++) {
		if (strcmp(choices[i], text) == 0)
			return i;
		size_t len = strlen(list);
		snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", choices[i]);
	}
	if (text)
		refuse(r, "%s must be one of %s.", key, list);
	return 0;
}

bool request_numbers(request *r, const char *key, uint64_t n, void (*each)(void *context, uint64_t number),
		     void *context)
{
	const char *at = request_text(r, key);
	uint64_t first, last;

	if (!at)
		return false;
	for (; *at; at += *at == ',') {
		at = parse_digits(at, &first);
		last = first;
		if (at && *at == '-')
			at = parse_digits(at + 1, &last);
		if (!at || last < first || (*at && *at != ','))
			return refuse(r, "%s must be a list of numbers such as 0-40,52.", key);
		for (uint64_t i = first; i < n && i <= last; i++)
			each(context, i);
	}
	return true;
}

/* ---- The body ---------------------------------------------------------------------------------------------------- */

static bool find_member(request *r, const char *key, const char **ret_value, size_t *ret_len)
{
	if (!r->body || !json_is_valid(r->body, r->body_len))
		return refuse(r, "The body must be a JSON object.");
	return json_get(r->body, r->body_len, key, ret_value, ret_len);
}

char *request_body_text(request *r, const char *key, size_t max)
{
	const char *value;
	size_t len;
	unsigned repairs = 0;

	if (!find_member(r, key, &value, &len) || len < 2 || *value != '"') {
		refuse(r, "The body needs a string \"%s\".", key);
		return NULL;
	}
	char *text = malloc(3 * len + 1);
	size_t n = text ? json_unescape(value + 1, len - 2, text, &repairs) : 0;
	if (text && n <= max && is_text(text, n)) {
		text[n] = '\0';
		return text;
	}
	free(text);
	refuse(r, "\"%s\" is too long or not a string.", key);
	return NULL;
}

int64_t request_body_number(request *r, const char *key, int64_t min, int64_t max, int64_t otherwise)
{
	const char *value;
	char text[24];
	size_t len;
	int64_t n;

	if (!find_member(r, key, &value, &len) || (len == 4 && memcmp(value, "null", 4) == 0))
		return otherwise;
	snprintf(text, sizeof text, "%.*s", len < sizeof text ? (int)len : 0, value);
	return check_number(r, key, text, min, max, &n) ? n : otherwise;
}
