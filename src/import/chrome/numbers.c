/* A reader's strings, sites and tracks as the builder's. See chrome/apply.h. */
#define _GNU_SOURCE
#include "import/chrome/apply.h"

#include <stdlib.h>
#include "base/json_read.h"
#include "base/long_text.h"
#include "format/index/own_category.h"
#include "format/recording/names.h"

bool apply_room(chrome_apply *a, size_t bytes)
{
	if (a->text.capacity - a->text.n >= bytes)
		return true;
	size_t more = (a->text.n + bytes) * 2;
	char *grown = realloc(a->text.items, more);
	if (!grown) {
		a->failed = true;
		return false;
	}
	a->text.items = grown;
	a->text.capacity = more;
	return true;
}

/* A string of JSON, without its quotes, as the builder's. */
uint32_t apply_string(chrome_apply *a, const uint8_t *text, size_t len)
{
	unsigned repairs;

	a->text.n = 0;
	if (!apply_room(a, len * 3 + 1))
		return INDEX_NONE;
	return builder_string(a->b, a->text.items, json_unescape((const char *)text, len, a->text.items, &repairs));
}

/* A long text is there once: where the builder has the same bytes the reader needs none of its own. */
static uint32_t apply_entry(chrome_apply *a, dict_entry *e)
{
	uint32_t string = apply_string(a, e->text, e->len);
	size_t len;
	const char *kept = is_long_text(e->len) ? builder_text(a->b, string, &len) : NULL;

	if (kept && len == e->len && memcmp(kept, e->text, len) == 0)
		dict_borrow(e, kept);
	return string;
}

uint32_t apply_reader_string(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	dict_entry *e = number < r->strings.entries.n ? &r->strings.entries.items[number] : NULL;

	if (!e)
		return INDEX_NONE;
	if (e->global == CHROME_NONE)
		e->global = apply_entry(a, e);
	return e->global;
}

static const struct {
	const char *category;
	site_class class;
} classes[] = {
	{ "cpu_op", CLASS_COMPUTE },
	{ "Operator", CLASS_COMPUTE },
	{ "Node", CLASS_COMPUTE },
	{ "Session", CLASS_COMPUTE },
	{ "hpu_op", CLASS_COMPUTE },
	{ "kernel", CLASS_KERNEL },
	{ "Kernel", CLASS_KERNEL },
	{ "mtia_ccp_events", CLASS_KERNEL },
	{ "gpu_memcpy", CLASS_COPY },
	{ "Memcpy", CLASS_COPY },
	{ "gpu_memset", CLASS_COPY },
	{ "Memset", CLASS_COPY },
	{ "cuda_runtime", CLASS_RUNTIME },
	{ "cuda_driver", CLASS_RUNTIME },
	{ "hip_runtime", CLASS_RUNTIME },
	{ "hip_driver", CLASS_RUNTIME },
	{ "Runtime", CLASS_RUNTIME },
	{ "xpu_runtime", CLASS_RUNTIME },
	{ "xpu_driver", CLASS_RUNTIME },
	{ "mtia_runtime", CLASS_RUNTIME },
	{ "glow_runtime", CLASS_RUNTIME },
	{ "privateuse1_runtime", CLASS_RUNTIME },
	{ "privateuse1_driver", CLASS_RUNTIME },
	{ "cuda_sync", CLASS_SYNC },
	{ "xpu_sync", CLASS_SYNC },
	{ "python_function", CLASS_PYTHON },
	{ "user_annotation", CLASS_ANNOTATION },
	{ "gpu_user_annotation", CLASS_ANNOTATION },
	{ "collective_comm", CLASS_COMMUNICATION },
	{ "overhead", CLASS_OVERHEAD },
	{ "cpu_instant_event", CLASS_MEMORY },
};

static site_class class_of(const dict_entry *name, const dict_entry *category)
{
	static const char step[] = "ProfilerStep";

	if (name->len >= sizeof step - 1 && memcmp(name->text, step, sizeof step - 1) == 0)
		return CLASS_STEP;
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
		if (apply_is(category, classes[i].category))
			return classes[i].class;
	return CLASS_OTHER;
}

uint32_t apply_new_site(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	dict_entry *e = &r->sites.entries.items[number];
	const dict_entry *category = &r->strings.entries.items[e->key - 1];

	const char *text = (const char *)category->text;
	uint8_t kind = NAME_SCOPE;
	size_t len = own_category_read(text, category->len, &e->class, &kind);
	bool is_own = e->is_own = len < category->len;

	if (!is_own)
		e->class = (uint8_t)class_of(e, category);
	a->is_recorded |= is_own;
	e->is_memory = is_own ? kind == NAME_DEVICE && e->class == CLASS_MEMORY : apply_is(e, "[memory]");
	e->is_step = kind == NAME_STEP;
	e->name = apply_entry(a, e);
	e->global = builder_site(a->b, e->name,
				 is_own ? apply_string(a, category->text, len) : apply_reader_string(a, r, e->key - 1),
				 (site_class)e->class, kind);
	return e->global;
}

uint32_t apply_process(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	chrome_track *t = &r->tracks.items[number];

	if (t->process == CHROME_NONE) {
		uint32_t text = t->pid.is_text ? apply_reader_string(a, r, (uint32_t)t->pid.number) : INDEX_NONE;
		int64_t pid = t->pid.is_text ? 0 : t->pid.number;
		const dict_entry *ranked =
			a->ranks.n ? apply_ranked_process(a, t->pid.is_text, t->pid.is_text ? text : pid) : NULL;
		t->process = ranked && ranked->global != CHROME_NONE
				     ? ranked->global
				     : builder_process(a->b, a->job->file_number, pid, text);
	}
	return t->process;
}

dict_entry *apply_thread(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	const chrome_track *t = &r->tracks.items[number];
	uint32_t process = apply_process(a, r, number), is_text = t->tid.is_text;
	int64_t tid = is_text ? apply_reader_string(a, r, (uint32_t)t->tid.number) : t->tid.number;
	uint8_t key[16 + 16] = { 0 };
	bool is_new;

	memcpy(key, &process, 4);
	memcpy(key + 4, &is_text, 4);
	memcpy(key + 8, &tid, 8);
	uint32_t entry = dict_find(&a->threads, key, 16, 0, text_hash(key, 16, 0), &is_new);
	a->failed |= entry == CHROME_NONE;
	return entry == CHROME_NONE ? NULL : &a->threads.entries.items[entry];
}

uint32_t apply_new_track(chrome_apply *a, chrome_reader *r, uint32_t number)
{
	chrome_track *t = &r->tracks.items[number];
	dict_entry *thread = apply_thread(a, r, number);

	if (!thread)
		return 0;
	if (thread->global == CHROME_NONE) {
		uint32_t text = t->tid.is_text ? apply_reader_string(a, r, (uint32_t)t->tid.number) : INDEX_NONE;
		thread->global = builder_track(a->b, TRACK_THREAD, t->process, t->tid.is_text ? 0 : t->tid.number, text,
					       INDEX_NONE);
	}
	return t->global = thread->global;
}

uint64_t apply_id(chrome_apply *a, chrome_reader *r, const chrome_event *e)
{
	if (!(e->flags & EVENT_HAS_ID))
		return 0;
	if (e->id >= 0 && e->id >> 62)
		return UINT64_C(1) << 62 | apply_reader_string(a, r, (uint32_t)e->id);
	return (uint64_t)e->id;
}
