/* See target.h. */
#include "export/target.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "base/error.h"

/* ---- URLs -------------------------------------------------------------------------------------------------------- */

static bool starts_with(const char *text, const char *start)
{
	return strncasecmp(text, start, strlen(start)) == 0;
}

/* "ftp://host" has a scheme, "./a://b" has none. */
static bool has_scheme(const char *text)
{
	const char *end = strstr(text, "://");

	for (const char *p = text; end && p < end; p++)
		if (!isalnum((unsigned char)*p) && !strchr("+-.", *p))
			return false;
	return end && end > text && isalpha((unsigned char)text[0]);
}

static bool is_host(const char *text, size_t len)
{
	bool is_v6 = len > 2 && text[0] == '[' && text[len - 1] == ']';

	for (size_t i = is_v6; i + is_v6 < len; i++)
		if (is_v6 ? !isxdigit((unsigned char)text[i]) && !strchr(":.", text[i])
			  : !isalnum((unsigned char)text[i]) && !strchr("-._", text[i]))
			return false;
	return len > 0 && len <= TARGET_MAX_HOST;
}

/* The digits behind the colon, up to `end`. 0: no port. */
static unsigned parse_port(const char *text, const char *end)
{
	unsigned port = 0;

	for (; text < end && port <= 65535; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		port = port * 10 + (unsigned)(*text - '0');
	}
	return port <= 65535 ? port : 0;
}

/* `rest` is behind "http://". */
static sonde_status parse_url(export_target *t, const char *text, const char *rest, sonde_error *err)
{
	const char *end = rest + strcspn(rest, "/?#"),
		   *bracket = *rest == '[' ? memchr(rest, ']', (size_t)(end - rest)) : NULL;
	const char *colon = memchr(bracket ? bracket : rest, ':', (size_t)(end - (bracket ? bracket : rest)));
	const char *host_end = colon ? colon : end;

	if (memchr(rest, '@', (size_t)(end - rest))) /* Not repeated: it may be a secret. */
		return error_set(err, SONDE_E_USAGE, -1, "a URL with a user or password is not supported");
	if (!is_host(rest, (size_t)(host_end - rest)))
		return error_set(err, SONDE_E_USAGE, -1, "%.200s: the URL has no valid host", text);
	t->kind = SONDE_TARGET_URL;
	t->port = t->is_secure ? 443 : 80;
	if (colon && !(t->port = parse_port(colon + 1, end)))
		return error_set(err, SONDE_E_USAGE, -1, "%.200s: the URL needs a port from 1 to 65535", text);
	memcpy(t->host, rest, (size_t)(host_end - rest));
	t->path = *end == '/' ? end : "/";
	return SONDE_OK;
}

/* ---- Files and directories --------------------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	return (len && path[len - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

sonde_status target_parse(export_target *ret_target, const char *text, sonde_error *err)
{
	export_target *t = ret_target;

	*t = (export_target){ .kind = SONDE_TARGET_FILE };
	if (!text || strcmp(text, "-") == 0)
		return SONDE_OK;
	t->is_secure = starts_with(text, "https://");
	if (t->is_secure || starts_with(text, "http://"))
		return parse_url(t, text, strstr(text, "://") + 3, err);
	if (has_scheme(text))
		return error_set(err, SONDE_E_USAGE, -1, "%.200s: unknown kind of URL; expected http:// or https://",
				 text);
	if (!*text)
		return error_set(err, SONDE_E_USAGE, -1, "the name of the target is empty");
	t->path = text;
	if (is_directory(text))
		t->kind = SONDE_TARGET_DIRECTORY;
	else
		t->compression = compression_of(text);
	return SONDE_OK;
}

const char *target_words(char *to, unsigned targets)
{
	static const struct {
		unsigned bit;
		const char *words;
	} kinds[] = {
		{ SONDE_TARGET_FILE, "a file" },
		{ SONDE_TARGET_FILE, "standard output" },
		{ SONDE_TARGET_DIRECTORY, "a directory" },
		{ SONDE_TARGET_URL, "a URL" },
	};
	size_t n_left = 0, len = 0;

	for (size_t i = 0; i < 4; i++)
		n_left += (targets & kinds[i].bit) != 0;
	to[0] = '\0';
	for (size_t i = 0; i < 4; i++) {
		if (!(targets & kinds[i].bit))
			continue;
		const char *between = !len ? "" : --n_left == 1 ? " or " : ", ";
		len += (size_t)snprintf(to + len, TARGET_WORDS - len, "%s%s", between, kinds[i].words);
	}
	return to;
}

bool target_has_end(const export_target *target, const char *ends)
{
	const char *slash = target->path ? strrchr(target->path, '/') : NULL;
	const char *name = slash ? slash + 1 : target->path ? target->path : "";
	size_t len = strlen(name) - strlen(compression_end(target->compression));

	while (*ends) {
		size_t end_len = strcspn(ends, ",");
		/* ".json" alone is a name, not an end. */
		if (len > end_len + 1 && name[len - end_len - 1] == '.' &&
		    strncasecmp(name + len - end_len, ends, end_len) == 0)
			return true;
		ends += end_len + (ends[end_len] == ',');
	}
	return false;
}
