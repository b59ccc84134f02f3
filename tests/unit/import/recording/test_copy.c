/* A feed and its places copied: the copy has all of it and points to its own operations. */
#include "import/recording/feed.h"
#include "unit/import/recording/make_file.h"

static saved_args *make_args(builder *b, int64_t value)
{
	arg_set a = { .builder = b };

	arg_key(&a, "n", 1), arg_i64(&a, value);
	saved_args *saved = arg_set_save(&a);
	arg_set_done(&a);
	assert_non_null(saved);
	return saved;
}

static bool same_args(const saved_args *a, const saved_args *b)
{
	size_t bytes = sizeof *a + a->n_gaps * sizeof a->gaps[0] + a->text_len;

	return a != b && memcmp(a, b, bytes) == 0;
}

typedef struct scene {
	maker m;
	recording *t;
	builder *b;
	feed f;
} scene;

/* A feed with two operations that are open; the first has arguments. */
static void begin(scene *s)
{
	*s = (scene){ .b = builder_new(&(builder_options){ .is_copied = true }) };
	make_start(&s->m);
	make_name(&s->m, 40, NAME_SCOPE, "a");
	MAKE_EVENTS(&s->m, 1, { 10, 40 }, { 20, END | 40 });
	s->t = make_recording(&s->m);
	s->f = (feed){ .builder = s->b, .args = { .builder = s->b }, .queue = UINT32_MAX };
	assert_true(s->b && feed_use(&s->f, s->t));
	for (int i = 0; i < 2; i++) {
		feed_op *op = calloc(1, sizeof *op);
		assert_non_null(op);
		op->next = s->f.ops;
		op->first_held = (size_t)i + 3;
		op->on_stack = i == 0;
		op->args = i ? make_args(s->b, 7) : NULL;
		if (s->f.ops)
			s->f.ops->before = op;
		s->f.ops = op;
	}
}

static void end(scene *s)
{
	feed_done(&s->f);
	builder_free(s->b);
	recording_free(s->t);
	make_done(&s->m);
}

static void a_copied_feed_has_operations_of_its_own(void **state)
{
	scene s;
	feed copy;
	size_t n = 0;

	(void)state;
	begin(&s);
	builder *b = builder_copy(s.b);
	assert_true(b && feed_copy(&copy, &s.f, b));
	assert_ptr_equal(copy.builder, b);
	assert_ptr_equal(copy.args.builder, b);
	assert_int_equal(copy.n_streams, s.f.n_streams);
	assert_memory_equal(copy.processes, s.f.processes, copy.n_streams * sizeof *copy.processes);
	for (const feed_op *op = s.f.ops; op; op = op->next, n++) {
		assert_non_null(op->copy);
		assert_ptr_not_equal(op->copy, op);
		assert_int_equal(op->copy->first_held, op->first_held);
		assert_int_equal(op->copy->on_stack, op->on_stack);
		assert_true(op->args ? same_args(op->args, op->copy->args) : !op->copy->args);
	}
	assert_int_equal(n, 2);
	/* The list of the copy is whole in both directions. */
	const feed_op *first = copy.ops;
	assert_true(first && first->next && !first->next->next && first->next->before == first && !first->before);
	feed_done(&copy);
	builder_free(b);
	assert_int_equal(s.f.ops->first_held, 4); /* the original goes on */
	end(&s);
}

static void a_copied_place_points_to_the_copies(void **state)
{
	scene s;
	feed copy;
	feed_place from = { .track = 5, .async_track = 6, .is_named = true, .next_shift = -2, .n_ops = 1 }, to;

	(void)state;
	begin(&s);
	builder *b = builder_copy(s.b);
	assert_true(b && feed_copy(&copy, &s.f, b));
	*VEC_ADD(&from.stack) = (feed_slice){ .args = 9 };
	*VEC_ADD(&from.stack) = (feed_slice){ .op = s.f.ops };
	*VEC_ADD(&from.stack) = (feed_slice){ .is_late = true, .late = make_args(s.b, 8) };
	*VEC_ADD(&from.held) = (feed_held){ .depth = 3, .shift = -1 };
	from.has_allocation = true;
	from.allocation_args = make_args(s.b, 9);
	assert_true(feed_place_copy(&to, &from));
	assert_true(to.track == 5 && to.async_track == 6 && to.is_named && to.next_shift == -2 && to.n_ops == 1);
	assert_int_equal(to.stack.n, 3);
	assert_int_equal(to.stack.items[0].args, 9);
	assert_ptr_equal(to.stack.items[1].op, s.f.ops->copy);
	assert_true(same_args(from.stack.items[2].late, to.stack.items[2].late));
	assert_true(same_args(from.allocation_args, to.allocation_args));
	assert_int_equal(to.held.items[0].shift, -1);
	from.held.items[0].shift = 7;
	assert_int_equal(to.held.items[0].shift, -1);
	feed_place_done(&from);
	feed_place_done(&to);
	assert_null(to.stack.items);
	feed_done(&copy);
	builder_free(b);
	end(&s);
}

static void copied_slices_point_to_the_copies(void **state)
{
	scene s;
	feed copy;
	slice_list from = { 0 }, to;

	(void)state;
	begin(&s);
	builder *b = builder_copy(s.b);
	assert_true(b && feed_copy(&copy, &s.f, b));
	*VEC_ADD(&from) = (slice){ .start_ns = 1 };
	*VEC_ADD(&from) = (slice){ .start_ns = 2, .user = s.f.ops };
	assert_true(feed_slices_copy(&to, &from));
	assert_int_equal(to.n, 2);
	assert_null(to.items[0].user);
	assert_ptr_equal(to.items[1].user, s.f.ops->copy);
	assert_ptr_equal(from.items[1].user, s.f.ops);
	VEC_DONE(&from);
	VEC_DONE(&to);
	assert_true(feed_slices_copy(&to, &from)); /* of nothing: nothing */
	assert_int_equal(to.n, 0);
	feed_done(&copy);
	builder_free(b);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copied_feed_has_operations_of_its_own),
		cmocka_unit_test(a_copied_place_points_to_the_copies),
		cmocka_unit_test(copied_slices_point_to_the_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
