/* Kinds of work that a device does, as numbers in events and as the words that arguments have for them. */
#ifndef SONDE_FORMAT_RECORDING_DEVICE_WORK_H
#define SONDE_FORMAT_RECORDING_DEVICE_WORK_H

#include <stddef.h>
#include <stdint.h>

#define DEVICE_WORKS(X)                                                                                                \
	X(DEVICE_WORK_UNKNOWN, NULL)                                                                                   \
	X(DEVICE_WORK_KERNEL, "kernel")                                                                                \
	X(DEVICE_WORK_COPY_IN, "copy to the device")                                                                   \
	X(DEVICE_WORK_COPY_OUT, "copy from the device")                                                                \
	X(DEVICE_WORK_COPY_WITHIN, "copy within the device")                                                           \
	X(DEVICE_WORK_COPY_PEER, "copy between devices")                                                               \
	X(DEVICE_WORK_SET, "memset")                                                                                   \
	X(DEVICE_WORK_SYNC, "synchronization")                                                                         \
	X(DEVICE_WORK_COMMUNICATION, "communication")

typedef enum device_work {
#define DEVICE_WORK_NUMBER(kind, text) kind,
	DEVICE_WORKS(DEVICE_WORK_NUMBER)
#undef DEVICE_WORK_NUMBER
		N_DEVICE_WORKS
} device_work;

/* NULL: unknown. */
static inline const char *device_work_text(uint64_t kind)
{
	static const char *const texts[] = {
#define DEVICE_WORK_TEXT(kind, text) text,
		DEVICE_WORKS(DEVICE_WORK_TEXT)
#undef DEVICE_WORK_TEXT
	};

	return kind < N_DEVICE_WORKS ? texts[kind] : NULL;
}

#endif
