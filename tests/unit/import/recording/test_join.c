/* What a killed program left in its ring, and rings that strangers name. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "base/proc.h"
#include "format/recording/ring.h"
#include "unit/import/recording/make_file.h"

enum { N_CHUNKS = 6 };
static const size_t RING_BYTES = RING_CHUNKS_AT + (size_t)N_CHUNKS * RING_CHUNK_BYTES;

/* ---- Rings by hand ----------------------------------------------------------------------------------------------- */

static ring_header *make_ring(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)RING_BYTES), 0);
	ring_header *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(ring != MAP_FAILED);
	close(fd);
	*ring = (ring_header){
		.magic = RING_MAGIC,
		.stream = MAKE_STREAM,
		.version = FORMAT_VERSION,
		.n_chunks = N_CHUNKS,
		.first = { 0, 0, 0 },
		.last = { 1000000000, 1000000000, 0 },
		.info = { .clock = CLOCK_NS, .pid = 77, .start_ns = 0, .program = "train", .host = "node7" },
	};
	return ring;
}

static ring_chunk *chunk_of(ring_header *ring, unsigned index)
{
	return (ring_chunk *)((char *)ring + RING_CHUNKS_AT) + index;
}

static void fill_chunk(ring_header *ring, unsigned index, chunk_state state, uint32_t thread, uint64_t first_word,
		       const made_event *events, size_t n)
{
	ring_chunk *chunk = chunk_of(ring, index);

	chunk->state = state;
	chunk->thread = thread;
	chunk->tid = 100 + thread;
	chunk->first_word = first_word;
	chunk->n_words = (uint32_t)make_words(chunk->words, events, n);
}
#define FILL_CHUNK(ring, index, state, thread, first_word, ...)                                                        \
	fill_chunk(ring, index, state, thread, first_word, (const made_event[]){ __VA_ARGS__ },                        \
		   sizeof((const made_event[]){ __VA_ARGS__ }) / sizeof(made_event))

static void add_ring_name(ring_header *ring, uint16_t id, const char *name)
{
	char *area = (char *)ring + RING_HEADER_BYTES;

	ring->names_bytes += (uint32_t)name_write(area + ring->names_bytes,
						  &(name_parts){ .id = id, .name = name, .name_len = strlen(name) });
}

/* ---- Recordings of killed programs ------------------------------------------------------------------------------- */

typedef struct owner {
	uint32_t pid;
	uint64_t start;
} owner;

static owner dead_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	owner o = { (uint32_t)pid, proc_start_time(pid) };
	waitpid(pid, NULL, 0);
	return o;
}

static owner this_process(void)
{
	return (owner){ (uint32_t)getpid(), proc_start_time(getpid()) };
}

/* An open stream of o's that says where its ring is, with two events of thread 1. */
static void make_killed(maker *m, owner o, const char *ring_path)
{
	make_start(m);
	m->len = 0; /* not this first block */
	stream_block info = m->info;
	info.state = STREAM_OPEN;
	info.end_ns = 0;
	info.pid = o.pid;
	info.pid_start = o.start;
	snprintf(info.ring_path, sizeof info.ring_path, "%s", ring_path);
	make_stream(m, &info);
	MAKE_EVENTS(m, 1, { 10, 40 }, { 20, END | 40 });
}

static void save_killed(const char *path, owner o, const char *ring_path)
{
	maker m = { 0 };

	make_killed(&m, o, ring_path);
	make_save(&m, path);
	make_done(&m);
}

