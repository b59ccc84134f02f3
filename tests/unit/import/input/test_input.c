/* Text comes back whole from whatever it is packed in; of damaged data, everything before the damage. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <isa-l/crc.h>
#include "unit/import/packed.h"

#include "import/input/input.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state ^ *state >> 29;
}

/* Text as traces have it: compressible, no two parts the same. */
static blob make_text(size_t len)
{
	uint64_t seed = len + 1;
	uint8_t *text = malloc(len + 128);

	assert_non_null(text);
	for (size_t at = 0; at < len;)
		at += (size_t)sprintf((char *)text + at, "{\"name\": \"op%u\", \"ts\": %u.%03u},\n",
				      (unsigned)next_random(&seed) % 90, (unsigned)at,
				      (unsigned)next_random(&seed) % 1000);
	return (blob){ text, len };
}

/* As `gzip` writes it: with the file's name; here also with an extra field, a comment and the header's checksum. */
static blob gzipped_with_everything(blob text)
{
	static const uint8_t head[] = "\x1f\x8b\x08\x1e\x01\x02\x03\x04\x00\x03"
				      "\x05\x00"
				      "extra"
				      "rank0.json\0"
				      "a comment";
	uint32_t head_crc = crc32_gzip_refl(0, head, sizeof head), crc = crc32_gzip_refl(0, text.ptr, text.len);
	uint8_t tail[] = {
		(uint8_t)crc,	   (uint8_t)(crc >> 8),	     (uint8_t)(crc >> 16),	(uint8_t)(crc >> 24),
		(uint8_t)text.len, (uint8_t)(text.len >> 8), (uint8_t)(text.len >> 16), (uint8_t)(text.len >> 24)
	};
	blob all = join(copy_of(head, sizeof head), copy_of(&head_crc, 2));

	return join(join(all, deflated(text, IGZIP_DEFLATE)), copy_of(tail, sizeof tail));
}

static blob plain(blob text)
{
	return copy_of(text.ptr, text.len);
}

/* What came out of an input. */
typedef struct outcome {
	blob text;
	sonde_status status;
	sonde_error err;
	char damage[200];
	uint64_t damage_at;
} outcome;

/* Reads to the end, closes, and checks what windows promise. Holds up to `hold` windows. */
static outcome read_all(input *in, unsigned hold)
{
	outcome o = { .text = { malloc(1), 0 } };
	input_window held[INPUT_WINDOWS];
	unsigned n_held = 0;
	bool last = false;

	while (!last) {
		input_window w;
		o.status = input_next(in, &w, &o.err);
		if (o.status)
			break;
		last = w.last;
		assert_int_equal(w.offset, o.text.len);
		assert_int_equal((uintptr_t)w.bytes % 64, 0);
		assert_true(last || w.len == INPUT_WINDOW);
		for (size_t i = 0; i < INPUT_SLACK; i++)
			assert_int_equal(w.bytes[w.len + i], 0);
		o.text = join(o.text, copy_of(w.bytes, w.len));
		memset(w.bytes, 0xee, w.len + INPUT_SLACK); /* they are the caller's */
		if (n_held == hold) {
			unsigned any = (unsigned)(o.text.len / INPUT_WINDOW) % n_held;
			input_release(in, &held[any]);
			held[any] = held[--n_held];
		}
		held[n_held++] = w;
	}
	const char *damage = input_damage(in, &o.damage_at);
	snprintf(o.damage, sizeof o.damage, "%s", damage ? damage : "");
	if (!o.status)
		assert_int_equal(input_next(in, held, NULL), SONDE_E_STATE);
	while (n_held)
		input_release(in, &held[--n_held]);
	input_close(in);
	return o;
}

static outcome read_memory(blob packed)
{
	input *in;

	assert_int_equal(input_open_memory(packed.ptr, packed.len, &in), SONDE_OK);
	return read_all(in, 1);
}

static void assert_text(outcome o, blob text)
{
	assert_int_equal(o.status, SONDE_OK);
	assert_int_equal(o.text.len, text.len);
	assert_memory_equal(o.text.ptr, text.ptr, text.len);
	free(o.text.ptr);
}

static void *feed(void *argument)
{
	const struct {
		int fd;
		blob packed;
	} *job = argument;

	for (size_t at = 0; at < job->packed.len;) {
		size_t some = job->packed.len - at < 50001 ? job->packed.len - at : 50001;
		ssize_t n = write(job->fd, job->packed.ptr + at, some);
		if (n < 0 && errno != EINTR)
			break;
		at += n < 0 ? 0 : (size_t)n;
	}
	close(job->fd);
	return NULL;
}

