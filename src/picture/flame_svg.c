/* See flame_svg.h. Heaviest frames first, what is narrower than a third of a pixel left to its parent. */
#include "picture/flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/format_number.h"
#include "base/utf8.h"
#include "format/index/sections.h"

enum { WIDTH = 1200, ROW = 18, TOP = 44, BOTTOM = 12, SIDE = 10, DEPTH_MAX = 400, CHARACTER = 7, TITLE_MAX = 500 };

typedef struct frame {
	int64_t value;
	uint32_t node;
} frame;

typedef struct drawing {
	const flame *f;
	FILE *out;
	frame *order;	 /* heaviest first: parents before their children */
	int64_t *x;	 /* where a node begins */
	int64_t *filled; /* where its next child does */
	uint16_t *depth;
	int64_t roots_end;
	unsigned n_rows;
	uint64_t n_left_out;
	flame_by by;
} drawing;

/* The hues of the page: web/src/data/colors.ts. */
static const uint8_t hue_of[CLASS_KINDS] = {
	[CLASS_OTHER] = 7,	   [CLASS_COMPUTE] = 0, [CLASS_MEMORY] = 4, [CLASS_DATA_LOAD] = 3, [CLASS_SYNC] = 6,
	[CLASS_COMMUNICATION] = 1, [CLASS_RUNTIME] = 5, [CLASS_KERNEL] = 2, [CLASS_COPY] = 4,	   [CLASS_PYTHON] = 7,
	[CLASS_ANNOTATION] = 7,	   [CLASS_PHASE] = 0,	[CLASS_STEP] = 7,   [CLASS_OVERHEAD] = 6,
};

static int heavier(const void *a, const void *b)
{
	const frame *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void put_text(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t code;
		size_t n = utf8_decode(text + i, len - i, &code);
		unsigned char byte = (unsigned char)text[i];
		if (!n) { /* not UTF-8 */
			fputs("\xef\xbf\xbd", out);
			n = 1;
		} else if (byte == '<' || byte == '&' || byte == '"') {
			fputs(byte == '<' ? "&lt;" : byte == '&' ? "&amp;" : "&quot;", out);
		} else if (!utf8_is_control(code)) {
			fwrite(text + i, 1, n, out);
		} else {
			fputc(' ', out);
		}
		i += n;
	}
}

static void place(drawing *d)
{
	const flame_node *nodes = d->f->nodes.items;

	for (size_t i = 0; i < d->f->nodes.n; i++)
		d->order[i] = (frame){ nodes[i].value, (uint32_t)i };
	qsort(d->order, d->f->nodes.n, sizeof *d->order, heavier);
	for (size_t i = 0; i < d->f->nodes.n; i++) {
		uint32_t n = d->order[i].node, parent = nodes[n].parent;
		int64_t *next = parent == FLAME_NONE ? &d->roots_end : &d->filled[parent];
		d->x[n] = d->filled[n] = *next;
		*next += nodes[n].value;
		d->depth[n] = (uint16_t)(parent == FLAME_NONE ? 0 : d->depth[parent] + 1);
		if (d->depth[n] < DEPTH_MAX && d->depth[n] >= d->n_rows)
			d->n_rows = d->depth[n] + 1;
	}
}

static void put_value(const drawing *d, int64_t value)
{
	char text[NUMBER_TEXT];

	fputs(d->by == FLAME_MEMORY ? format_bytes(text, (uint64_t)value) : format_ns(text, value), d->out);
}

/* As much of it as fits, and whether that is all. */
static void put_cut(FILE *out, const char *text, size_t len, size_t room)
{
	size_t shown = len > room ? room - 1 : len;

	while (len > room && shown && ((unsigned char)text[shown] & 0xc0) == 0x80)
		shown--;
	put_text(out, text, shown);
	fputs(len > room ? "\xe2\x80\xa6" : "", out);
}

