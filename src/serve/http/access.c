/*
 * Who may ask.
 *
 * Every page that the user's browser has open can send requests to this machine, and a name that somebody else owns can
 * be made to point here. So a request must be for a name that we know (Host), must not come from another page (Origin),
 * and must have the token, in constant time. Both headers are compared as a whole.
 */
#include "serve/server.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/error.h"

enum { HOST_TEXT = 300 };

static bool add_host(sonde_server *s, size_t *n, const char *name, bool has_port)
{
	char text[HOST_TEXT];
	char **grown = realloc(s->hosts, (*n + 2) * sizeof *grown);

	if (!grown)
		return false;
	s->hosts = grown;
	snprintf(text, sizeof text, has_port ? "%s" : "%s:%u", name, s->port);
	s->hosts[*n] = strdup(text);
	s->hosts[*n + 1] = NULL;
	return s->hosts[(*n)++] != NULL;
}

/* "::1" is written "[::1]". */
static bool add_address(sonde_server *s, size_t *n, const char *address)
{
	char text[HOST_TEXT];

	snprintf(text, sizeof text, strchr(address, ':') ? "[%s]" : "%s", address);
	return add_host(s, n, text, false);
}

/* Bound to all addresses: this machine's name and each of them. */
static bool add_own(sonde_server *s, size_t *n)
{
	char name[256] = "", text[INET6_ADDRSTRLEN];
	struct ifaddrs *all = NULL;
	bool ok = gethostname(name, sizeof name - 1) != 0 || !*name || add_host(s, n, name, false);

	if (getifaddrs(&all) != 0)
		return ok;
	for (const struct ifaddrs *a = all; ok && a; a = a->ifa_next) {
		int family = a->ifa_addr ? a->ifa_addr->sa_family : AF_UNSPEC;
		const void *from = family == AF_INET
					   ? (const void *)&((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr
					   : &((struct sockaddr_in6 *)(void *)a->ifa_addr)->sin6_addr;
		if ((family == AF_INET || family == AF_INET6) && inet_ntop(family, from, text, sizeof text))
			ok = add_address(s, n, text);
	}
	freeifaddrs(all);
	return ok;
}

static bool has_port(const char *host)
{
	const char *bracket = strchr(host, ']');

	return strchr(bracket ? bracket : host, ':') != NULL;
}

static bool make_token(sonde_server *s)
{
	uint8_t random[16];

	if (getrandom(random, sizeof random, 0) != sizeof random)
		return false;
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(s->token + 2 * i, 3, "%02x", random[i]);
	return true;
}

sonde_status access_init(sonde_server *s, const char *address, sonde_error *err)
{
	bool is_any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
	size_t n = 0;
	bool ok = add_host(s, &n, "127.0.0.1", false) && add_host(s, &n, "localhost", false) &&
		  add_host(s, &n, "[::1]", false) && (is_any ? add_own(s, &n) : add_address(s, &n, address));

	for (size_t i = 0; ok && i < s->options.n_hosts; i++)
		ok = add_host(s, &n, s->options.hosts[i], has_port(s->options.hosts[i]));
	if (!ok)
		return error_set(err, SONDE_E_MEMORY, -1, "out of memory");
	if (!make_token(s))
		return error_set(err, SONDE_E_UNSUPPORTED, -1, "cannot read random numbers from the system");
	return SONDE_OK;
}

void access_done(sonde_server *s)
{
	for (size_t i = 0; s->hosts && s->hosts[i]; i++)
		free(s->hosts[i]);
	free(s->hosts);
}

bool access_host(const sonde_server *s, const char *host)
{
	for (size_t i = 0; host && s->hosts[i]; i++)
		if (strcasecmp(s->hosts[i], host) == 0)
			return true;
	return false;
}

/* A proxy in front may speak TLS. */
bool access_origin(const sonde_server *s, const char *origin, const char *host)
{
	(void)s;
	if (!origin)
		return true;
	const char *name = strncmp(origin, "http://", 7) == 0	 ? origin + 7
			   : strncmp(origin, "https://", 8) == 0 ? origin + 8
								 : NULL;
	return name && host && strcasecmp(name, host) == 0;
}

bool access_token(const sonde_server *s, const char *token)
{
	volatile unsigned char difference = 0;

	if (!token || strlen(token) != sizeof s->token - 1)
		return false;
	for (size_t i = 0; i < sizeof s->token - 1; i++)
		difference |= (unsigned char)(token[i] ^ s->token[i]);
	return difference == 0;
}

/* The cookie's name holds the port: cookies of one machine's servers are shared. */
static bool has_cookie(const sonde_server *s, const char *cookies)
{
	char name[16], token[sizeof s->token];
	size_t len = (size_t)snprintf(name, sizeof name, "sonde-%u=", s->port);

	for (const char *at = cookies; at; at = strchr(at, ';')) {
		at += strspn(at, "; ");
		if (strncmp(at, name, len) != 0)
			continue;
		at += len;
		snprintf(token, sizeof token, "%.*s", (int)sizeof token - 1, at);
		if (strcspn(at, "; ") == sizeof token - 1 && access_token(s, token))
			return true;
	}
	return false;
}

bool access_credentials(const sonde_server *s, const char *authorization, const char *cookies)
{
	static const char bearer[] = "Bearer ";

	if (authorization && strncmp(authorization, bearer, sizeof bearer - 1) == 0)
		return access_token(s, authorization + sizeof bearer - 1);
	return has_cookie(s, cookies);
}
