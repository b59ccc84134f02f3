/*
 * Files in memory, which others may cut off while we read them.
 *
 *   mapping_guard()      once, by who must outlive that: the server
 *   mapping_new()        a file, for reading
 *   mapping_is_broken()  a part of it was gone when it was read
 *   mapping_free()
 *
 * A page behind the end of a file raises SIGBUS when it is read. With the guard, what is gone reads as zeros from then
 * on, and the mapping is broken: no way out of the middle of a function that holds locks and memory is needed, and
 * zeros are no worse than what a hostile file may hold. A copy would need as much memory, or disk, as the trace has; a
 * lease makes whoever writes the file wait for us. Faults that are not ours go where they went before.
 */
#ifndef SONDE_BASE_MAPPING_H
#define SONDE_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

/* Any thread. False: the system refuses. */
bool mapping_guard(void);

void *mapping_new(int fd, size_t len); /* NULL, errno says why; len > 0 */
void mapping_free(void *start, size_t len);
bool mapping_is_broken(const void *start);

#endif
