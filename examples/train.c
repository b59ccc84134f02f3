/*
 * Trains a small transformer to write sentences, letter by letter, and shows where the time goes.
 *
 *   sonde record ./example_train            records it and prints a report
 *   ./example_train --loader-delay-ms 20    a slow loader: record this one too, and compare
 *   ./example_train --check                 compares the gradients with finite differences
 *
 * From top to bottom: tensors, the tape that leads the backward pass, a forward and a backward function for each
 * operation, the model, the optimizer, the loader in its own thread, the training loop. Whatever begins with SONDE_ or
 * sonde_ is for the profiler; while nothing is recorded it does nothing.
 *
 * The result depends on the seed alone, not on the number of threads: these share out the rows of a result, and no sum
 * is split between them.
 */
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sonde/record.h>

enum {
	CONTEXT = 48, /* letters the model sees at once */
	WIDTH = 64,   /* numbers that stand for one letter inside the model */
	HIDDEN = 4 * WIDTH,
	HEADS = 4,
	HEAD_WIDTH = WIDTH / HEADS,
	LAYERS = 2,
	QUEUE = 4, /* batches the loader may be ahead */
};

static const char alphabet[] = "\n abcdefghijklmnopqrstuvwxyz.,!?";
enum { LETTERS = sizeof alphabet - 1 };

/* ---- Rows of numbers --------------------------------------------------------------------------------------------- */

static float dot(const float *a, const float *b, int64_t n)
{
	float sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* y += a x */
static void add_scaled(float *restrict y, float a, const float *restrict x, int64_t n)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] += a * x[i];
}

static void softmax(float *x, int64_t n)
{
	float max = x[0], sum = 0;
	for (int64_t i = 1; i < n; i++)
		max = x[i] > max ? x[i] : max;
	for (int64_t i = 0; i < n; i++)
		sum += x[i] = expf(x[i] - max);
	for (int64_t i = 0; i < n; i++)
		x[i] /= sum;
}

/* 31 random bits. */
static uint32_t random_bits(uint64_t *state)
{
	return (uint32_t)((*state = *state * 6364136223846793005u + 1442695040888963407u) >> 33);
}

/* ---- Tensors: matrices whose memory the profiler knows ----------------------------------------------------------- */

typedef struct tensor {
	int64_t dims[2]; /* rows, columns */
	float *data;
	float *grad; /* of the loss with respect to data */
} tensor;

/* Returns zeroed memory. The profiler is called after the allocation and before the free, so no other thread can have
   the address in between. */
static void *memory_new(size_t bytes, uint64_t tensor_id)
{
	void *memory = calloc(1, bytes);
	if (!memory)
		abort();
	sonde_alloc(SONDE_CPU, memory, bytes, tensor_id);
	return memory;
}

static void memory_free(void *memory)
{
	if (memory)
		sonde_free(SONDE_CPU, memory);
	free(memory);
}

static int64_t tensor_size(const tensor *t)
{
	return t->dims[0] * t->dims[1];
}

static tensor *tensor_new(int64_t rows, int64_t columns)
{
	static uint64_t last_id; /* only the main thread makes tensors */
	size_t n = (size_t)(rows * columns);
	tensor *t = memory_new(sizeof *t + 2 * n * sizeof(float), ++last_id);
	*t = (tensor){ { rows, columns }, .data = (float *)(t + 1), .grad = (float *)(t + 1) + n };
	return t;
}

/* ---- The tape: what the forward pass did, for the backward pass to walk in reverse ------------------------------- */

typedef struct node {
	void (*backward)(struct node *);
	tensor *in[3];
	tensor *out;
	tensor *saved; /* what forward worked out and backward wants again */
	const int *letters;
} node;

typedef struct tape {
	node nodes[16 * LAYERS];
	int n_nodes;
} tape;

static tensor *tape_push(tape *t, node n)
{
	t->nodes[t->n_nodes++] = n;
	return n.out;
}

static void tape_pop(tape *t)
{
	node *n = &t->nodes[--t->n_nodes];
	memory_free(n->out);
	memory_free(n->saved);
}

/* Frees each result as soon as its gradient has been passed on: memory grows in forward and shrinks in backward. */
static void tape_backward(tape *t)
{
	SONDE_FUNCTION();
	while (t->n_nodes) {
		node *n = &t->nodes[t->n_nodes - 1];
		n->backward(n);
		tape_pop(t);
	}
}

