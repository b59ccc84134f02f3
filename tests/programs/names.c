/* Scopes whose names are made at run time, each name once: prog_names N LENGTH */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sonde/record.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10, length = argc > 2 ? atol(argv[2]) : 20;
	char number[48], *name = length > 0 ? malloc((size_t)length + sizeof number) : NULL;

	if (!name)
		return 1;
	for (long i = 0; i < n; i++) {
		int len = snprintf(number, sizeof number, "function_number_%07ld", i);
		memset(name, 'x', (size_t)length);
		memcpy(name, number, (size_t)len);
		name[length > len ? length : len] = '\0';
		sonde_scope scope = sonde_begin(name);
		sonde_end(scope);
	}
	free(name);
	return 0;
}
