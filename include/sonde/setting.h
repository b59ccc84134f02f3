/* A value that a user may change, by its key: of an analysis, a rule or an export format. */
#ifndef SONDE_SETTING_H
#define SONDE_SETTING_H

/* { "dataloader.warn", "5%" } */
typedef struct sonde_setting {
	const char *key;
	const char *value; /* "5%", "20ms", "64MiB", "1.1", "yes" */
} sonde_setting;

#endif
