/*
 * gzip, by ISA-L: members one after the other are one text, each with its checksum compared. Zeros behind the last
 * member are padding, as tar and tapes leave it; anything else is damage.
 */
#include <stdlib.h>
#include <isa-l/igzip_lib.h>
#include "import/input/source.h"

typedef struct gzip {
	struct inflate_state state;
	bool in_member; /* its first byte was taken, its trailer not */
} gzip;

static bool is_gzip(const uint8_t *bytes, size_t len)
{
	return len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static void *gzip_open(void)
{
	return calloc(1, sizeof(gzip));
}

static void begin_member(gzip *g)
{
	isal_inflate_init(&g->state);
	g->state.crc_flag = ISAL_GZIP;
	g->in_member = true;
}

static bool skip_padding(input_source *s)
{
	do {
		for (; s->n && *s->at == 0; s->at++)
			s->n--;
		if (s->n)
			return false;
	} while (source_more(s));
	return true;
}

/* Between members: true when another one begins. */
static bool next_member(gzip *g, input_source *s, const char **ret_damage)
{
	while (s->n < 2 && source_more(s))
		;
	if (is_gzip(s->at, s->n)) {
		begin_member(g);
		return true;
	}
	if (s->n && !skip_padding(s))
		*ret_damage = "unexpected data after the gzip data";
	return false;
}

static const char *damage_of(int code)
{
	switch (code) {
	case ISAL_INCORRECT_CHECKSUM:
		return "the gzip data is damaged: wrong checksum";
	case ISAL_UNSUPPORTED_METHOD:
		return "the gzip data is damaged: unknown compression method";
	}
	return "the gzip data is damaged";
}

/* One call of the library: takes from the source, moves on in *to. */
static int inflate_some(gzip *g, input_source *s, uint8_t **to, size_t *room)
{
	g->state.next_in = (uint8_t *)s->at;
	g->state.avail_in = (uint32_t)s->n;
	g->state.next_out = *to;
	g->state.avail_out = (uint32_t)*room;
	int code = isal_inflate(&g->state);
	s->at = g->state.next_in;
	s->n = g->state.avail_in;
	*to = g->state.next_out;
	*room = g->state.avail_out;
	return code;
}

static size_t gzip_read(void *decoder, input_source *s, uint8_t *to, size_t room, const char **ret_damage)
{
	gzip *g = decoder;
	uint8_t *start = to;

	while (room) {
		if (!g->in_member && !next_member(g, s, ret_damage))
			break;
		size_t before = s->n, room_before = room;
		int code = inflate_some(g, s, &to, &room);
		if (code < 0) {
			*ret_damage = damage_of(code);
			break;
		}
		if (g->state.block_state == ISAL_BLOCK_FINISH) {
			g->in_member = false;
		} else if (before == s->n && room_before == room && !source_more(s)) {
			*ret_damage = "the gzip data is truncated";
			break;
		}
	}
	return (size_t)(to - start);
}

const input_decoder gzip_decoder = {
	.name = "gzip",
	.is_it = is_gzip,
	.open = gzip_open,
	.close = free,
	.read = gzip_read,
};