static void put_frame(drawing *d, uint32_t n, double scale)
{
	const flame_node *node = &d->f->nodes.items[n];
	const char *name = d->f->names.entries[node->name].text;
	size_t len = d->f->names.entries[node->name].len;
	double x = SIDE + (double)d->x[n] * scale, width = (double)node->value * scale;
	unsigned y = TOP + ROW * d->depth[n];

	fprintf(d->out, "<g class=\"s%u\"><title>", hue_of[d->f->classes.items[node->name]]);
	put_cut(d->out, name, len, TITLE_MAX);
	fputs("\n", d->out);
	put_value(d, node->value);
	fprintf(d->out, ", %.1f %%, self ", 100.0 * (double)node->value / (double)(d->f->total ? d->f->total : 1));
	put_value(d, node->self);
	fprintf(d->out, ", %" PRIu64 " calls</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"/>",
		node->n_slices, x, y, width > 1 ? width - 0.5 : width, ROW - 1);
	size_t room = (size_t)(width / CHARACTER);
	if (room >= 3) {
		fprintf(d->out, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + ROW - 5);
		put_cut(d->out, name, len, room);
		fputs("</text>", d->out);
	}
	fputs("</g>\n", d->out);
}

static void put_style(FILE *out)
{
	static const char *const hues[] = { "#2463b4", "#c25e00", "#0b7d63", "#a3397f",
					    "#8a6d00", "#4b9bd8", "#7d3c1f", "#6b6f76" };

	fputs("<style>text{font:11px ui-monospace,monospace;fill:#0b0d10;pointer-events:none}"
	      ".h{font:13px system-ui,sans-serif}rect{fill-opacity:.55}g:hover rect{fill-opacity:.9}",
	      out);
	for (unsigned i = 0; i < sizeof hues / sizeof *hues; i++)
		fprintf(out, ".s%u{fill:%s}", i, hues[i]);
	fputs("</style>\n", out);
}

static void put_head(const drawing *d, const char *name)
{
	unsigned height = TOP + ROW * d->n_rows + BOTTOM;

	fprintf(d->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n",
		WIDTH, height, WIDTH, height);
	put_style(d->out);
	fprintf(d->out, "<rect width=\"%d\" height=\"%u\" style=\"fill:#fff;fill-opacity:1\"/>\n", WIDTH, height);
	fprintf(d->out, "<text class=\"h\" x=\"%d\" y=\"26\">", SIDE);
	if (name) {
		put_text(d->out, name, strlen(name));
		fputs(": ", d->out);
	}
	if (d->f->total) {
		put_value(d, d->f->total);
		fputs(d->by == FLAME_MEMORY ? " allocated" : "", d->out);
	} else {
		fputs(d->by == FLAME_DEVICE   ? "no device rows"
		      : d->by == FLAME_MEMORY ? "no allocations"
					      : "no slices",
		      d->out);
	}
	fputs("</text>\n", d->out);
}

static void draw(drawing *d, const char *name)
{
	place(d);
	put_head(d, name);
	double scale = (WIDTH - 2.0 * SIDE) / (double)(d->roots_end > 0 ? d->roots_end : 1);
	for (size_t i = 0; i < d->f->nodes.n; i++) {
		uint32_t n = d->order[i].node;
		if (d->depth[n] < DEPTH_MAX && (double)d->order[i].value * scale >= 0.3)
			put_frame(d, n, scale);
		else
			d->n_left_out++;
	}
	uint64_t n_left_out = d->n_left_out + d->f->n_cut;
	char count[NUMBER_TEXT];
	if (n_left_out && d->f->total)
		fprintf(d->out,
			"<text class=\"h\" x=\"%d\" y=\"26\" text-anchor=\"end\">%s frames are too small to "
			"see</text>\n",
			WIDTH - SIDE, format_count(count, n_left_out));
	fputs("</svg>\n", d->out);
}

sonde_status flame_svg(const flame *f, const flame_options *how, const char *name, FILE *out, sonde_error *err)
{
	size_t n = f->nodes.n + 1;
	drawing d = { .f = f,
		      .out = out,
		      .order = malloc(n * sizeof *d.order),
		      .x = calloc(n, sizeof *d.x),
		      .filled = calloc(n, sizeof *d.filled),
		      .depth = calloc(n, sizeof *d.depth),
		      .by = how->by };
	bool ok = d.order && d.x && d.filled && d.depth;

	if (ok)
		draw(&d, name);
	free(d.order);
	free(d.x);
	free(d.filled);
	free(d.depth);
	return ok ? SONDE_OK : error_set(err, SONDE_E_MEMORY, -1, "out of memory");
}
