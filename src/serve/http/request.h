/*
 * A request as the handlers see it: path, parameters, body; all of it from a stranger.
 *
 *   request_parse(&r, "/api/v1/sessions?name=a%20b")     false: refuse it, r.problem says why
 *   request_text(), request_number() ...                 parameters; the first that is wrong fills r.problem
 *   if (*r.problem) ...                                  once, when all were asked for
 *
 * Nothing is allocated. Texts live as long as the request.
 */
#ifndef SONDE_SERVE_HTTP_REQUEST_H
#define SONDE_SERVE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REQUEST_URI_MAX = 8192, REQUEST_PARAMS_MAX = 32, REQUEST_BODY_MAX = 1 << 20 };

typedef struct request_param {
	const char *key, *value;
} request_param;

typedef struct request {
	const char *path; /* decoded, begins with '/' */
	request_param params[REQUEST_PARAMS_MAX];
	size_t n_params;
	const char *body; /* or NULL */
	size_t body_len;
	char problem[160]; /* a sentence; "": none */
	char text[REQUEST_URI_MAX + 1];
} request;

/* The uri as it came: escaped, with its query. */
bool request_parse(request *r, const char *uri);

/* NULL: not given. */
const char *request_text(const request *r, const char *key);
/* From min to max; `otherwise` when not given or wrong. */
int64_t request_number(request *r, const char *key, int64_t min, int64_t max, int64_t otherwise);
bool request_truth(request *r, const char *key, bool otherwise);
/* The index of the value in a list that ends in NULL; 0 when not given or wrong. */
size_t request_choice(request *r, const char *key, const char *const *choices);
/* "0-40,52": calls back for each number below n, which may repeat. False when not given or wrong. */
bool request_numbers(request *r, const char *key, uint64_t n, void (*each)(void *context, uint64_t number),
		     void *context);

/* Members of the body, a JSON object. The text is malloc'ed, at most max bytes of valid UTF-8; NULL: it is missing or
   no such text, and r->problem says so. */
char *request_body_text(request *r, const char *key, size_t max);
int64_t request_body_number(request *r, const char *key, int64_t min, int64_t max, int64_t otherwise);

/* The whole text is one number from 0 on. */
bool request_parse_number(const char *text, uint64_t *ret_number);

#endif
