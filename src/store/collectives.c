/* See collectives.h. */
#define _GNU_SOURCE
#include "store/collectives.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* The longer words first: an all-reduce is no reduce. */
collective_kind collective_kind_of(const char *name)
{
	static const struct {
		const char *word;
		collective_kind kind;
	} words[] = {
		{ "allreduce", COLLECTIVE_ALL_REDUCE }, { "reducescatter", COLLECTIVE_REDUCE_SCATTER },
		{ "allgather", COLLECTIVE_ALL_GATHER }, { "alltoall", COLLECTIVE_ALL_TO_ALL },
		{ "barrier", COLLECTIVE_BARRIER },	{ "broadcast", COLLECTIVE_BROADCAST },
		{ "gather", COLLECTIVE_GATHER },	{ "scatter", COLLECTIVE_SCATTER },
		{ "reduce", COLLECTIVE_REDUCE },	{ "send", COLLECTIVE_SEND },
		{ "recv", COLLECTIVE_RECEIVE },
	};
	char plain[128];
	size_t n = 0;

	for (; *name && n + 1 < sizeof plain; name++)
		if (*name != '_')
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = 0;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(plain, words[i].word))
			return words[i].kind;
	return COLLECTIVE_UNKNOWN;
}

const char *collective_kind_name(int64_t kind)
{
	static const char *const names[COLLECTIVE_KINDS] = {
		[COLLECTIVE_ALL_REDUCE] = "all-reduce", [COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
		[COLLECTIVE_ALL_GATHER] = "all-gather", [COLLECTIVE_ALL_TO_ALL] = "all-to-all",
		[COLLECTIVE_BARRIER] = "barrier",	[COLLECTIVE_BROADCAST] = "broadcast",
		[COLLECTIVE_REDUCE] = "reduce",		[COLLECTIVE_GATHER] = "gather",
		[COLLECTIVE_SCATTER] = "scatter",	[COLLECTIVE_SEND] = "send",
		[COLLECTIVE_RECEIVE] = "receive",
	};

	return kind >= 0 && kind < COLLECTIVE_KINDS ? names[kind] : NULL;
}

int32_t collective_element_bytes(const char *dtype)
{
	static const struct {
		const char *names;
		int32_t bytes;
	} sizes[] = {
		{ " double long int64 float64 complexfloat ", 8 },
		{ " float int int32 float32 complexhalf ", 4 },
		{ " half bfloat16 short int16 float16 ", 2 },
		{ " byte char bool int8 uint8 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz ", 1 },
		{ " complexdouble ", 16 },
	};
	char word[40] = " ";
	const char *from = strncmp(dtype, "c10::", 5) == 0 ? dtype + 5 : dtype;
	size_t n = 1;

	for (; *from && n + 2 < sizeof word; from++)
		word[n++] = (char)tolower((unsigned char)*from);
	word[n] = ' ';
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (n > 1 && strstr(sizes[i].names, word))
			return sizes[i].bytes;
	return -1;
}
