/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A context that has no own time to speak of and one context beneath it shares its line with that one. */
#include "report/layer_lines.h"

#include <math.h>
#include <string.h>

#include "report/format_value.h"
#include "report/report_parts.h"

#define LABEL_COLUMNS 10
#define INDENT 2
#define CHILDREN_SHOWN 5
#define LINES_SHOWN 8	/* beneath a call */
#define SHOWN_MIN 0.05	/* of the call's time or variance, surely */
#define MAY_MIN 0.1	/* ... or perhaps, in a tree of its own */
#define SAME_MIN 0.9	/* of a context's time, surely in the one beneath it: they share a line */
#define NAMES_ON_LINE 6 /* of which those in the middle are left out */

/* What a function of the kernel belongs to, by its name: "file system", "block layer", "network", ...; "": unknown. */
static const char *kernel_part(const char *function)
{
	static const struct {
		const char *prefix, *part;
	} parts[] = {
		{ "ext4_", "file system" },
		{ "jbd2_", "file system" },
		{ "xfs_", "file system" },
		{ "btrfs_", "file system" },
		{ "vfs_", "file system" },
		{ "ovl_", "file system" },
		{ "file_write_", "file system" },
		{ "filemap_", "page cache" },
		{ "do_writepages", "page cache" },
		{ "folio_", "page cache" },
		{ "generic_file_", "page cache" },
		{ "generic_perform_", "page cache" },
		{ "iomap_", "file system" },
		{ "nfs_", "file system" },
		{ "fuse_", "file system" },
		{ "shmem_", "page cache" },
		{ "blk_", "block layer" },
		{ "blkdev_", "block layer" },
		{ "submit_bio", "block layer" },
		{ "bio_", "block layer" },
		{ "__submit_bio", "block layer" },
		{ "wbt_", "block layer" },
		{ "rq_qos_", "block layer" },
		{ "nvme_", "device" },
		{ "virtblk_", "device" },
		{ "virtio_", "device" },
		{ "scsi_", "device" },
		{ "ata_", "device" },
		{ "sd_", "device" },
		{ "tcp_", "network" },
		{ "udp", "network" },
		{ "ip_", "network" },
		{ "__ip_", "network" },
		{ "inet_", "network" },
		{ "sock_", "network" },
		{ "__sock_", "network" },
		{ "sk_", "network" },
		{ "unix_", "sockets" },
		{ "__tcp_", "network" },
		{ "dev_", "network" },
		{ "__dev_", "network" },
		{ "futex_", "locks" },
		{ "do_futex", "locks" },
		{ "__futex", "locks" },
		{ "rwsem_", "kernel locks" },
		{ "__mutex_", "kernel locks" },
		{ "mutex_", "kernel locks" },
		{ "pipe_", "pipes" },
		{ "handle_mm_fault", "memory" },
		{ "__handle_mm_fault", "memory" },
		{ "do_anonymous_page", "memory" },
		{ "page_fault", "memory" },
		{ "do_swap_page", "memory" },
		{ "__alloc_pages", "memory" },
		{ "io_schedule", "device" },
		{ "ep_", "polling" },
		{ "do_epoll", "polling" },
	};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strncmp(function, parts[i].prefix, strlen(parts[i].prefix)))
			return parts[i].part;
	return "";
}

struct printing {
	const struct vprof_style *style;
	const struct vprof_results *r;
	struct vprof_text *out;
	size_t root, n_lines, most;
	double may; /* contexts that may have this share of the time are shown, too */
};

static int is_shown(const struct printing *p, const struct vprof_layer *l)
{
	double all = p->r->layers[p->root].high_ns;

	return l->low_ns >= SHOWN_MIN * all || l->share_low >= SHOWN_MIN || l->high_ns >= p->may * all;
}

/* The children of a layer that are shown, by falling time; at most CHILDREN_SHOWN. */
static size_t find_children(const struct printing *p, size_t parent, size_t *children)
{
	const struct vprof_layer *l = p->r->layers;
	size_t n = 0;

	for (size_t i = parent + 1; i < p->r->n_layers && l[i].kind != VPROF_LAYER_MEASURED; i++) {
		size_t at = n;

		if (l[i].parent != parent || !is_shown(p, &l[i]))
			continue;
		while (at && l[children[at - 1]].high_ns < l[i].high_ns)
			at--;
		if (at == CHILDREN_SHOWN)
			continue;
		n += n < CHILDREN_SHOWN;
		memmove(children + at + 1, children + at, (n - at - 1) * sizeof *children);
		children[at] = i;
	}
	return n;
}