/* ---- Operations, each with the function that runs it backward: from dy, the gradient of its result, to dx ---------
 */

/* One row of a product. Takes four rows of b at a time, so that c is read and written a quarter as often. */
static void multiply_row(float *restrict c, const float *a, int64_t step, const float *restrict b, int64_t n, int64_t k)
{
	for (int64_t p = 0; p < k; p += 4, a += 4 * step, b += 4 * n) {
		float a0 = a[0], a1 = a[step], a2 = a[2 * step], a3 = a[3 * step];
#pragma omp simd
		for (int64_t j = 0; j < n; j++)
			c[j] += a0 * b[j] + a1 * b[n + j] + a2 * b[2 * n + j] + a3 * b[3 * n + j];
	}
}

/* c += a b, with c of m x n, a of m x k, b of k x n, k a multiple of 4. Element (i, p) of a is a[i * down + p * right]:
   exchange the two to transpose. FLOPs and bytes tell Sonde how near this comes to what the machine can do. */
static void matmul(float *c, const float *a, int64_t down, int64_t right, const float *b, int64_t m, int64_t n,
		   int64_t k)
{
	SONDE_OP("matmul", SONDE_COMPUTE, .flops = 2.0 * m * n * k, .bytes = 4.0 * (m * k + k * n + 2 * m * n),
		 .shape = (int64_t[]){ m, n, k }, .n_dims = 3, .type = "f32") {
#pragma omp parallel for
		for (int64_t i = 0; i < m; i++)
			multiply_row(c + i * n, a + i * down, right, b, n, k);
	}
}

/* Linear: y = x w, plus x0 if there is one: the residual connection. */
static void linear_backward(node *n)
{
	tensor *x = n->in[0], *w = n->in[1], *x0 = n->in[2], *y = n->out;
	SONDE_SCOPE_ARGS("linear backward", SONDE_SHAPE("x", x->dims, 2), SONDE_SHAPE("w", w->dims, 2));
	int64_t rows = x->dims[0], in = w->dims[0], out = w->dims[1];
	tensor *wt = tensor_new(out, in);
	for (int64_t i = 0; i < in; i++)
		for (int64_t j = 0; j < out; j++)
			wt->data[j * in + i] = w->data[i * out + j];
	matmul(x->grad, y->grad, out, 1, wt->data, rows, in, out); /* dx += dy w' */
	matmul(w->grad, x->data, 1, in, y->grad, in, out, rows);   /* dw += x' dy */
	if (x0)
		add_scaled(x0->grad, 1, y->grad, rows * out);
	memory_free(wt);
}

static tensor *linear(tape *t, tensor *x, tensor *w, tensor *x0)
{
	SONDE_SCOPE_ARGS("linear", SONDE_SHAPE("x", x->dims, 2), SONDE_SHAPE("w", w->dims, 2));
	int64_t rows = x->dims[0], in = w->dims[0], out = w->dims[1];
	tensor *y = tensor_new(rows, out);
	if (x0)
		add_scaled(y->data, 1, x0->data, rows * out);
	matmul(y->data, x->data, in, 1, w->data, rows, out, in);
	return tape_push(t, (node){ linear_backward, .in = { x, w, x0 }, .out = y });
}

/* Embedding: a letter and its position become a row. */
static void embed_backward(node *n)
{
	SONDE_SCOPE("embed backward");
	float *letter = n->in[0]->grad, *position = n->in[1]->grad;
	for (int64_t i = 0; i < n->out->dims[0]; i++) {
		add_scaled(letter + n->letters[i] * WIDTH, 1, n->out->grad + i * WIDTH, WIDTH);
		add_scaled(position + i % CONTEXT * WIDTH, 1, n->out->grad + i * WIDTH, WIDTH);
	}
}

static tensor *embed(tape *t, const int *letters, int64_t rows, tensor *letter, tensor *position)
{
	SONDE_FUNCTION();
	tensor *y = tensor_new(rows, WIDTH);
	for (int64_t i = 0; i < rows; i++) {
		add_scaled(y->data + i * WIDTH, 1, letter->data + letters[i] * WIDTH, WIDTH);
		add_scaled(y->data + i * WIDTH, 1, position->data + i % CONTEXT * WIDTH, WIDTH);
	}
	return tape_push(t, (node){ embed_backward, .in = { letter, position }, .out = y, .letters = letters });
}