static recording *open_trace(const char *path)
{
	recording *t = NULL;
	sonde_error err = { .message = "" };

	if (recording_open_path(path, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

/* All events of all threads: "1: 10 20. 2: 5." with ends as negative times. */
static const char *events_of(const recording *t)
{
	static char text[4096];
	event_reader *r = malloc(sizeof *r);
	size_t len = 0;
	event e;

	text[0] = 0;
	for (size_t i = 0; i < t->threads.n; i++) {
		const trace_thread *thread = &t->threads.items[i];
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%u:", i ? " " : "", thread->number);
		for (size_t k = 0; k < thread->n_blocks; k++) {
			const recording_block *b = &t->blocks.items[thread->first_block + k];
			events_open(r, b->bytes, b->len, b->head.base_ticks);
			for (uint32_t at = 0; events_next(r, &e); at++)
				if (at >= b->skip)
					len += (size_t)snprintf(text + len, sizeof text - len, " %s%d",
								e.code & EVENT_END ? "-" : "", (int)e.ticks);
		}
	}
	free(r);
	return text;
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static void fill_usual(ring_header *ring)
{
	add_ring_name(ring, 40, "forward");
	/* Thread 1: words 0 and 1 are in the file and noted, 2 is in neither's note but in the ring. */
	FILL_CHUNK(ring, 0, CHUNK_ACTIVE, 1, 0, { 10, 40 }, { 20, END | 40 }, { 30, 40 });
	chunk_of(ring, 0)->flushed = 2;
	FILL_CHUNK(ring, 1, CHUNK_SEALED, 2, 0, { 11, 40 }, { 21, END | 40 });
	FILL_CHUNK(ring, 2, CHUNK_ACTIVE, 2, 2, { 31, 40, 3, { 7, 0, 9 } });
	FILL_CHUNK(ring, 3, CHUNK_FREE, 3, 0, { 99, 40 });   /* given back, not yet cleared */
	FILL_CHUNK(ring, 4, CHUNK_ACTIVE, 4, 0, { 12, 40 }); /* flushed whole */
	chunk_of(ring, 4)->flushed = 1;
	chunk_of(ring, 5)->state = CHUNK_ACTIVE; /* taken, nothing written */
	munmap(ring, RING_BYTES);
}
static const char usual_events[] = "1: 10 -20 30 2: 11 -21 31";

static void a_dead_program_s_ring_goes_into_the_file(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");

	(void)state;
	save_killed(path, dead_process(), ring);
	fill_usual(make_ring(ring));

	recording *t = open_trace(path);
	assert_string_equal(events_of(t), usual_events);
	assert_int_equal(t->streams.items[0].n_joined, 4);
	assert_int_equal(t->streams.items[0].info.state, STREAM_RECOVERED);
	assert_false(t->streams.items[0].live);
	assert_non_null(recording_site_of(&t->streams.items[0], 40));
	assert_int_equal(t->diagnostics.n_rings_missing, 0);
	recording_free(t);
	assert_false(temp_exists(ring));

	t = open_trace(path);
	assert_string_equal(events_of(t), usual_events);
	assert_int_equal(t->streams.items[0].n_joined, 0);
	assert_int_equal(t->streams.items[0].info.state, STREAM_RECOVERED);
	assert_int_equal(t->diagnostics.n_kept, 6);
	assert_int_equal(t->diagnostics.n_rings_missing, 0);
	assert_int_equal(t->diagnostics.skipped_bytes, 0);
	recording_free(t);
	temp_clear();
}

static void a_running_program_is_watched_and_left_alone(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");
	size_t len_before, len_after;

	(void)state;
	save_killed(path, this_process(), ring);
	fill_usual(make_ring(ring));
	uint8_t *before = temp_read(path, &len_before);
	for (int i = 0; i < 2; i++) {
		recording *t = open_trace(path);
		assert_string_equal(events_of(t), usual_events);
		assert_true(t->streams.items[0].live);
		assert_int_equal(t->streams.items[0].info.state, STREAM_OPEN);
		recording_free(t);
	}
	uint8_t *after = temp_read(path, &len_after);
	assert_int_equal(len_before, len_after);
	assert_memory_equal(before, after, len_before);
	assert_true(temp_exists(ring));
	free(before);
	free(after);
	temp_clear();
}

/* Killed between write() and the note of it. */
static void what_file_and_ring_both_have_counts_once(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");

	(void)state;
	for (uint64_t n_more = 0; n_more < 2; n_more++) {
		save_killed(path, dead_process(), ring);
		ring_header *r = make_ring(ring);
		FILL_CHUNK(r, 0, CHUNK_ACTIVE, 1, 0, { 10, 40 }, { 20, END | 40 }, { 30, 40 });
		if (!n_more)
			chunk_of(r, 0)->words[2] = 0;
		munmap(r, RING_BYTES);
		for (int i = 0; i < 2; i++) {
			recording *t = open_trace(path);
			assert_string_equal(events_of(t), n_more ? "1: 10 -20 30" : "1: 10 -20");
			assert_int_equal(t->diagnostics.n_kept, 2 + n_more);
			assert_int_equal(t->streams.items[0].n_joined, i ? 0 : n_more);
			recording_free(t);
		}
		temp_clear();
	}
}

/* Killed inside write(): the ring has what the cut-off block would have had. */
static void a_block_cut_off_by_the_kill_does_not_hide_what_is_recovered(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");
	maker m = { 0 };

	(void)state;
	make_killed(&m, dead_process(), ring);
	size_t whole = m.len;
	MAKE_EVENTS(&m, 1, { 30, 40, 8, { 1, 2, 3, 4, 5, 6, 7, 8 } }, { 40, 41, 8, { 1, 2, 3, 4, 5, 6, 7, 8 } });
	for (size_t cut = whole; cut < m.len; cut += 3) {
		temp_write(path, m.bytes, cut);
		ring_header *r = make_ring(ring);
		FILL_CHUNK(r, 0, CHUNK_ACTIVE, 1, 2, { 30, 40, 8, { 1, 2, 3, 4, 5, 6, 7, 8 } },
			   { 40, 41, 8, { 1, 2, 3, 4, 5, 6, 7, 8 } });
		munmap(r, RING_BYTES);
		for (int i = 0; i < 2; i++) {
			recording *t = open_trace(path);
			assert_string_equal(events_of(t), "1: 10 -20 30 40");
			assert_int_equal(t->diagnostics.n_lost_damaged, 0);
			assert_int_equal(t->diagnostics.n_damaged_blocks, 0);
			if (i)
				assert_int_equal(t->diagnostics.truncated_bytes + t->diagnostics.skipped_bytes, 0);
			recording_free(t);
		}
	}
	make_done(&m);
	temp_clear();
}

static void events_behind_one_that_was_never_finished_are_counted_as_lost(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");

	(void)state;
	save_killed(path, dead_process(), ring);
	ring_header *r = make_ring(ring);
	FILL_CHUNK(r, 0, CHUNK_ACTIVE, 1, 2, { 30, 40 }, { 40, 41 }, { 50, 42 });
	chunk_of(r, 0)->words[1] = 0; /* a signal handler came in between and was killed */
	FILL_CHUNK(r, 1, CHUNK_ACTIVE, 2, 0, { 30, 40 }, { 40, 41 });
	chunk_of(r, 1)->words[0] = 0;
	munmap(r, RING_BYTES);
	recording *t = open_trace(path);
	assert_string_equal(events_of(t), "1: 10 -20 30");
	assert_int_equal(t->diagnostics.n_lost_signal, 2);
	recording_free(t);
	temp_clear();
}

static void counters_of_the_ring_replace_those_of_the_file(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");

	(void)state;
	save_killed(path, dead_process(), ring);
	ring_header *r = make_ring(ring);
	r->info.n_lost_full = 12;
	memset(r->info.program, 'x', sizeof r->info.program); /* without an end */
	memset(r->info.host, 'x', sizeof r->info.host);
	memset(r->info.writer, 'x', sizeof r->info.writer);
	munmap(r, RING_BYTES);
	for (int i = 0; i < 2; i++) {
		recording *t = open_trace(path);
		assert_int_equal(t->diagnostics.n_lost_full, 12);
		assert_int_equal(strlen(t->streams.items[0].info.program), sizeof r->info.program - 1);
		assert_int_equal(strlen(t->streams.items[0].info.writer), sizeof r->info.writer - 1);
		recording_free(t);
	}
	temp_clear();
}

static void a_ring_that_is_damaged_gives_what_is_sound(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");

	(void)state;
	save_killed(path, dead_process(), ring);
	ring_header *r = make_ring(ring);
	r->n_chunks = UINT32_MAX;
	r->names_bytes = UINT32_MAX;
	FILL_CHUNK(r, 0, CHUNK_SEALED, 1, 2, { 30, 40 });
	chunk_of(r, 0)->n_words = UINT32_MAX; /* more than a chunk has */
	FILL_CHUNK(r, 1, CHUNK_ACTIVE, 2, 0, { 30, 40 });
	chunk_of(r, 1)->flushed = UINT64_MAX;
	FILL_CHUNK(r, 2, CHUNK_ACTIVE, 3, 0, { 30, 40 }, { 40, 41, 2, { 1, 2 } });
	chunk_of(r, 2)->words[2] = UINT64_MAX; /* the length of a payload */
	FILL_CHUNK(r, 3, (chunk_state)99, 4, 0, { 35, 40 });
	munmap(r, RING_BYTES);
	recording *t = open_trace(path);
	assert_string_equal(events_of(t), "1: 10 -20 3: 30 4: 35");
	recording_free(t);
	temp_clear();
}

/* ---- Rings that must not be touched ------------------------------------------------------------------------------ */

typedef struct foreign_case {
	const char *what;
	const char *named; /* by the recording; NULL: the ring's real path */
	const char *ring;  /* where there is one */
	void (*spoil)(ring_header *ring, const char *path);
} foreign_case;

static void other_stream(ring_header *ring, const char *path)
{
	(void)path;
	ring->stream++;
}

static void other_magic(ring_header *ring, const char *path)
{
	(void)path;
	ring->magic++;
}

static void other_version(ring_header *ring, const char *path)
{
	(void)path;
	ring->version++;
}

static void too_small(ring_header *ring, const char *path)
{
	(void)ring;
	assert_int_equal(truncate(path, RING_CHUNKS_AT - 1), 0);
}

static void behind_a_link(ring_header *ring, const char *path)
{
	(void)ring;
	assert_int_equal(rename(path, temp_path("real")), 0);
	assert_int_equal(symlink(temp_path("real"), path), 0);
}

static void a_directory(ring_header *ring, const char *path)
{
	(void)ring;
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void a_pipe(ring_header *ring, const char *path)
{
	(void)ring;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void a_ring_that_is_not_the_recording_s_is_neither_read_nor_removed(void **state)
{
	static const foreign_case cases[] = {
		{ "of another stream", NULL, "run.sonde.ring", other_stream },
		{ "no ring", NULL, "run.sonde.ring", other_magic },
		{ "of another version", NULL, "run.sonde.ring", other_version },
		{ "too small", NULL, "run.sonde.ring", too_small },
		{ "a link", NULL, "run.sonde.ring", behind_a_link },
		{ "a directory", NULL, "run.sonde.ring", a_directory },
		{ "a pipe", NULL, "run.sonde.ring", a_pipe },
		{ "not called a ring", NULL, "important", NULL },
		{ "only an ending", NULL, ".ring", NULL },
		{ "somewhere else", "/somewhere/else/important", "important", NULL },
		{ "outside", "/dev/shm/sonde-1-2-3.ring/../../../../tmp/x", "x", NULL },
		{ "no name", "", "run.sonde.ring", NULL },
		{ "a directory's name", "/tmp/", "run.sonde.ring", NULL },
		{ "nothing there", "/dev/shm/sonde-0-0-none.ring", "run.sonde.ring", NULL },
		{ "a system file", "/etc/passwd", "run.sonde.ring", NULL },
		{ "a device", "/dev/zero", "run.sonde.ring", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *path = temp_path("run.sonde"), *ring = temp_path(cases[i].ring);
		size_t before, after;
		save_killed(path, dead_process(), cases[i].named ? cases[i].named : ring);
		ring_header *r = make_ring(ring);
		FILL_CHUNK(r, 0, CHUNK_ACTIVE, 5, 0, { 30, 40 });
		if (cases[i].spoil)
			cases[i].spoil(r, ring);
		munmap(r, RING_BYTES);
		free(temp_read(path, &before));
		recording *t = open_trace(path);
		if (strcmp(events_of(t), "1: 10 -20") != 0 || !t->streams.items[0].ring_missing ||
		    t->diagnostics.n_rings_missing != 1)
			fail_msg("%s: was read", cases[i].what);
		recording_free(t);
		if (!temp_exists(ring))
			fail_msg("%s: was removed", cases[i].what);
		free(temp_read(path, &after));
		assert_int_equal(before, after);
		temp_clear();
	}
}

/* The recording says an absolute path; both may have been moved since. */
static void a_ring_lies_beside_its_recording_wherever_that_is(void **state)
{
	const char *path = temp_path("moved.sonde"), *ring = temp_path("run.sonde.ring");

	(void)state;
	save_killed(path, dead_process(), "/home/somebody/run.sonde.ring");
	fill_usual(make_ring(ring));
	recording *t = open_trace(path);
	assert_string_equal(events_of(t), usual_events);
	recording_free(t);
	assert_false(temp_exists(ring));
	temp_clear();
}

static void a_ring_in_shared_memory_is_found_by_its_full_name(void **state)
{
	char path[512], ring[512];

	(void)state;
	snprintf(path, sizeof path, "%s", temp_path("run.sonde"));
	snprintf(ring, sizeof ring, "/dev/shm/sonde-%u-%d-test.ring-1f", (unsigned)geteuid(), (int)getpid());
	save_killed(path, dead_process(), ring);
	fill_usual(make_ring(ring));
	recording *t = open_trace(path);
	assert_string_equal(events_of(t), usual_events);
	recording_free(t);
	bool left = temp_exists(ring);
	unlink(ring);
	assert_false(left);
	temp_clear();
}

static void a_file_that_cannot_be_written_keeps_its_ring(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring"), *link = temp_path("link.sonde");

	(void)state;
	save_killed(path, dead_process(), ring);
	fill_usual(make_ring(ring));
	assert_int_equal(symlink(path, link), 0); /* links are read, not written through: works for root too */
	recording *t = open_trace(link);
	assert_string_equal(events_of(t), usual_events);
	assert_int_equal(t->streams.items[0].info.state, STREAM_OPEN);
	recording_free(t);
	assert_true(temp_exists(ring));
	temp_clear();
}

static void a_ring_of_somebody_else_s_is_never_removed(void **state)
{
	const char *path = temp_path("run.sonde"), *ring = temp_path("run.sonde.ring");

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can give files away\n");
		skip();
	}
	save_killed(path, dead_process(), ring);
	fill_usual(make_ring(ring));
	assert_int_equal(chown(ring, 65534, 65534), 0);
	recording *t = open_trace(path); /* root may look at it */
	assert_string_equal(events_of(t), usual_events);
	assert_int_equal(t->streams.items[0].info.state, STREAM_OPEN);
	recording_free(t);
	assert_true(temp_exists(ring));

	assert_int_equal(seteuid(65534), 0); /* and nobody may not look at root's */
	sonde_status status = recording_open_path(path, &t, NULL);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(status, SONDE_E_IO);
	temp_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_program_s_ring_goes_into_the_file),
		cmocka_unit_test(a_running_program_is_watched_and_left_alone),
		cmocka_unit_test(what_file_and_ring_both_have_counts_once),
		cmocka_unit_test(a_block_cut_off_by_the_kill_does_not_hide_what_is_recovered),
		cmocka_unit_test(events_behind_one_that_was_never_finished_are_counted_as_lost),
		cmocka_unit_test(counters_of_the_ring_replace_those_of_the_file),
		cmocka_unit_test(a_ring_that_is_damaged_gives_what_is_sound),
		cmocka_unit_test(a_ring_that_is_not_the_recording_s_is_neither_read_nor_removed),
		cmocka_unit_test(a_ring_lies_beside_its_recording_wherever_that_is),
		cmocka_unit_test(a_ring_in_shared_memory_is_found_by_its_full_name),
		cmocka_unit_test(a_file_that_cannot_be_written_keeps_its_ring),
		cmocka_unit_test(a_ring_of_somebody_else_s_is_never_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
