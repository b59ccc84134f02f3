/*
 * Every macro of <sonde/record.h>, in code that is C99 and C++11. headers.sh compiles it at every level, and looks that
 * nothing of Sonde remains at SONDE_LEVEL_OFF and that no macro is missing here.
 */
#include <stdlib.h>
#include <sonde/record.h>

/* On one line, in another. */
#define TWO_OPS                                                                                                        \
	SONDE_OP("outer", SONDE_COMPUTE)                                                                               \
		SONDE_OP("inner", SONDE_COMPUTE)

double use_macros(int n, double x);

static int use_function(void)
{
	SONDE_FUNCTION();
	return SONDE_LEVEL;
}

static double use_op_function(int n, const int64_t *dims, size_t n_dims)
{
	SONDE_OP_FUNCTION(SONDE_COMPUTE, .flops = 2.0 * n, .bytes = 4.0 * n, .shape = dims, .n_dims = n_dims);
	if (n == 2)
		return 0;
	return n;
}

static int use_plain_op_function(void)
{
	SONDE_OP_FUNCTION(SONDE_SYNC);
	return 1;
}

double use_macros(int n, double x)
{
	int64_t dims[2] = { 2, 3 };
	/* Used by macros alone: without them there must be no warning either. */
	int64_t number = n, shape[1] = { n };
	double loss = x, flops = 2.0 * n;
	const char *name = n > 3 ? "one" : "other";

	for (int i = 0; i < n; i++) {
		SONDE_STEP(i);
		SONDE_PHASE("data");
		SONDE_SCOPE("outer");
		SONDE_SCOPE("second on the same level");
		SONDE_MODULE("layer");
		SONDE_SCOPE_CATEGORY("of a category", SONDE_DATA_LOAD);
		SONDE_SCOPE_NAMED(name);
		SONDE_MODULE_NAMED(name);
		SONDE_OP_NAMED(name, SONDE_COMPUTE);
		SONDE_OP_NAMED(name, SONDE_COMPUTE, .flops = flops);
		SONDE_DETAIL("fine");
		SONDE_SCOPE_ARGS("linear", SONDE_I64("layer", i), SONDE_F64("x", x), SONDE_STR("type", "f32"),
				 SONDE_SHAPE("shape", dims, 2));
		SONDE_BEGIN("by hand");
		SONDE_MARK("moment");
		SONDE_MARK_ARGS("saved", SONDE_I64("step", i), SONDE_SHAPE("shape", dims, 2));
		SONDE_INSTANT_ARGS(name, SONDE_CUSTOM("storage"), SONDE_F64("x", x), SONDE_STR("type", "f32"));
		SONDE_COUNTER("loss", x);
		SONDE_COUNTER("loss times two", loss * 2);
		SONDE_END();
		TWO_OPS
		{
			x += 1;
		}
		SONDE_OP_SCOPE("rest of the block", SONDE_COMPUTE);
		SONDE_OP_SCOPE("with its work", SONDE_COMPUTE, .flops = flops, .bytes = x, .shape = dims, .n_dims = 2,
			       .type = "f32");
		if (n == 7)
			continue;
		SONDE_OP("plain", SONDE_COMPUTE) {
			x += 1;
		}
		SONDE_OP("matmul", SONDE_COMPUTE, .flops = 2.0 * n, .bytes = x, .shape = dims, .n_dims = 2,
			 .type = "f32") {
			x += use_function() + use_plain_op_function() + use_op_function(n, dims, 2);
		}
	}
	{
		SONDE_STEP(number);
		SONDE_OP("conv", SONDE_COMPUTE, .flops = flops, .shape = shape, .n_dims = 1) {
			x += 2;
		}
	}
	sonde_instant("end", SONDE_CUSTOM("storage"));
	sonde_alloc(SONDE_CPU, dims, sizeof dims, 0);
	sonde_free(SONDE_GPU(0), dims);
	return x;
}

/* Memory that is not initialized yet is no reason for a warning. */
void *use_fresh_memory(void);
void *use_fresh_memory(void)
{
	void *fresh = malloc(100);

	sonde_alloc(SONDE_CPU, fresh, 100, 0);
	return fresh;
}