/* Layer norm, the simple one (RMS): every row to a mean square of 1. */
static void norm_backward(node *n)
{
	SONDE_SCOPE("norm backward");
	float *dx = n->in[0]->grad;
#pragma omp parallel for
	for (int64_t i = 0; i < n->out->dims[0]; i++) {
		const float *y = n->out->data + i * WIDTH, *dy = n->out->grad + i * WIDTH;
		float scale = n->saved->data[i];
		add_scaled(dx + i * WIDTH, scale, dy, WIDTH);
		add_scaled(dx + i * WIDTH, -scale * dot(dy, y, WIDTH) / WIDTH, y, WIDTH);
	}
}

static tensor *norm(tape *t, tensor *x)
{
	SONDE_FUNCTION();
	tensor *y = tensor_new(x->dims[0], WIDTH), *scale = tensor_new(x->dims[0], 1);
#pragma omp parallel for
	for (int64_t i = 0; i < x->dims[0]; i++) {
		const float *row = x->data + i * WIDTH;
		scale->data[i] = 1 / sqrtf(dot(row, row, WIDTH) / WIDTH + 1e-5f);
		add_scaled(y->data + i * WIDTH, scale->data[i], row, WIDTH);
	}
	return tape_push(t, (node){ norm_backward, .in = { x }, .out = y, .saved = scale });
}

/* SiLU: y = x / (1 + e^-x). */
static void silu_backward(node *n)
{
	SONDE_SCOPE("silu backward");
	const float *x = n->in[0]->data, *dy = n->out->grad;
	float *dx = n->in[0]->grad;
#pragma omp parallel for
	for (int64_t i = 0; i < tensor_size(n->out); i++) {
		float s = 1 / (1 + expf(-x[i]));
		dx[i] += dy[i] * s * (1 + x[i] * (1 - s));
	}
}

static tensor *silu(tape *t, tensor *x)
{
	SONDE_FUNCTION();
	tensor *y = tensor_new(x->dims[0], x->dims[1]);
#pragma omp parallel for
	for (int64_t i = 0; i < tensor_size(x); i++)
		y->data[i] = x->data[i] / (1 + expf(-x->data[i]));
	return tape_push(t, (node){ silu_backward, .in = { x }, .out = y });
}

/* Causal attention: every letter looks at itself and at those before it. */
enum { ROW = 3 * WIDTH }; /* of qkv: the queries of all heads, then the keys, then the values */

/* One head of one sequence. p[s] is how much letter t looks at letter s. */
static void head_forward(const node *n, int64_t index)
{
	SONDE_DETAIL("head"); /* on whichever thread runs it; SONDE_LEVEL_BASIC leaves it out */
	int64_t first = index / HEADS * CONTEXT, column = index % HEADS * HEAD_WIDTH;
	const float *q = n->in[0]->data + first * ROW + column, *k = q + WIDTH, *v = k + WIDTH;
	for (int64_t t = 0; t < CONTEXT; t++) {
		float *p = n->saved->data + (index * CONTEXT + t) * CONTEXT;
		for (int64_t s = 0; s <= t; s++)
			p[s] = dot(q + t * ROW, k + s * ROW, HEAD_WIDTH) / sqrtf(HEAD_WIDTH);
		softmax(p, t + 1);
		for (int64_t s = 0; s <= t; s++)
			add_scaled(n->out->data + (first + t) * WIDTH + column, p[s], v + s * ROW, HEAD_WIDTH);
	}
}

static void head_backward(const node *n, int64_t index)
{
	SONDE_DETAIL("head backward");
	int64_t first = index / HEADS * CONTEXT, column = index % HEADS * HEAD_WIDTH, at = first * ROW + column;
	const float *q = n->in[0]->data + at, *k = q + WIDTH, *v = k + WIDTH;
	float *dq = n->in[0]->grad + at, *dk = dq + WIDTH, *dv = dk + WIDTH;
	for (int64_t t = 0; t < CONTEXT; t++) {
		const float *p = n->saved->data + (index * CONTEXT + t) * CONTEXT;
		const float *dy = n->out->grad + (first + t) * WIDTH + column;
		float dp[CONTEXT], sum = 0;
		for (int64_t s = 0; s <= t; s++) {
			dp[s] = dot(dy, v + s * ROW, HEAD_WIDTH);
			sum += p[s] * dp[s];
			add_scaled(dv + s * ROW, p[s], dy, HEAD_WIDTH);
		}
		for (int64_t s = 0; s <= t; s++) {
			float dscore = p[s] * (dp[s] - sum) / sqrtf(HEAD_WIDTH);
			add_scaled(dq + t * ROW, dscore, k + s * ROW, HEAD_WIDTH);
			add_scaled(dk + s * ROW, dscore, q + t * ROW, HEAD_WIDTH);
		}
	}
}

