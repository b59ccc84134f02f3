/* See chrome/stretch.h. What is damaged is skipped up to the next place that looks like an event, counted and told. */
#include "import/chrome/stretch.h"

#include "base/json_read.h"
#include "import/chrome/scan.h"

enum {
	LOOK_BACK = 64,
	DAMAGE_WAITS = 1 << 20, /* bytes of damage that are kept until the next event is seen */
};

static void lose(stretch_text *t, chrome_problem problem, uint64_t n, const uint8_t *at)
{
	chrome_problem_add(&t->batch->problems, problem, n, t->batch->offset + (uint64_t)(at - t->base));
	if (problem != PROBLEM_GARBAGE && problem != PROBLEM_COMMA)
		t->batch->n_lost += n;
}

/* Text that is skipped: events in it are lost. `least` counts as so many where none is to be seen. */
static void lose_text(stretch_text *t, chrome_problem problem, uint64_t least, const uint8_t *from, const uint8_t *to)
{
	uint64_t n = chrome_count_events(from, to);

	if (n || least)
		lose(t, problem, n ? n : least, from);
}

/* Something from `from` on is damaged, seen at `seen`: goes on at the next event. */
static bool resume(stretch_text *t, chrome_problem problem, const uint8_t *from, const uint8_t *seen, stretch *s)
{
	bool garbage = problem == PROBLEM_GARBAGE;
	const uint8_t *at = seen > from ? seen : from + 1, *next = chrome_resync(garbage ? at : t->base, at, t->end);

	s->at = from;
	if (!next && !t->final && t->end - from < DAMAGE_WAITS)
		return false;
	if (garbage)
		lose(t, problem, 1, from);
	if (next) {
		lose_text(t, garbage ? PROBLEM_LOST_DAMAGED : problem, !garbage, from, next);
		s->at = next;
		return true;
	}
	/* The start of an event may be cut in two. */
	s->at = t->final ? t->end : t->end - LOOK_BACK;
	s->lost = true;
	lose_text(t, garbage ? PROBLEM_LOST_DAMAGED : problem, !garbage, from, t->final ? t->end : s->at + 3);
	return false;
}

/* One event the careful way. False: the stretch is over. */
static bool read_one(stretch_text *t, stretch *s)
{
	const uint8_t *at = s->at, *seen = at;
	read_status status = chrome_read(t->reader, t->batch, &seen, t->end, t->base);

	if (status == READ_OK) {
		s->at = seen;
		const uint8_t *next = skip_space(seen, t->end);
		if (next < t->end && *next == '{')
			lose(t, PROBLEM_COMMA, 1, next);
		return true;
	}
	if (status == READ_MORE && !t->final && t->end - at < CHROME_EVENT_MAX)
		return false;
	if (status == READ_MORE && t->final) {
		const uint8_t *next = chrome_resync(t->base, at + 1, t->end);
		if (!next) {
			lose(t, PROBLEM_LOST_CUT, 1, at);
			s->at = t->end;
			return false;
		}
		return resume(t, PROBLEM_LOST_DAMAGED, at, next, s);
	}
	return resume(t, status == READ_BAD ? PROBLEM_LOST_DAMAGED : PROBLEM_LOST_LONG, at, seen, s);
}

/* An element of the list that is no object. */
static bool skip_element(stretch_text *t, stretch *s)
{
	const uint8_t *at = s->at, *seen = at;
	uint32_t repairs = 0;
	read_status status = chrome_skip_value(&seen, t->end, false, &repairs);

	if (status == READ_OK && json_is_valid((const char *)at, (size_t)(seen - at))) {
		lose(t, PROBLEM_LOST_ELEMENTS, 1, at);
		s->at = seen;
		return true;
	}
	if (status == READ_MORE && !t->final && t->end - at < CHROME_EVENT_MAX)
		return false;
	return resume(t, PROBLEM_GARBAGE, at, seen, s);
}

/* After a long stretch of damage: to the next event, if there is one. */
static bool find_event(stretch_text *t, stretch *s)
{
	const uint8_t *from = s->at, *next = chrome_resync(t->base, from, t->end);

	s->lost = !next;
	s->at = next ? next : t->final ? t->end : t->end - from > LOOK_BACK ? t->end - LOOK_BACK : from;
	lose_text(t, PROBLEM_LOST_DAMAGED, 0, from, next || t->final || s->at == from ? s->at : s->at + 3);
	return next;
}

static bool comma_before(const uint8_t *at, const uint8_t *from)
{
	while (at > from && (at[-1] == ' ' || at[-1] == '\n' || at[-1] == '\r' || at[-1] == '\t'))
		at--;
	return at > from && at[-1] == ',';
}

stretch stretch_read(stretch_text *t, const uint8_t *at, bool lost)
{
	stretch s = { .at = at };

	chrome_forget(t->reader);
	if (lost && !find_event(t, &s))
		return s;
	while (!t->batch->failed && !t->reader->failed) {
		const uint8_t *first = s.at = skip_space(s.at, t->end);
		if (s.at < t->end && *s.at == '{')
			s.at = skip_space(chrome_match(t->reader, t->batch, s.at, t->end, t->base), t->end);
		if (s.at == t->end)
			break;
		if (*s.at == '{' && s.at > first && !comma_before(s.at, first))
			lose(t, PROBLEM_COMMA, 1, s.at);
		if (*s.at == ',') {
			s.at++;
		} else if (*s.at == ']') {
			s.at++;
			s.ended = true;
			break;
		} else if (*s.at == '{' ? !read_one(t, &s) : !skip_element(t, &s)) {
			break;
		}
	}
	return s;
}