/* Through standard input, which is a pipe. */
static outcome read_pipe(blob packed, unsigned n_threads)
{
	int ends[2], saved = dup(STDIN_FILENO);
	input *in;
	pthread_t thread;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
	close(ends[0]);
	struct {
		int fd;
		blob packed;
	} job = { ends[1], packed };
	assert_int_equal(pthread_create(&thread, NULL, feed, &job), 0);
	assert_int_equal(input_open("-", n_threads, &in, NULL), SONDE_OK);
	outcome o = read_all(in, 2);
	pthread_join(thread, NULL);
	dup2(saved, STDIN_FILENO);
	close(saved);
	return o;
}

/* ---- Whole ------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name; /* NULL: plain */
	blob (*pack)(blob text);
} packings[] = { { NULL, plain }, { "gzip", gzipped }, { "gzip", gzipped_with_everything }, { "zstd", zstded } };
enum { N_PACKINGS = sizeof packings / sizeof packings[0] };

static void text_of_any_size_comes_back(void **state)
{
	static const size_t sizes[] = { 0,
					1,
					2,
					3,
					4,
					63,
					64,
					65,
					INPUT_PEEK - 1,
					INPUT_PEEK,
					INPUT_PEEK + 1,
					INPUT_WINDOW - 1,
					INPUT_WINDOW,
					INPUT_WINDOW + 1,
					2 * INPUT_WINDOW,
					3 * INPUT_WINDOW + 12345 };

	(void)state;
	for (size_t k = 0; k < N_PACKINGS; k++)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			blob text = make_text(sizes[i]), packed = packings[k].pack(text);
			const char *path = temp_path("input");
			input *in;

			assert_text(read_memory(packed), text);
			temp_write(path, packed.ptr, packed.len);
			for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
				assert_int_equal(input_open(path, n_threads, &in, NULL), SONDE_OK);
				if (packings[k].name)
					assert_string_equal(input_compression(in), packings[k].name);
				else
					assert_null(input_compression(in));
				outcome o = read_all(in, n_threads == 1 ? 1 : INPUT_WINDOWS);
				assert_string_equal(o.damage, "");
				assert_text(o, text);
				assert_text(read_pipe(packed, n_threads), text);
			}
			free(packed.ptr);
			free(text.ptr);
		}
}

static void parts_behind_each_other_are_one_text(void **state)
{
	static const uint8_t skippable[] = { 0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 'h', 'e', 'l', 'l', 'o' };
	blob text = make_text(20000), packed[2] = { { malloc(1), 0 }, copy_of(skippable, sizeof skippable) };

	(void)state;
	for (size_t at = 0; at < text.len;) {
		size_t len = at % 1000 < text.len - at ? at % 1000 : text.len - at; /* empty ones among them */
		blob part = { text.ptr + at, len };
		packed[0] = join(packed[0], at % 2 ? gzipped(part) : gzipped_with_everything(part));
		packed[1] = join(join(packed[1], zstded(part)), copy_of(skippable, sizeof skippable));
		at += len ? len : 1;
		if (!len) { /* a byte by itself */
			part = (blob){ text.ptr + at - 1, 1 };
			packed[0] = join(packed[0], gzipped(part));
			packed[1] = join(packed[1], zstded(part));
		}
	}
	packed[0] = join(packed[0], copy_of(skippable + 7, 1)); /* a zero: padding */
	for (size_t i = 0; i < 2; i++) {
		outcome o = read_memory(packed[i]);
		assert_string_equal(o.damage, "");
		assert_text(o, text);
		free(packed[i].ptr);
	}
	free(text.ptr);
}

static void the_first_bytes_can_be_seen_before(void **state)
{
	blob text = make_text(INPUT_WINDOW + 5), packed = gzipped(text);
	const uint8_t *first;
	size_t len;
	input *in;

	(void)state;
	temp_write(temp_path("peek.gz"), packed.ptr, packed.len);
	assert_int_equal(input_open(temp_path("peek.gz"), 2, &in, NULL), SONDE_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(input_peek(in, &first, &len, NULL), SONDE_OK);
		assert_int_equal(len, INPUT_PEEK);
		assert_memory_equal(first, text.ptr, len);
	}
	assert_text(read_all(in, 1), text);
	assert_int_equal(input_open_memory("[]", 2, &in), SONDE_OK);
	assert_int_equal(input_peek(in, &first, &len, NULL), SONDE_OK);
	assert_int_equal(len, 2);
	input_close(in);
	free(packed.ptr);
	free(text.ptr);
}

