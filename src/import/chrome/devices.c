/* Kineto's list of devices: "deviceProperties". See facts.h. */
#define _GNU_SOURCE
#include "import/chrome/facts.h"

#include <string.h>
#include "base/decimal.h"
#include "base/json_members.h"

static int64_t number_of(const json_member *device, const char *key)
{
	const char *value;
	size_t len;
	int64_t number;

	if (!json_get(device->value, device->len, key, &value, &len) ||
	    decimal_scaled(value, len, 0, &number) != DECIMAL_EXACT || number < 0)
		return -1;
	return number;
}

static int32_t small_of(const json_member *device, const char *key)
{
	int64_t number = number_of(device, key);

	return number <= INT32_MAX ? (int32_t)number : -1;
}

static bool has_word(const json_member *device, const char *word)
{
	return memmem(device->value, device->len, word, strlen(word));
}

/* By its name, or by AMD's names of architectures. */
static device_vendor vendor_of(const json_member *device)
{
	return has_word(device, "AMD") || has_word(device, "gfx")	 ? DEVICE_AMD
	       : has_word(device, "NVIDIA") || has_word(device, "Tesla") ? DEVICE_NVIDIA
	       : has_word(device, "Intel")				 ? DEVICE_INTEL
									 : DEVICE_UNKNOWN;
}

static void put_device(builder *b, int32_t rank, const json_member *device)
{
	index_device d = { .rank = rank,
			   .id = small_of(device, "id"),
			   .name = INDEX_NONE,
			   .vendor = vendor_of(device),
			   .memory_bytes = number_of(device, "totalGlobalMem"),
			   .n_sms = small_of(device, "numSms"),
			   .compute_major = small_of(device, "computeMajor"),
			   .compute_minor = small_of(device, "computeMinor") };
	const char *name;
	size_t len;

	if (json_get(device->value, device->len, "name", &name, &len) && len >= 2 && *name == '"')
		d.name = builder_string(b, name + 1, len - 2);
	builder_device(b, &d);
}

void chrome_devices_put(builder *b, int32_t rank, const char *json, size_t len)
{
	json_members devices = json_members_of(json, len);
	json_member device;

	for (size_t n = 0; n < CHROME_DEVICES_MAX && json_next(&devices, &device); n++)
		put_device(b, rank, &device);
}
