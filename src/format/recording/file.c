#include "format/recording/file.h"

#include <string.h>

static uint32_t crc_by_table(uint32_t crc, const uint8_t *p, size_t len)
{
	/* Two nibbles a byte: a 64-byte table is enough where the instruction is missing. */
	static const uint32_t nibble[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t wide = crc, word;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	while (len--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return crc;
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_by_instruction(~crc, data, len);
#endif
	return ~crc_by_table(~crc, data, len);
}

block_header block_describe(block_kind kind, uint64_t stream, const void *payload, size_t length, uint32_t n_events)
{
	block_header block = {
		.magic = FORMAT_MAGIC,
		.kind = (uint16_t)kind,
		.version = FORMAT_VERSION,
		.length = (uint32_t)length,
		.n_events = n_events,
		.stream = stream,
		.payload_crc = crc32c(0, payload, length),
	};

	block.header_crc = crc32c(0, &block, offsetof(block_header, header_crc));
	return block;
}

size_t block_seal(block_header *block, block_kind kind, uint64_t stream, size_t length, uint32_t n_events)
{
	uint8_t *payload = (uint8_t *)(block + 1);

	memset(payload + length, 0, block_padded(length) - length);
	*block = block_describe(kind, stream, payload, length, n_events);
	return sizeof *block + block_padded(length);
}

bool block_header_ok(const block_header *header)
{
	return header->magic == FORMAT_MAGIC && header->length <= BLOCK_MAX_BYTES &&
	       header->header_crc == crc32c(0, header, offsetof(block_header, header_crc));
}