static void progress_ends_at_the_size_of_the_file(void **state)
{
	blob text = make_text(300000), packed = zstded(text);
	input_window w;
	uint64_t done, total;
	input *in;

	(void)state;
	temp_write(temp_path("progress"), packed.ptr, packed.len);
	assert_int_equal(input_open(temp_path("progress"), 1, &in, NULL), SONDE_OK);
	assert_int_equal(input_next(in, &w, NULL), SONDE_OK);
	input_position(in, &done, &total);
	assert_int_equal(done, packed.len);
	assert_int_equal(total, packed.len);
	input_close(in); /* takes the window back */
	free(packed.ptr);
	free(text.ptr);
}

static void one_window_too_many_is_refused(void **state)
{
	blob text = make_text((INPUT_WINDOWS + 4) * (size_t)INPUT_WINDOW);
	input_window w[INPUT_WINDOWS + 1];
	sonde_error err;
	input *in;

	(void)state;
	temp_write(temp_path("many"), text.ptr, text.len);
	for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
		assert_int_equal(input_open(temp_path("many"), n_threads, &in, NULL), SONDE_OK);
		for (size_t i = 0; i < INPUT_WINDOWS; i++)
			assert_int_equal(input_next(in, &w[i], NULL), SONDE_OK);
		assert_int_equal(input_next(in, &w[INPUT_WINDOWS], &err), SONDE_E_STATE);
		for (size_t i = 0; i < INPUT_WINDOWS; i++)
			assert_memory_equal(w[i].bytes, text.ptr + i * INPUT_WINDOW, INPUT_WINDOW);
		input_release(in, &w[1]);
		assert_int_equal(input_next(in, &w[1], &err), SONDE_OK);
		assert_int_equal(w[1].offset, INPUT_WINDOWS * (size_t)INPUT_WINDOW);
		input_close(in);
	}
	free(text.ptr);
}

/* ---- Damaged ----------------------------------------------------------------------------------------------------- */

static void cut_at_every_byte_the_text_before_comes(void **state)
{
	blob text = make_text(9000);

	(void)state;
	for (size_t k = 1; k < N_PACKINGS; k++) {
		blob packed = packings[k].pack(text);
		size_t before = 0;
		for (size_t cut = 4; cut < packed.len; cut++) {
			blob part = copy_of(packed.ptr, cut);
			outcome o = read_memory(part);
			assert_true(o.text.len >= before && o.text.len <= text.len);
			assert_memory_equal(o.text.ptr, text.ptr, o.text.len);
			before = o.text.len;
			if (o.text.len == 0) {
				assert_int_equal(o.status, SONDE_E_FORMAT);
				assert_int_equal(o.err.position, cut);
				assert_non_null(strstr(o.err.message, "is truncated"));
			} else {
				assert_int_equal(o.status, SONDE_OK);
				assert_non_null(strstr(o.damage, "is truncated"));
				assert_int_equal(o.damage_at, cut);
			}
			free(o.text.ptr);
			free(part.ptr);
		}
		assert_int_equal(before, text.len); /* without the trailer all text is there */
		free(packed.ptr);
	}
	free(text.ptr);
}

/* Nine parts; the sixth is broken at its start. */
static void text_before_damage_comes_whole(void **state)
{
	enum { PART = 300001 };
	blob text = make_text(9 * PART), (*const packs[])(blob) = { gzipped, zstded };
	static const char *const says[] = { "the gzip data is damaged", "the zstd data is damaged" };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		blob packed = { malloc(1), 0 };
		size_t at = 0;
		for (size_t i = 0; i < 9; i++) {
			blob part = packs[k]((blob){ text.ptr + i * PART, PART });
			if (i == 5) {
				at = packed.len;
				memset(part.ptr + 10, 0xff, 40);
			}
			packed = join(packed, part);
		}
		for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
			input *in;
			temp_write(temp_path("damaged"), packed.ptr, packed.len);
			assert_int_equal(input_open(temp_path("damaged"), n_threads, &in, NULL), SONDE_OK);
			outcome o = read_all(in, 2);
			assert_non_null(strstr(o.damage, says[k]));
			assert_in_range(o.damage_at, at, at + 64);
			assert_text(o, (blob){ text.ptr, 5 * PART });
		}
		free(packed.ptr);
	}
	free(text.ptr);
}

