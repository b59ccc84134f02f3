/* Reading and writing files. */
#ifndef SONDE_BASE_FILE_H
#define SONDE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of it, however many calls that takes. False with errno set; ENOSPC when nothing more went in without a reason. */
bool file_write_all(int fd, const void *bytes, size_t len);
/* The same at an offset; the file's position stays. */
bool file_write_at(int fd, const void *bytes, size_t len, uint64_t at);
/* False with errno set, or 0 when the file ends before. */
bool file_read_at(int fd, void *to, size_t len, uint64_t at);

#endif
