#include "format/index/sections.h"

#include <stddef.h>
#include "format/recording/file.h"

bool index_footer_fits(const index_footer *f, uint64_t size)
{
	return f->magic == INDEX_FOOTER && f->crc == crc32c(0, f, offsetof(index_footer, crc)) &&
	       f->offset % BLOCK_ALIGN == 0 && size >= sizeof *f && f->offset <= size - sizeof *f &&
	       f->length == size - sizeof *f - f->offset;
}

bool diagnostic_is(const index_diagnostic *d, diagnostic_effect effect)
{
	diagnostic_effect its = d->kind < DIAGNOSTIC_KINDS ? diagnostic_infos[d->kind].effect : EFFECT_REPAIR;

	return (d->lost ? EFFECT_LOSS : its) == effect;
}

const diagnostic_info diagnostic_infos[DIAGNOSTIC_KINDS] = {
#define DIAGNOSTIC(name, effect, key, one, many) [DIAGNOSTIC_##name] = { key, one, many, EFFECT_##effect },
#include "format/index/diagnostics.def"
#undef DIAGNOSTIC
};