/* A block of a frame whose header is nonsense: the blocks before it, decoded in the same breath, must come. */
static void a_broken_block_keeps_the_blocks_before(void **state)
{
	blob text = make_text(3 * ZSTD_BLOCKSIZE_MAX), packed = zstded(text);
	size_t at = 4; /* behind the magic: the frame header */

	(void)state;
	unsigned head = packed.ptr[4];
	at += 1 + !(head & 0x20) + (size_t[]){ head & 0x20 ? 1 : 0, 2, 4, 8 }[head >> 6];
	for (int i = 0; i < 2; i++) /* two blocks */
		at += 3 + ((packed.ptr[at] | (size_t)packed.ptr[at + 1] << 8 | (size_t)packed.ptr[at + 2] << 16) >> 3);
	packed.ptr[at] |= 6; /* the reserved kind of block */
	outcome o = read_memory(packed);
	assert_non_null(strstr(o.damage, "the zstd data is damaged"));
	assert_in_range(o.damage_at, at, at + 3);
	assert_text(o, (blob){ text.ptr, 2 * ZSTD_BLOCKSIZE_MAX });
	free(packed.ptr);
	free(text.ptr);
}

static void wrong_checksums_and_what_is_behind_are_told(void **state)
{
	blob text = make_text(5000);
	static const struct {
		blob (*pack)(blob text);
		size_t change; /* from the end; 0: none */
		const char *behind, *says;
	} cases[] = {
		{ gzipped, 8, "", "the gzip data is damaged: wrong checksum" },
		{ gzipped, 4, "", "the gzip data is damaged: wrong checksum" },
		{ gzipped, 0, "hello", "unexpected data after the gzip data" },
		{ gzipped, 0, "\x1f", "unexpected data after the gzip data" },
		{ zstded, 4, "", "the zstd data is damaged: wrong checksum" },
		{ zstded, 0, "hello", "unexpected data after the zstd data" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		blob packed = cases[i].pack(text);
		if (cases[i].change)
			packed.ptr[packed.len - cases[i].change] ^= 1;
		packed = join(packed, copy_of(cases[i].behind, strlen(cases[i].behind)));
		outcome o = read_memory(packed);
		assert_string_equal(o.damage, cases[i].says);
		assert_in_range(o.damage_at, packed.len - 8, packed.len);
		assert_text(o, text);
		free(packed.ptr);
	}
	free(text.ptr);
}

/* 1 GiB of zeros in a few KiB: zstd is refused, gzip cannot get that far. Neither takes memory. */
static void a_bomb_is_refused(void **state)
{
	blob zeros = { calloc(1, 64 << 20), 64 << 20 };
	blob part = zstded(zeros), bomb = { malloc(1), 0 };
	input_window w;
	sonde_error err;
	sonde_status status;
	uint64_t n = 0;
	input *in;

	(void)state;
	for (int i = 0; i < 16; i++)
		bomb = join(bomb, copy_of(part.ptr, part.len));
	assert_int_equal(input_open_memory(bomb.ptr, bomb.len, &in), SONDE_OK);
	while (!(status = input_next(in, &w, &err)) && !w.last) {
		n += w.len;
		input_release(in, &w);
	}
	assert_int_equal(status, SONDE_E_FORMAT);
	assert_string_equal(err.message, "the zstd data expands more than 1100-fold, the limit");
	assert_in_range(n, INPUT_RATIO_FREE, INPUT_RATIO_FREE + INPUT_WINDOW);
	assert_int_equal(input_next(in, &w, &err), SONDE_E_FORMAT);
	input_close(in);
	free(bomb.ptr);
	free(part.ptr);

	part = gzipped(zeros);
	for (bomb = (blob){ malloc(1), 0 }; bomb.len < 5 * part.len;)
		bomb = join(bomb, copy_of(part.ptr, part.len));
	assert_int_equal(input_open_memory(bomb.ptr, bomb.len, &in), SONDE_OK);
	for (n = 0; !(status = input_next(in, &w, &err)) && !w.last;) {
		n += w.len;
		input_release(in, &w);
	}
	assert_int_equal(status, SONDE_OK);
	assert_int_equal(n + w.len, 5 * zeros.len);
	input_close(in);
	free(bomb.ptr);
	free(part.ptr);
	free(zeros.ptr);
}

static void a_window_beyond_the_limit_is_refused(void **state)
{
	/* A frame of unknown size with a window of 256 MiB. */
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 1, 0, 0 };
	outcome o = read_memory((blob){ (uint8_t *)frame, sizeof frame });

	(void)state;
	assert_int_equal(o.status, SONDE_E_FORMAT);
	assert_string_equal(o.err.message, "the zstd data needs a window of more than 128 MiB, the limit");
	free(o.text.ptr);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_opened_says_why(void **state)
{
	sonde_error err;
	input *in;

	(void)state;
	assert_int_equal(input_open("/no/such/file", 1, &in, &err), SONDE_E_IO);
	assert_string_equal(err.message, "/no/such/file: No such file or directory");
	assert_int_equal(input_open("/", 2, &in, &err), SONDE_E_IO);
	assert_string_equal(err.message, "/: is a directory");
	temp_write(temp_path("private"), "[]", 2);
	chmod(temp_path("private"), 0);
	if (geteuid() != 0) {
		assert_int_equal(input_open(temp_path("private"), 1, &in, &err), SONDE_E_IO);
		assert_non_null(strstr(err.message, "Permission denied"));
	}
	/* Opens, but cannot be read. */
	assert_int_equal(input_open("/proc/self/mem", 1, &in, NULL), SONDE_OK);
	outcome o = read_all(in, 1);
	assert_int_equal(o.status, SONDE_E_IO);
	assert_string_equal(o.err.message, "Input/output error");
	free(o.text.ptr);
}

static void a_file_that_shrinks_ends_early(void **state)
{
	blob text = make_text(12 * (size_t)INPUT_WINDOW);
	input *in;

	(void)state;
	temp_write(temp_path("shrinks"), text.ptr, text.len);
	assert_int_equal(input_open(temp_path("shrinks"), 1, &in, NULL), SONDE_OK);
	assert_int_equal(truncate(temp_path("shrinks"), INPUT_WINDOW + 7), 0);
	assert_text(read_all(in, 1), (blob){ text.ptr, INPUT_WINDOW + 7 });
	free(text.ptr);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A pipe that stays open and silent, a file that nobody reads: closing does not wait for them. */
static void closing_early_stops_the_thread(void **state)
{
	char path[64];
	int ends[2];
	input *in;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "[1, 2]", 6), 6);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	assert_int_equal(input_open(path, 2, &in, NULL), SONDE_OK);
	int64_t start = now_ms();
	input_close(in);
	assert_true(now_ms() - start < 5000);
	close(ends[0]);
	close(ends[1]);

	blob text = make_text(12 * (size_t)INPUT_WINDOW), packed = gzipped(text);
	temp_write(temp_path("unread"), packed.ptr, packed.len);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(input_open(temp_path("unread"), 2, &in, NULL), SONDE_OK);
		input_close(in);
	}
	free(packed.ptr);
	free(text.ptr);
}