/* From a layer inwards while nothing is told by telling them one by one; the last one. */
static size_t end_of_line(const struct printing *p, size_t from)
{
	size_t children[CHILDREN_SHOWN];

	while (find_children(p, from, children) == 1 &&
	       p->r->layers[children[0]].low_ns >= SAME_MIN * p->r->layers[from].high_ns)
		from = children[0];
	return from;
}

/* "sys_fdatasync > ... > jbd2_log_wait_commit" */
static void add_names(const struct printing *p, size_t from, size_t to, struct vprof_text *t)
{
	const struct vprof_layer *l = p->r->layers;
	size_t n = 1, chain[NAMES_ON_LINE], n_chain = 0;

	for (size_t i = to; i != from; i = l[i].parent)
		n++;
	for (size_t i = to, left = n;; i = l[i].parent, left--) {
		if (left == 1 || n - left < NAMES_ON_LINE - 1)
			chain[n_chain++] = i;
		if (i == from)
			break;
	}
	while (n_chain) {
		vprof_text_add(t, l[chain[--n_chain]].name);
		vprof_text_add(t, !n_chain ? "" :
				  l[chain[n_chain]].parent + 1 && n > NAMES_ON_LINE && chain[n_chain] == from ?
					     " > ... > " :
					     " > ");
	}
}

static void add_line(struct printing *p, size_t from, size_t to, unsigned depth)
{
	const struct vprof_layer *l = &p->r->layers[to], *root = &p->r->layers[p->root];
	const char *part = l->kind == VPROF_LAYER_KERNEL ? kernel_part(l->name) : "";
	size_t column = LABEL_COLUMNS + INDENT * depth;
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_bound_share_words(l->low_ns / root->high_ns, l->high_ns / root->low_ns, &t);
	vprof_text_add(&t, "  ");
	add_names(p, from, to, &t);
	if (*part)
		vprof_text_addf(&t, " (%s)", part);
	else if (l->kind != VPROF_LAYER_KERNEL && *l->file)
		vprof_text_addf(&t, " (%s)", l->file);
	if (isfinite(l->share_low) && isfinite(l->share_high)) {
		vprof_text_add(&t, "; variance ");
		vprof_bound_share_words(l->share_low, l->share_high, &t);
	}
	vprof_text_addf(p->out, "%*s", (int)column, "");
	vprof_format_wrap(p->out, t.s, column, column + INDENT, p->style->width);
	p->out->failed |= t.failed;
	vprof_text_release(&t);
	p->n_lines++;
}

static void add_beneath(struct printing *p, size_t parent, unsigned depth)
{
	size_t children[CHILDREN_SHOWN], n = find_children(p, parent, children);

	for (size_t i = 0; i < n && p->n_lines < p->most; i++) {
		size_t end = end_of_line(p, children[i]);

		add_line(p, children[i], end, depth);
		add_beneath(p, end, depth + 1);
	}
}

void vprof_layer_lines(const struct vprof_style *style, const struct vprof_results *r, struct vprof_text *out)
{
	size_t n = 0, children[CHILDREN_SHOWN];

	for (size_t i = 0; i < r->n_layers; i++) {
		const struct vprof_layer *l = &r->layers[i];
		struct printing p = {
			.style = style, .r = r, .out = out, .root = i, .most = LINES_SHOWN, .may = INFINITY
		};
		struct vprof_text t = VPROF_TEXT_INIT;

		if (l->kind != VPROF_LAYER_MEASURED || !find_children(&p, i, children))
			continue;
		vprof_text_addf(&t, "%s takes ", l->name);
		vprof_bound_time_words(l->low_ns, l->high_ns, &t);
		vprof_text_addf(&t, " a call; of it, inferred from stacks (%s of %s calls seen whole):",
				vprof_format_count(l->n_whole).s, vprof_format_count(l->n_calls).s);
		vprof_report_labelled_text(style, n++ ? "" : "beneath", &t, out);
		add_beneath(&p, i, 1);
	}
}

void vprof_layer_tree(const struct vprof_style *style, const struct vprof_results *r, size_t call, size_t most,
		      struct vprof_text *out)
{
	struct printing p = { .style = style, .r = r, .out = out, .root = call, .most = most, .may = MAY_MIN };

	add_beneath(&p, call, 0);
}
