/* See args.h. */
#include "picture/args.h"

void picture_args_init(picture_args *a, const sonde_index *ix, uint64_t budget)
{
	*a = (picture_args){ .ix = ix, .budget = budget, .reader = args_reader_new(ix) };
	a->text_numbers = calloc(index_n_rows(ix, SECTION_ARG_TEXTS) + 1, sizeof *a->text_numbers);
	a->failed = !a->reader || !a->text_numbers;
}

void picture_args_done(picture_args *a)
{
	args_reader_free(a->reader);
	free(a->text_numbers);
	VEC_DONE(&a->bytes);
	VEC_DONE(&a->template_numbers);
	VEC_DONE(&a->templates);
	VEC_DONE(&a->texts);
}

/* ---- Numbers in the page ----------------------------------------------------------------------------------------- */

static uint64_t template_size(const args_template *t)
{
	uint64_t size = 16;

	for (uint32_t i = 0; i < t->n_args_pieces; i++)
		size += t->pieces[i].len + 8;
	return size;
}

static uint32_t number_of_template(picture_args *a, uint32_t template, const args_template *t)
{
	while (a->template_numbers.n <= template)
		if (!VEC_ADD(&a->template_numbers)) {
			a->failed = true;
			return 0;
		}
	uint32_t *number = &a->template_numbers.items[template];
	if (!*number) {
		uint32_t *place = VEC_ADD(&a->templates);
		if (!place) {
			a->failed = true;
			return 0;
		}
		*place = template;
		*number = (uint32_t)a->templates.n;
		a->size += template_size(t);
	}
	return *number - 1;
}

static uint32_t number_of_text(picture_args *a, uint64_t text)
{
	size_t len = 0;

	if (!args_text_at(a->ix, text, &len))
		return 0;
	if (!a->text_numbers[text]) {
		uint32_t *place = VEC_ADD(&a->texts);
		if (!place) {
			a->failed = true;
			return 0;
		}
		*place = (uint32_t)text;
		a->text_numbers[text] = (uint32_t)a->texts.n;
		a->size += len + 8;
	}
	return a->text_numbers[text] - 1;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Texts that are new would not fit, or are not there. */
static bool has_room(const picture_args *a, const args_template *t, const int64_t *values)
{
	uint64_t size = a->size + 10 * (uint64_t)t->n_gaps;
	size_t len;

	for (uint32_t i = 0; i + 1 < t->n_args_pieces; i++) {
		if (t->kinds[i] == ARG_INT)
			continue;
		if (!args_text_at(a->ix, (uint64_t)values[i], &len))
			return false;
		size += a->text_numbers[values[i]] ? 0 : len;
	}
	return size <= a->budget;
}

bool picture_args_put(picture_args *a, uint32_t args)
{
	args_piece pieces[ARGS_GAPS_MAX + 1];
	args_template t;
	uint32_t template;
	const int64_t *values;
	size_t before = a->bytes.n;

	if (a->failed || !args || !args_record(a->reader, args, &template, &values) ||
	    !args_template_at(a->reader, template, pieces, &t) || !t.n_args_pieces || !has_room(a, &t, values))
		return false;
	a->failed |= !picture_number(&a->bytes, number_of_template(a, template, &t));
	for (uint32_t i = 0; i + 1 < t.n_args_pieces; i++)
		a->failed |= t.kinds[i] == ARG_INT ? !picture_signed(&a->bytes, values[i])
						   : !picture_number(&a->bytes, number_of_text(a, (uint64_t)values[i]));
	a->size += (a->bytes.n - before) * 4 / 3 + 1;
	return !a->failed;
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static void write_template(picture_args *a, json_writer *w, uint32_t template)
{
	args_piece pieces[ARGS_GAPS_MAX + 1];
	args_template t;

	json_begin_object(w);
	put_list(w, "pieces");
	bool ok = args_template_at(a->reader, template, pieces, &t);
	for (uint32_t i = 0; ok && i < t.n_args_pieces; i++)
		json_stringn(w, t.pieces[i].text, t.pieces[i].len);
	json_end_array(w);
	put_list(w, "kinds");
	for (uint32_t i = 0; ok && i + 1 < t.n_args_pieces; i++)
		json_u64(w, t.kinds[i]);
	json_end_array(w);
	json_end_object(w);
}

void picture_args_write(picture_args *a, json_writer *w, bool is_whole)
{
	size_t len = 0;

	json_key(w, "args");
	json_begin_object(w);
	put_list(w, "templates");
	for (size_t i = 0; i < a->templates.n; i++)
		write_template(a, w, a->templates.items[i]);
	json_end_array(w);
	put_list(w, "texts");
	for (size_t i = 0; i < a->texts.n; i++) {
		const char *text = args_text_at(a->ix, a->texts.items[i], &len);
		json_stringn(w, text ? text : "", text ? len : 0);
	}
	json_end_array(w);
	a->failed |= !picture_base64(w, "bytes", &a->bytes);
	put_bool(w, "is_whole", is_whole);
	json_end_object(w);
}
