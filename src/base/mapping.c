/*
 * See mapping.h. A signal handler can only know what is in static memory: a table of the mappings there are. Slots are
 * taken and given back with single atomic stores, so that the handler may come at any moment. One that finds no slot
 * works as well, without the guard.
 */
#define _GNU_SOURCE
#include "base/mapping.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 1024 };

static struct {
	struct slot {
		_Atomic uintptr_t start; /* 0: free; 1: being filled in */
		_Atomic size_t len;
		_Atomic bool is_broken;
	} slots[SLOTS];
	_Atomic bool has_guard;
	struct sigaction before;
	size_t page;
} guard;

static struct slot *slot_of(uintptr_t address)
{
	for (size_t i = 0; i < SLOTS; i++) {
		uintptr_t start = atomic_load(&guard.slots[i].start);
		if (start > 1 && address >= start && address - start < atomic_load(&guard.slots[i].len))
			return &guard.slots[i];
	}
	return NULL;
}

/* Behind the end of the file everything up to the end of the mapping is gone. mmap is a system call, no more. */
static bool fill_with_zeros(struct slot *slot, uintptr_t address)
{
	uintptr_t from = address & ~(uintptr_t)(guard.page - 1);
	uintptr_t end = atomic_load(&slot->start) + atomic_load(&slot->len);

	atomic_store(&slot->is_broken, true);
	return mmap((void *)from, end - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* Async-signal-safe. A fault that is not ours happens again, with whoever was there before. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	struct slot *slot = info->si_code > 0 ? slot_of((uintptr_t)info->si_addr) : NULL;

	(void)context;
	if (!slot || !fill_with_zeros(slot, (uintptr_t)info->si_addr))
		sigaction(number, &guard.before, NULL);
}

bool mapping_guard(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	if (atomic_exchange(&guard.has_guard, true))
		return true;
	guard.page = (size_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, &guard.before) == 0;
}

static void remember(void *start, size_t len)
{
	for (size_t i = 0; i < SLOTS; i++) {
		uintptr_t none = 0;
		if (!atomic_compare_exchange_strong(&guard.slots[i].start, &none, 1))
			continue;
		atomic_store(&guard.slots[i].len, len);
		atomic_store(&guard.slots[i].is_broken, false);
		atomic_store(&guard.slots[i].start, (uintptr_t)start); /* from here on the handler sees it */
		return;
	}
}

void *mapping_new(int fd, size_t len)
{
	void *start = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

	if (start == MAP_FAILED)
		return NULL;
	remember(start, len);
	return start;
}

void mapping_free(void *start, size_t len)
{
	struct slot *slot = slot_of((uintptr_t)start);

	if (slot) /* before somebody else gets the addresses */
		atomic_store(&slot->start, 0);
	munmap(start, len);
}

bool mapping_is_broken(const void *start)
{
	struct slot *slot = slot_of((uintptr_t)start);

	return slot && atomic_load(&slot->is_broken);
}
