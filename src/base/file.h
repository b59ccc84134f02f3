/* Writing files. */
#ifndef SONDE_BASE_FILE_H
#define SONDE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* All of it, however many calls that takes. False with errno set; ENOSPC when nothing more went in without a reason. */
bool file_write_all(int fd, const void *bytes, size_t len);

#endif