static void on_signal(int number)
{
	(void)number;
}

/* Signals that interrupt read() and poll(), in the thread that reads. */
static void signals_do_not_end_the_input(void **state)
{
	struct sigaction action = { .sa_handler = on_signal }, before;
	struct itimerspec each = { .it_interval = { 0, 300000 }, .it_value = { 0, 300000 } };
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	blob text = make_text(2 * INPUT_WINDOW + 3), packed = gzipped(text);
	timer_t timer;

	(void)state;
	sigaction(SIGUSR1, &action, &before);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &how, &timer), 0);
	timer_settime(timer, 0, &each, NULL);
	outcome o = read_pipe(packed, 1);
	timer_delete(timer);
	sigaction(SIGUSR1, &before, NULL);
	assert_string_equal(o.damage, "");
	assert_text(o, text);
	free(packed.ptr);
	free(text.ptr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_any_size_comes_back),
		cmocka_unit_test(parts_behind_each_other_are_one_text),
		cmocka_unit_test(the_first_bytes_can_be_seen_before),
		cmocka_unit_test(progress_ends_at_the_size_of_the_file),
		cmocka_unit_test(one_window_too_many_is_refused),
		cmocka_unit_test(cut_at_every_byte_the_text_before_comes),
		cmocka_unit_test(text_before_damage_comes_whole),
		cmocka_unit_test(a_broken_block_keeps_the_blocks_before),
		cmocka_unit_test(wrong_checksums_and_what_is_behind_are_told),
		cmocka_unit_test(a_bomb_is_refused),
		cmocka_unit_test(a_window_beyond_the_limit_is_refused),
		cmocka_unit_test(what_cannot_be_opened_says_why),
		cmocka_unit_test(a_file_that_shrinks_ends_early),
		cmocka_unit_test(closing_early_stops_the_thread),
		cmocka_unit_test(signals_do_not_end_the_input),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
