/* The address that the server listens on. */
#include "serve/server.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/error.h"
#include "serve/http/http.h"

static int listen_at(const struct addrinfo *at, uint16_t *ret_port)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	struct sockaddr_storage bound;
	socklen_t len = sizeof bound;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, HTTP_CONNECTIONS) != 0 ||
	    getsockname(fd, (struct sockaddr *)&bound, &len) != 0) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	/* The port lies at the same place in both kinds of address. */
	*ret_port = ntohs(((struct sockaddr_in *)(void *)&bound)->sin_port);
	return fd;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

sonde_status listen_on(sonde_server *s, const char *address, int *ret_fd, sonde_error *err)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	struct addrinfo *at = NULL;
	char port[8];

	snprintf(port, sizeof port, "%u", s->options.port);
	if (getaddrinfo(address, port, &hints, &at) != 0)
		return error_set(err, SONDE_E_USAGE, -1, "\"%s\" is not an IP address, such as 127.0.0.1", address);
	sonde_status status = SONDE_OK;
	if (!is_loopback(at->ai_addr) && !s->options.allow_remote)
		status = error_set(err, SONDE_E_USAGE, -1, "other machines can reach %s; --allow-remote allows it",
				   address);
	else if ((*ret_fd = listen_at(at, &s->port)) < 0)
		status = error_set(err, SONDE_E_UNSUPPORTED, -1, "cannot listen on %s port %s: %s%s", address, port,
				   strerror(errno), errno == EADDRINUSE ? "; --port 0 picks a free one" : "");
	freeaddrinfo(at);
	return status;
}

void listen_name_url(sonde_server *s, const char *address)
{
	bool is_any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
	const char *host = is_any ? "127.0.0.1" : address;

	snprintf(s->url, sizeof s->url, strchr(host, ':') ? "http://[%s]:%u/?token=%s" : "http://%s:%u/?token=%s", host,
		 s->port, s->token);
}
