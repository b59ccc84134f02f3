/* What a trace remembers of the files it was imported from: meta entries of each rank. */
#ifndef SONDE_IMPORT_FACTS_H
#define SONDE_IMPORT_FACTS_H

#define FACT_FILE "sonde.file"	     /* the name of its file */
#define FACT_EVENTS "sonde.n_events" /* events in it, sound or not */
#define FACT_BYTES "sonde.n_bytes"   /* its text, unpacked */

#endif
