/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "trace_writer.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/files.h"

#define UNITS_MAX ((VP_CHUNK_BYTES - sizeof(struct vp_chunk_header)) / VP_UNIT_BYTES)

struct vp_shm *writer_map(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		abort();
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	close(fd);
	return map;
}

void writer_init(struct writer *w, struct vp_shm *shm, uint32_t process_seq, uint32_t parent_seq)
{
	memset(w, 0, sizeof *w);
	w->shm = shm;
	w->process_seq = process_seq;
	w->parent_seq = parent_seq;
	w->thread_seq = atomic_fetch_add(&shm->next_thread_seq, 1);
}

static int take_chunk(struct writer *w)
{
	_Atomic uint32_t *states = (void *)((char *)w->shm + w->shm->states_offset);

	for (uint32_t i = 0; i < w->shm->n_chunks; i++) {
		uint32_t expected = VP_CHUNK_FREE;

		if (!atomic_compare_exchange_strong(&states[i], &expected, VP_CHUNK_TAKEN))
			continue;
		w->chunk = (void *)((char *)w->shm + w->shm->chunks_offset + (size_t)i * VP_CHUNK_BYTES);
		w->chunk_index = i;
		w->n_units = 0;
		w->chunk->pid = (uint32_t)getpid();
		w->chunk->tid = (uint32_t)gettid();
		w->chunk->thread_seq = w->thread_seq;
		w->chunk->chunk_seq = w->chunk_seq++;
		w->chunk->process_seq = w->process_seq;
		w->chunk->parent_seq = w->parent_seq;
		w->chunk->n_bytes = 0;
		w->chunk->magic = VP_CHUNK_MAGIC;
		return 1;
	}
	return 0;
}

void writer_hand_over(struct writer *w)
{
	_Atomic uint32_t *states = (void *)((char *)w->shm + w->shm->states_offset);

	if (!w->chunk)
		return;
	w->chunk->n_bytes = w->n_units * VP_UNIT_BYTES;
	w->chunk = NULL;
	atomic_store_explicit(&states[w->chunk_index], VP_CHUNK_FULL, memory_order_release);
}

static void units_store(struct writer *w, const struct vp_unit *units, uint32_t n)
{
	volatile struct vp_unit *to = (volatile struct vp_unit *)(w->chunk + 1) + w->n_units;

	to[0].w = units[0].w;
	for (uint32_t i = 1; i < n; i++) {
		to[i].t = units[i].t;
		to[i].w = units[i].w;
	}
	to[0].t = units[0].t;
	w->n_units += n;
}

void writer_record(struct writer *w, const struct vp_unit *units, uint32_t n)
{
	if (w->chunk && w->n_units + n > UNITS_MAX)
		writer_hand_over(w);
	if (!w->chunk && !take_chunk(w)) {
		w->n_dropped++;
		w->n_unreported++;
		atomic_fetch_add(&w->shm->n_dropped, 1);
		return;
	}
	if (w->n_unreported) {
		struct vp_unit note = { units[0].t, VP_W(VP_KIND_DROPPED, w->n_unreported) };

		w->n_unreported = 0;
		units_store(w, &note, 1);
	}
	units_store(w, units, n);
	w->n_written++;
}

void writer_call(struct writer *w, uint32_t code, uint64_t t, uint64_t duration)
{
	struct vp_unit u = { t, VP_W(code, duration) };

	writer_record(w, &u, 1);
}

char *make_folder(void)
{
	char *folder = strdup("/tmp/vprof-trace-test-XXXXXX");

	if (!folder || !mkdtemp(folder))
		abort();
	return folder;
}

void remove_folder(char *folder)
{
	vprof_dir_remove(folder, NULL);
	free(folder);
}

uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t calls_in_order(const struct vprof_trace *t, uint32_t code)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->n_threads; i++) {
		struct vprof_trace_cursor c;
		const struct vp_unit *u;
		uint64_t next = 0;
		uint32_t k;

		vprof_trace_cursor_init(&c, &t->threads[i]);
		while ((u = vprof_trace_next(&c, &k))) {
			if (VP_CODE(u->w) == VP_KIND_DROPPED)
				continue;
			assert_int_equal(VP_CODE(u->w), code);
			assert_int_equal(VP_PAYLOAD(u->w), next);
			next++;
		}
		n += next;
	}
	return n;
}
