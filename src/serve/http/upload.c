/* See upload.h. */
#define _GNU_SOURCE
#include "serve/http/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"

struct upload {
	int fd;
	uint64_t len;
	bool is_kept;
	char path[4096];
};

/* Made at the first upload; the lock is held. */
static bool make_directory(sonde_server *s)
{
	const char *parent = secure_getenv("TMPDIR");
	char *path;

	if (s->uploads)
		return true;
	if (asprintf(&path, "%s/sonde-serve.XXXXXX", parent && *parent == '/' ? parent : "/tmp") < 0)
		return false;
	if (mkdtemp(path))
		s->uploads = path;
	else
		free(path);
	return s->uploads != NULL;
}

upload *upload_begin(sonde_server *s, reply *out)
{
	upload *u = calloc(1, sizeof *u);

	if (!u) {
		reply_out_of_memory(out);
		return NULL;
	}
	pthread_mutex_lock(&s->lock);
	bool is_there = make_directory(s);
	if (is_there)
		snprintf(u->path, sizeof u->path, "%s/%u", s->uploads, ++s->n_uploads);
	pthread_mutex_unlock(&s->lock);
	u->fd = is_there ? open(u->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	if (u->fd >= 0)
		return u;
	reply_error(out, 507, "no-room", "The server cannot store files: %s.", strerror(errno));
	free(u);
	return NULL;
}

bool upload_write(upload *u, uint64_t max, const char *bytes, size_t len, reply *out)
{
	if (len > max - u->len) {
		reply_error(out, 413, "too-large", "The body exceeds the size limit.");
		return false;
	}
	if (!file_write_all(u->fd, bytes, len)) {
		reply_error(out, 507, "no-room", "The server cannot store the file: %s.", strerror(errno));
		return false;
	}
	u->len += len;
	return true;
}

const char *upload_path(const upload *u)
{
	return u ? u->path : NULL;
}

void upload_keep(upload *u)
{
	u->is_kept = true;
}

void upload_abandon(upload *u)
{
	if (!u)
		return;
	close(u->fd);
	if (!u->is_kept)
		unlink(u->path);
	free(u);
}

void uploads_remove(sonde_server *s)
{
	char path[4096];

	for (uint32_t i = 1; s->uploads && i <= s->n_uploads; i++) {
		snprintf(path, sizeof path, "%s/%u", s->uploads, i);
		unlink(path);
	}
	if (s->uploads)
		rmdir(s->uploads);
	free(s->uploads);
	s->uploads = NULL;
}
