/* A feed and its places copied, to go on into a copy of the builder. See recording/feed.h. */
#include "import/recording/feed.h"

static bool copy_args(saved_args **to, const saved_args *from)
{
	*to = from ? saved_args_copy(from) : NULL;
	return *to || !from;
}

static bool copy_op(feed *to, feed_op *op)
{
	feed_op *copy = op->copy = calloc(1, sizeof *copy);

	if (!copy)
		return false;
	*copy = (feed_op){ .next = to->ops, .first_held = op->first_held, .on_stack = op->on_stack };
	if (to->ops)
		to->ops->before = copy;
	to->ops = copy;
	return copy_args(&copy->args, op->args);
}

static void *copy_items(const void *items, size_t bytes)
{
	void *copy = malloc(bytes);

	return copy ? memcpy(copy, items, bytes) : NULL;
}

/* Numbers for what events refer to are the same in both builders. */
static bool copy_numbers(feed *to, const feed *from)
{
	size_t n = from->n_streams + 1;

	to->processes = copy_items(from->processes, n * sizeof *to->processes);
	to->process_names = copy_items(from->process_names, n * sizeof *to->process_names);
	to->named_from = copy_items(from->named_from, n * sizeof *to->named_from);
	to->n_streams = from->n_streams;
	return to->processes && to->process_names && to->named_from && intern_copy(&to->meta_keys, &from->meta_keys) &&
	       VEC_COPY(&to->meta_from, &from->meta_from);
}

bool feed_copy(feed *to, const feed *from, builder *b)
{
	*to = (feed){ .builder = b,
		      .file = from->file,
		      .progress = from->progress,
		      .context = from->context,
		      .args = { .builder = b },
		      .failed = from->failed || from->args.failed,
		      .queue = UINT32_MAX };
	bool ok = copy_numbers(to, from) && feed_use(to, from->trace);
	for (feed_op *op = from->ops; op && ok; op = op->next)
		ok = copy_op(to, op);
	return ok;
}

bool feed_place_copy(feed_place *to, const feed_place *from)
{
	*to = *from;
	to->allocation_args = NULL;
	memset(&to->stack, 0, sizeof to->stack);
	memset(&to->held, 0, sizeof to->held);
	bool ok = VEC_COPY(&to->stack, &from->stack) && VEC_COPY(&to->held, &from->held);
	for (size_t i = 0; i < to->stack.n; i++) {
		feed_slice *s = &to->stack.items[i];
		s->op = s->op ? s->op->copy : NULL;
		ok = copy_args(&s->late, from->stack.items[i].late) && ok;
	}
	return copy_args(&to->allocation_args, from->allocation_args) && ok;
}

bool feed_slices_copy(slice_list *to, const slice_list *from)
{
	*to = (slice_list){ 0 };
	if (!VEC_COPY(to, from))
		return false;
	for (size_t i = 0; i < to->n; i++)
		if (to->items[i].user)
			to->items[i].user = ((const feed_op *)to->items[i].user)->copy;
	return true;
}

void feed_place_done(feed_place *p)
{
	for (size_t i = 0; i < p->stack.n; i++)
		free(p->stack.items[i].late);
	free(p->allocation_args);
	VEC_DONE(&p->stack);
	VEC_DONE(&p->held);
}
