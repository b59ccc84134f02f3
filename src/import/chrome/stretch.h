/* A stretch of the event list of a Chrome trace, read event by event, over damage if need be. */
#ifndef SONDE_IMPORT_CHROME_STRETCH_H
#define SONDE_IMPORT_CHROME_STRETCH_H

#include "import/chrome/chrome.h"

typedef struct stretch_text {
	chrome_reader *reader;
	chrome_batch *batch;
	const uint8_t *base, *end;
	bool final; /* nothing comes after end */
} stretch_text;

/* How the reading of a stretch of events ended. */
typedef struct stretch {
	const uint8_t *at; /* nothing before it is needed any more */
	bool ended;	   /* at is behind the list's closing bracket */
	bool lost;	   /* after damage: the next event is to be searched from here */
} stretch;

/* From `at` on, into the text's batch. lost: as the stretch before ended. */
stretch stretch_read(stretch_text *t, const uint8_t *at, bool lost);

#endif
