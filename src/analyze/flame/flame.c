/* The tree of a flame graph: nodes, names, and leaving out the small. See flame.h; flame/walk.c fills it. */
#include "analyze/flame/flame.h"

#include <string.h>

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static size_t slot_of(const flame *f, uint32_t parent, uint32_t name)
{
	uint64_t h = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 20) & (f->n_slots - 1);
}

static bool grow_slots(flame *f)
{
	size_t n = f->n_slots ? 2 * f->n_slots : 1024;
	uint32_t *slots = calloc(n, sizeof *slots);

	if (!slots)
		return false;
	free(f->slots);
	f->slots = slots;
	f->n_slots = n;
	for (size_t i = 0; i < f->nodes.n; i++) {
		size_t at = slot_of(f, f->nodes.items[i].parent, f->nodes.items[i].name);
		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	return true;
}

uint32_t flame_new_node(flame *f, uint32_t parent, uint32_t name)
{
	flame_node *node = f->nodes.n < FLAME_NODES_MAX ? VEC_ADD(&f->nodes) : NULL;

	if (!node)
		return FLAME_NONE;
	node->name = name;
	node->parent = parent;
	return (uint32_t)(f->nodes.n - 1);
}

uint32_t flame_child(flame *f, uint32_t parent, uint32_t name)
{
	if (2 * f->nodes.n >= f->n_slots && !grow_slots(f))
		return FLAME_NONE;
	size_t at = slot_of(f, parent, name);
	for (; f->slots[at]; at = (at + 1) & (f->n_slots - 1)) {
		const flame_node *node = &f->nodes.items[f->slots[at] - 1];
		if (node->parent == parent && node->name == name)
			return f->slots[at] - 1;
	}
	uint32_t node = flame_new_node(f, parent, name);
	if (node != FLAME_NONE)
		f->slots[at] = node + 1;
	return node;
}

uint32_t flame_name(flame *f, const char *text, size_t len, uint8_t class)
{
	f->names.borrows = true;
	uint32_t number = intern(&f->names, text, len);
	while (number != INTERN_NONE && f->classes.n <= number) {
		uint8_t *place = VEC_ADD(&f->classes);
		if (!place)
			return FLAME_NONE;
		*place = class;
	}
	return number;
}

void flame_done(flame *f)
{
	VEC_DONE(&f->nodes);
	VEC_DONE(&f->classes);
	intern_done(&f->names);
	free(f->slots);
	*f = (flame){ 0 };
}

/* ---- Leaving out ------------------------------------------------------------------------------------------------- */

static int64_t larger(const flame_node *n)
{
	return n->value > n->base ? n->value : n->base;
}

static int down(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

/* The value of the max_nodes-th. */
static bool find_limit(const flame *f, size_t max_nodes, int64_t *min_value)
{
	int64_t *values;

	if (f->nodes.n <= max_nodes)
		return true;
	values = malloc(f->nodes.n * sizeof *values);
	if (!values)
		return false;
	for (size_t i = 0; i < f->nodes.n; i++)
		values[i] = larger(&f->nodes.items[i]);
	qsort(values, f->nodes.n, sizeof *values, down);
	/* Those that are equal to the first that does not fit go as well. */
	int64_t limit = max_nodes ? values[max_nodes] + 1 : INT64_MAX;
	*min_value = limit > *min_value ? limit : *min_value;
	free(values);
	return true;
}

static bool stays(const flame_node *n, const uint32_t *moved)
{
	return n->parent == FLAME_NONE || moved[n->parent] != FLAME_NONE;
}

/* Node i goes to place n, or away. */
static size_t move_node(flame *f, size_t i, size_t n, bool goes, uint32_t *moved)
{
	flame_node node = f->nodes.items[i];

	moved[i] = goes ? FLAME_NONE : (uint32_t)n;
	if (goes)
		return n;
	node.parent = node.parent == FLAME_NONE ? FLAME_NONE : moved[node.parent];
	f->nodes.items[n] = node;
	return n + 1;
}

static void shorten(flame *f, size_t n, uint32_t *moved)
{
	f->nodes.n = n;
	free(moved);
	free(f->slots); /* they hold the old numbers */
	f->slots = NULL;
	f->n_slots = 0;
}

bool flame_cut(flame *f, int64_t min_value, size_t max_nodes)
{
	uint32_t *moved = malloc((f->nodes.n + 1) * sizeof *moved);
	size_t n = 0;

	if (!moved || !find_limit(f, max_nodes, &min_value)) {
		free(moved);
		return false;
	}
	for (size_t i = 0; i < f->nodes.n; i++) {
		const flame_node *node = &f->nodes.items[i];
		bool has_parent = stays(node, moved), goes = !has_parent || larger(node) < min_value;
		f->n_cut += goes;
		f->cut_value += has_parent && goes ? node->value : 0;
		n = move_node(f, i, n, goes, moved);
	}
	shorten(f, n, moved);
	return true;
}

/* Adds a node to the one that stands for it. */
static bool add_small(flame *f, size_t i, uint32_t name)
{
	uint32_t group = flame_child(f, f->nodes.items[i].parent, name);

	if (group == FLAME_NONE)
		return false;
	const flame_node *from = &f->nodes.items[i];
	flame_node *to = &f->nodes.items[group];
	to->value += from->value;
	to->self += from->value;
	to->base += from->base;
	to->base_self += from->base;
	to->n_slices += from->n_slices;
	return true;
}

bool flame_group(flame *f, int64_t small)
{
	static const char text[] = "(small)";
	uint32_t name = flame_name(f, text, sizeof text - 1, CLASS_OTHER);
	size_t n = 0, n_before = f->nodes.n;
	/* Groups come behind all others: one below each node, at most. */
	uint32_t *moved = malloc((2 * n_before + 2) * sizeof *moved);
	bool ok = moved && name != FLAME_NONE;

	for (size_t i = 0; ok && i < n_before; i++) {
		bool goes = !stays(&f->nodes.items[i], moved) || larger(&f->nodes.items[i]) < small;
		if (goes && stays(&f->nodes.items[i], moved))
			ok = add_small(f, i, name);
		moved[i] = goes ? FLAME_NONE : 0;
	}
	for (size_t i = 0; ok && i < f->nodes.n; i++)
		n = move_node(f, i, n, i < n_before && moved[i] == FLAME_NONE, moved);
	if (ok)
		shorten(f, n, moved);
	else
		free(moved);
	return ok;
}
