/* The files of a trace: what a directory stands for, in which order, and what their names say. */
#ifndef SONDE_IMPORT_FILES_H
#define SONDE_IMPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/vec.h"

typedef VEC(char *) file_list;

/* Every path, and of a directory the traces in it: its *.json, *.json.gz and *.json.zst or, when it has none of these,
   its *.sonde, in their natural order. (A .sonde beside a .json most likely was made from it.) */
sonde_status files_expand(const char *const *paths, size_t n, file_list *ret_files, sonde_error *err);
void files_done(file_list *files);

/* The *.sonde of the directory at path that files_expand() leaves out for other tools' traces, but for those that have
   the name of one (run.sonde beside run.json). None if path is no directory. The caller ends *ret_files. */
sonde_status files_left_out(const char *path, file_list *ret_files, sonde_error *err);

/* Orders names as people do: rank2 before rank10. */
int files_compare(const char *a, const char *b);

/* The rank that a path tells, or -1: the number behind its last "rank" (rank3, rank_3, RANK-3), else behind an "r" that
   stands alone (r3.json), else at the end of the name (trace-3.json). `strictly`: only behind "rank". */
int32_t files_rank(const char *path, bool strictly);

/* The length of a path without .json, .json.gz, .gz, .sonde ... */
size_t files_stem(const char *path);

#endif
