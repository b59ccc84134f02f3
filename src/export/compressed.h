/*
 * A stream that compresses what is written to it.
 *
 *   FILE *out = compressed_open(file, COMPRESSION_GZIP);    NULL when out of memory
 *   fprintf(out, ...);
 *   fclose(out);                                            writes the end; the file stays open
 *
 * fclose() returns EOF, and ferror(out) before it is true, when the file cannot be written.
 */
#ifndef SONDE_EXPORT_COMPRESSED_H
#define SONDE_EXPORT_COMPRESSED_H

#include <stdio.h>

typedef enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_ZSTD } compression;

/* By the end of a file's name: .gz, .zst. */
compression compression_of(const char *path);
/* ".gz", ".zst" or "". */
const char *compression_end(compression c);

/* Not of COMPRESSION_NONE. */
FILE *compressed_open(FILE *file, compression c);

#endif