static void attention_backward(node *n)
{
	int64_t n_heads = n->out->dims[0] / CONTEXT * HEADS;
	SONDE_OP("attention backward", SONDE_COMPUTE, .flops = 4.0 * n_heads * CONTEXT * CONTEXT * HEAD_WIDTH) {
#pragma omp parallel for
		for (int64_t i = 0; i < n_heads; i++)
			head_backward(n, i);
	}
}

static tensor *attention(tape *t, tensor *qkv)
{
	int64_t rows = qkv->dims[0], n_heads = rows / CONTEXT * HEADS;
	node n = { attention_backward, .in = { qkv }, .out = tensor_new(rows, WIDTH) };
	n.saved = tensor_new(n_heads * CONTEXT, CONTEXT);
	SONDE_OP("attention", SONDE_COMPUTE, .flops = 2.0 * n_heads * CONTEXT * CONTEXT * HEAD_WIDTH) {
#pragma omp parallel for
		for (int64_t i = 0; i < n_heads; i++)
			head_forward(&n, i);
	}
	return tape_push(t, n);
}

/* Loss: cross-entropy, the mean over all letters. */
static void cross_entropy_backward(node *n)
{
	SONDE_SCOPE("cross_entropy backward");
	const tensor *p = n->saved;
	float *dx = n->in[0]->grad;
	for (int64_t i = 0; i < p->dims[0]; i++)
		for (int64_t j = 0; j < LETTERS; j++)
			dx[i * LETTERS + j] += (p->data[i * LETTERS + j] - (j == n->letters[i])) / p->dims[0];
}

static double cross_entropy(tape *t, tensor *logits, const int *targets)
{
	SONDE_FUNCTION();
	tensor *p = tensor_new(logits->dims[0], LETTERS);
	double sum = 0;
	memcpy(p->data, logits->data, (size_t)tensor_size(p) * sizeof(float));
	for (int64_t i = 0; i < p->dims[0]; i++) {
		softmax(p->data + i * LETTERS, LETTERS);
		sum -= log(p->data[i * LETTERS + targets[i]]);
	}
	tape_push(t, (node){ cross_entropy_backward, .in = { logits }, .saved = p, .letters = targets });
	return sum / p->dims[0];
}

/* ---- The model and its optimizer --------------------------------------------------------------------------------- */

enum { LETTER, POSITION, OUTPUT, QKV, MIX, WIDEN, NARROW, PER_LAYER = 4, N_PARAMS = QKV + PER_LAYER * LAYERS };

typedef struct model {
	tensor *params[N_PARAMS];  /* layer 0 from QKV on, layer 1 from QKV + PER_LAYER on */
	tensor *moments[N_PARAMS]; /* for Adam: mean of the gradient in data, of its square in grad */
	tape tape;
} model;

static void model_init(model *m, uint64_t *seed)
{
	static const int64_t dims[][2] = { { LETTERS, WIDTH }, { CONTEXT, WIDTH }, { WIDTH, LETTERS }, { WIDTH, ROW },
					   { WIDTH, WIDTH },   { WIDTH, HIDDEN },  { HIDDEN, WIDTH } };
	for (int p = 0; p < N_PARAMS; p++) {
		const int64_t *d = dims[p < QKV ? p : QKV + (p - QKV) % PER_LAYER];
		tensor *w = m->params[p] = tensor_new(d[0], d[1]);
		m->moments[p] = tensor_new(d[0], d[1]);
		float scale = p < OUTPUT ? 0.5f : 1 / sqrtf((float)d[0]);
		for (int64_t i = 0; i < tensor_size(w); i++)
			w->data[i] = scale * ((float)random_bits(seed) * 0x1p-30f - 1);
	}
}

