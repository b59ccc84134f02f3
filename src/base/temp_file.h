/* Files without a name, for what does not fit into memory. They are gone when they are closed, whatever happens. */
#ifndef SONDE_BASE_TEMP_FILE_H
#define SONDE_BASE_TEMP_FILE_H

/* Opens one for reading and writing: in `dir` (NULL: no preference), else in $TMPDIR, /var/tmp or /tmp. Returns -1 with
   errno of the last try when none of them can be written. */
int temp_file_open(const char *dir);

#endif
