/*
 * What a name of a recording stands for, as a part of its category in other tools' formats: "compute,sonde.op.compute".
 * Exporters append it and importers take it off again, so that steps, phases, modules and operations come back.
 */
#ifndef SONDE_FORMAT_INDEX_OWN_CATEGORY_H
#define SONDE_FORMAT_INDEX_OWN_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>
#include "format/index/sections.h"

enum { OWN_CATEGORY_MAX = 40 };

/* Writes ",sonde.KIND.CLASS"; returns its length. */
size_t own_category_write(char buffer[OWN_CATEGORY_MAX], uint8_t class, uint8_t kind);

/* Returns the length of the category without that part, or len if it has none. */
size_t own_category_read(const char *category, size_t len, uint8_t *ret_class, uint8_t *ret_kind);

#endif
