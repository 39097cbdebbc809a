/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/page_fill.h"

#include <string.h>

#include "common/utf8.h"
#include "report/page_template.h"

/* JSON text as it may stand in a script element. Outside of strings JSON has none of these characters. */
static void add_escaped(struct vprof_text *out, const char *json)
{
	const char *s = json, *plain = json;

	while (*s) {
		size_t n = vprof_utf8_length(s);
		const char *instead = n == 0	 ? "\\ufffd" :
				      *s == '<'	 ? "\\u003c" :
				      *s == '>'	 ? "\\u003e" :
				      *s == '&'	 ? "\\u0026" :
				      *s == 0x7f ? "\\u007f" :
						   NULL;

		if (!instead) {
			s += n;
			continue;
		}
		vprof_text_append(out, plain, (size_t)(s - plain));
		vprof_text_add(out, instead);
		plain = ++s;
	}
	vprof_text_append(out, plain, (size_t)(s - plain));
}

int vprof_page_fill(const char *template, const cJSON *data, struct vprof_text *out, struct vprof_error *err)
{
	const char *mark = strstr(template, VPROF_PAGE_MARK);
	char *json = data ? cJSON_PrintUnformatted(data) : NULL;
	int ok = mark && json;

	if (ok) {
		vprof_text_append(out, template, (size_t)(mark - template));
		add_escaped(out, json);
		vprof_text_add(out, mark + strlen(VPROF_PAGE_MARK));
	}
	cJSON_free(json);
	return ok && !out->failed ? VPROF_OK :
				    vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the HTML report");
}
