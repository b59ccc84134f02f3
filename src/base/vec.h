/*
 * A growing array of any type.
 *
 *   VEC(int) v = { 0 };
 *   int *at = VEC_ADD(&v);       zeroed, NULL when out of memory
 *   VEC_DONE(&v);
 */
#ifndef SONDE_BASE_VEC_H
#define SONDE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VEC(type)                                                                                                      \
	struct {                                                                                                       \
		type *items;                                                                                           \
		size_t n, capacity;                                                                                    \
	}

/* Makes room for one more item of `size` bytes and returns its place, or NULL. */
static inline void *vec_add(void **items, size_t *n, size_t *capacity, size_t size)
{
	if (*n == *capacity) {
		size_t more = *capacity ? *capacity * 2 : 8;
		void *grown = more > SIZE_MAX / size ? NULL : realloc(*items, more * size);
		if (!grown)
			return NULL;
		*items = grown;
		*capacity = more;
	}
	return memset((char *)*items + (*n)++ * size, 0, size);
}

/* The same items in an empty one. False when out of memory. */
static inline bool vec_copy(void **to, size_t *ret_n, size_t *ret_capacity, const void *from, size_t n, size_t size)
{
	if (!n)
		return true;
	*to = malloc(n * size);
	if (!*to)
		return false;
	memcpy(*to, from, n * size);
	*ret_n = *ret_capacity = n;
	return true;
}

#define VEC_ADD(v) ((__typeof__((v)->items))vec_add((void **)&(v)->items, &(v)->n, &(v)->capacity, sizeof *(v)->items))
#define VEC_COPY(to, from)                                                                                             \
	vec_copy((void **)&(to)->items, &(to)->n, &(to)->capacity, (from)->items, (from)->n, sizeof *(from)->items)
#define VEC_DONE(v) (free((v)->items), (v)->items = NULL, (v)->n = (v)->capacity = 0)

#endif