static tensor *layer_forward(model *m, tensor *x, int layer)
{
	SONDE_SCOPE_ARGS("layer", SONDE_I64("layer", layer), SONDE_SHAPE("x", x->dims, 2));
	tensor **w = m->params + layer * PER_LAYER;
	tape *t = &m->tape;
	{
		SONDE_MODULE("self-attention");
		x = linear(t, attention(t, linear(t, norm(t, x), w[QKV], NULL)), w[MIX], x);
	}
	{
		SONDE_MODULE("feed-forward");
		x = linear(t, silu(t, linear(t, norm(t, x), w[WIDEN], NULL)), w[NARROW], x);
	}
	return x;
}

/* The loss of a batch: letters, and behind them, for each, the letter that really came next. */
static double model_forward(model *m, const int *letters, int n_sequences)
{
	SONDE_FUNCTION();
	int n = n_sequences * CONTEXT;
	tensor *x = embed(&m->tape, letters, n, m->params[LETTER], m->params[POSITION]);
	for (int i = 0; i < LAYERS; i++)
		x = layer_forward(m, x, i);
	return cross_entropy(&m->tape, linear(&m->tape, norm(&m->tape, x), m->params[OUTPUT], NULL), letters + n);
}

/* Adam. */
static void model_update(model *m, int step)
{
	float rate = 3e-3f * sqrtf(1 - powf(0.99f, step + 1)) / (1 - powf(0.9f, step + 1));
	for (int p = 0; p < N_PARAMS; p++) {
		tensor *w = m->params[p];
		float *mean = m->moments[p]->data, *square = m->moments[p]->grad;
		SONDE_OP("adam", SONDE_COMPUTE, .bytes = 4.0 * 8 * tensor_size(w), .shape = w->dims, .n_dims = 2) {
#pragma omp parallel for simd
			for (int64_t i = 0; i < tensor_size(w); i++) {
				mean[i] = 0.9f * mean[i] + 0.1f * w->grad[i];
				square[i] = 0.99f * square[i] + 0.01f * w->grad[i] * w->grad[i];
				w->data[i] -= rate * mean[i] / (sqrtf(square[i]) + 1e-8f);
				w->grad[i] = 0;
			}
		}
	}
}

/* ---- Data: sentences, made in a thread of their own -------------------------------------------------------------- */

/* "two red cats see the dog." The verb agrees with the subject: the model must learn to look back. */
static int write_sentence(char *text, uint64_t *seed)
{
	static const char *const adjectives[] = { "red", "old", "quick", "sleepy" };
	static const char *const nouns[] = { "cat", "dog", "bird", "horse", "cats", "dogs", "birds", "horses" };
	static const char *const verbs[] = { "sees", "likes", "follows", "finds", "see", "like", "follow", "find" };
	uint32_t r = random_bits(seed) >> 16, many = r & 4;
	return sprintf(text, "%s %s %s %s the %s.\n", many ? "two" : "one", adjectives[r >> 3 & 3],
		       nouns[many + (r & 3)], verbs[many + (r >> 5 & 3)], nouns[r >> 7 & 3]);
}

static int *batch_new(int n_sequences, uint64_t *seed)
{
	SONDE_FUNCTION();
	int n = n_sequences * CONTEXT, *letters = memory_new(2 * (size_t)n * sizeof(int), 0);
	for (int i = 0; i < n; i += CONTEXT) {
		char text[2 * CONTEXT];
		for (int length = 0; length <= CONTEXT;)
			length += write_sentence(text + length, seed);
		for (int t = 0; t < CONTEXT; t++) {
			letters[i + t] = (int)(strchr(alphabet, text[t]) - alphabet);
			letters[n + i + t] = (int)(strchr(alphabet, text[t + 1]) - alphabet);
		}
	}
	return letters;
}

typedef struct loader {
	pthread_mutex_t lock;
	pthread_cond_t moved; /* something was put in or taken out */
	int *queue[QUEUE];
	int n_made, n_taken, n_batches, n_sequences, delay_ms;
	uint64_t seed;
} loader;

static void *loader_main(void *arg)
{
	loader *l = arg;
	sonde_thread_name("loader");
	for (int number = 0; number < l->n_batches; number++) {
		int *letters;
		SONDE_OP("load", SONDE_DATA_LOAD, .bytes = 2.0 * sizeof *letters * l->n_sequences * CONTEXT) {
			letters = batch_new(l->n_sequences, &l->seed);
			if (l->delay_ms)
				nanosleep(&(struct timespec){ l->delay_ms / 1000, l->delay_ms % 1000 * 1000000 }, NULL);
			sonde_flow_begin("batch", (uint64_t)number); /* an arrow from here to where the batch is used */
		}
		pthread_mutex_lock(&l->lock);
		while (l->n_made == l->n_taken + QUEUE)
			pthread_cond_wait(&l->moved, &l->lock);
		l->queue[l->n_made++ % QUEUE] = letters;
		pthread_cond_signal(&l->moved);
		pthread_mutex_unlock(&l->lock);
	}
	return NULL;
}

