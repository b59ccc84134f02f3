/* Starting and stopping: <sonde/serve.h>. */
#include "serve/server.h"

#include <time.h>
#include "base/error.h"
#include "import/files.h"
#include "serve/page.h"
#include "serve/http/upload.h"
#include "base/mapping.h"
#include <sonde/query.h>

#define UPLOAD_BYTES ((uint64_t)4 << 30)
#define QUERY_NS 10000000000

static sonde_server *new_server(const sonde_serve_options *given)
{
	sonde_server *s = calloc(1, sizeof *s);
	pthread_condattr_t clock;

	if (!s)
		return NULL;
	if (given && given->struct_size)
		memcpy(&s->options, given,
		       given->struct_size < sizeof s->options ? given->struct_size : sizeof s->options);
	if (!s->options.upload_bytes)
		s->options.upload_bytes = UPLOAD_BYTES;
	if (!s->options.query_ns)
		s->options.query_ns = QUERY_NS;
	pthread_mutex_init(&s->lock, NULL);
	sem_init(&s->heavy, 0, HEAVY_MAX);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &clock);
	pthread_condattr_destroy(&clock);
	return s;
}

/* The recordings that a directory has beside other tools' traces. */
static sonde_status add_recordings(sonde_server *s, const char *folder, sonde_error *err)
{
	file_list files;
	sonde_status status = files_left_out(folder, &files, err);

	for (size_t i = 0; i < files.n && !status; i++)
		status = sessions_add_path(s, files.items[i], err);
	files_done(&files);
	return status;
}

sonde_status sonde_server_start(const char *const *paths, size_t n_paths, const sonde_serve_options *options,
				sonde_server **ret_server, sonde_error *err)
{
	sonde_server *s = new_server(options);
	sonde_status status = s ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");

	if (!status && !mapping_guard())
		status = error_set(err, SONDE_E_UNSUPPORTED, -1, "cannot install a handler for SIGBUS");
	for (size_t i = 0; i < n_paths && !status; i++)
		status = sessions_add_path(s, paths[i], err);
	if (!status)
		sessions_scan(s);
	for (size_t i = 0; i < n_paths && !status; i++)
		status = add_recordings(s, paths[i], err);
	if (!status)
		status = opener_start(s, err);
	if (!status)
		status = http_start(s, err);
	if (status) {
		sonde_server_stop(s);
		return status;
	}
	*ret_server = s;
	return SONDE_OK;
}

const char *sonde_server_url(const sonde_server *server)
{
	return server->url;
}

bool sonde_server_has_page(const sonde_server *server)
{
	(void)server;
	return page_files[0].path != NULL;
}

void sonde_server_stop(sonde_server *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	for (size_t i = 0; i < HEAVY_MAX; i++)
		if (s->queries[i])
			sonde_query_interrupt(s->queries[i]);
	pthread_cond_broadcast(&s->changed);
	uploads_remove(s); /* first: whoever calls may not wait for requests that take long */
	pthread_mutex_unlock(&s->lock);
	http_stop(s);
	opener_stop(s);
	sessions_done(s);
	uploads_remove(s);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	sem_destroy(&s->heavy);
	free(s);
}
