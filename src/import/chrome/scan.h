/* Where values end and events begin, as tolerant as chrome_read(). */
#ifndef SONDE_IMPORT_CHROME_SCAN_H
#define SONDE_IMPORT_CHROME_SCAN_H

#include "import/chrome/chrome.h"

static inline const uint8_t *skip_space(const uint8_t *at, const uint8_t *end)
{
	while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
		at++;
	return at;
}

/* From a string's opening quote to behind the closing one. */
typedef enum string_place { STRING_KEY, STRING_IN_OBJECT, STRING_NESTED } string_place;
read_status chrome_skip_string(const uint8_t **at, const uint8_t *end, string_place place, uint32_t *repairs);
/* The end of the JSON value at `at`. */
read_status chrome_skip_value(const uint8_t **at, const uint8_t *end, bool in_object, uint32_t *repairs);

/* By its key; MEMBER_KINDS: it means nothing to us. */
chrome_member_kind chrome_member_kind_of(const chrome_member *m);

/* Where the next event begins at or after `at`, or NULL. `from` is the start of the text. */
const uint8_t *chrome_resync(const uint8_t *from, const uint8_t *at, const uint8_t *end);
/* How many events there seem to be in a text: keys "ph". */
uint64_t chrome_count_events(const uint8_t *at, const uint8_t *end);

#endif