static int *loader_next(loader *l)
{
	SONDE_FUNCTION();
	pthread_mutex_lock(&l->lock);
	SONDE_COUNTER("batches ready", l->n_made - l->n_taken);
	SONDE_OP("wait for batch", SONDE_SYNC) {
		while (l->n_taken == l->n_made)
			pthread_cond_wait(&l->moved, &l->lock);
	}
	sonde_flow_end("batch", (uint64_t)l->n_taken);
	int *letters = l->queue[l->n_taken++ % QUEUE];
	pthread_cond_signal(&l->moved);
	pthread_mutex_unlock(&l->lock);
	return letters;
}

/* ---- Training ---------------------------------------------------------------------------------------------------- */

static int train(model *m, loader *l)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, loader_main, l))
		abort();
	for (int step = 0; step < l->n_batches; step++) {
		SONDE_STEP(step);
		SONDE_PHASE("data");
		int *letters = loader_next(l);
		SONDE_PHASE("forward");
		double loss = model_forward(m, letters, l->n_sequences);
		SONDE_PHASE("backward");
		tape_backward(&m->tape);
		SONDE_PHASE("optimizer");
		model_update(m, step);
		SONDE_COUNTER("loss", loss);
		memory_free(letters);
		if (step % 20 == 0 || step == l->n_batches - 1)
			printf("step %4d  loss %.4f\n", step, loss);
	}
	return pthread_join(thread, NULL);
}

/* Compares the gradient of some weights with (loss(w + e) - loss(w - e)) / 2 e. */
static int check(model *m, uint64_t seed)
{
	int *letters = batch_new(1, &seed);
	double worst = 0;
	model_forward(m, letters, 1);
	tape_backward(&m->tape);
	for (int i = 0; i < 20 * N_PARAMS; i++) {
		tensor *t = m->params[i % N_PARAMS];
		int64_t at = random_bits(&seed) % tensor_size(t);
		float kept = t->data[at], e = 0.01f;
		double slope = 0;
		for (int sign = -1; sign <= 1; sign += 2) {
			t->data[at] = kept + sign * e;
			slope += sign * model_forward(m, letters, 1) / (2 * e);
			while (m->tape.n_nodes)
				tape_pop(&m->tape);
		}
		t->data[at] = kept;
		worst = fmax(worst, fabs(slope - t->grad[at]) / (fabs(slope) + 0.01));
	}
	memory_free(letters);
	printf("gradients differ from finite differences by at most %.2f %%\n", 100 * worst);
	return worst < 0.01 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "steps", 1, NULL, 's' }, { "batch", 1, NULL, 'b' },
						 { "seed", 1, NULL, 'r' },  { "loader-delay-ms", 1, NULL, 'd' },
						 { "check", 0, NULL, 'c' }, { NULL, 0, NULL, 0 } };
	int value[128] = { ['s'] = 200, ['b'] = 12, ['r'] = 1 };
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1; value[c] = optarg ? atoi(optarg) : 1)
		if (c == '?')
			return 2;
	if (value['s'] < 0 || value['b'] < 1 || value['d'] < 0) {
		fprintf(stderr, "train: a number is too small\n");
		return 2;
	}
	/* Keep freed memory for the next step: to give it back and take it again would double the time. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);

	sonde_thread_name("trainer");
	sonde_metadata("model", "transformer, 2 layers of width 64");
	uint64_t seed = (uint64_t)value['r'];
	model m = { .tape.n_nodes = 0 };
	model_init(&m, &seed);
	loader l = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .n_batches = value['s'],
		     .n_sequences = value['b'], .delay_ms = value['d'],	  .seed = seed };
	int failed = value['c'] ? check(&m, seed) : train(&m, &l);
	for (int p = 0; p < N_PARAMS; p++) {
		memory_free(m.params[p]);
		memory_free(m.moments[p]);
	}
	return failed;
}
