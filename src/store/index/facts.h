/* What a trace remembers of the files it was read from: meta entries of each rank. */
#ifndef SONDE_STORE_INDEX_FACTS_H
#define SONDE_STORE_INDEX_FACTS_H

#define FACT_FILE "sonde.file"	     /* the name of its file */
#define FACT_EVENTS "sonde.n_events" /* events in it, sound or not */
#define FACT_BYTES "sonde.n_bytes"   /* its text, unpacked */
#define FACT_WRITER "sonde.writer"   /* "sonde": the events were recorded by Sonde */

#endif
