/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel traces system calls of all processes while a program is attached to them, whether it wants them or not:
 * so it is attached for each window, and detached behind it. The number of the window decides what the programs do, so
 * it does not matter when exactly that happens: a window begins after its number was set, and ends before it was
 * cleared.
 */
#include "recorder/stack_windows.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

/* clang-format off: the skeleton uses its structs */
#include "recorder/ring_event.h"
#include "record.skel.h"
/* clang-format on */

#define LENGTH_NS 5e6	   /* of a window, CPU time: many short windows tell more of the rest than few long ones */
#define LONGER_NS 2e7	   /* where more programs are attached and detached for each, which interrupts all CPUs */
#define FIRST_COST_NS 2e7  /* a short recording is one window */
#define PACKETS_COUNTED 32 /* windows in and around which packets tell what got done */
#define CALLS_MEASURED 8   /* windows in which what tracing a system call takes is measured */
#define LEFT_FROM 0.5	   /* of the budget, which is taken throughout */
#define RETRY_NS 100000000 /* where the kernel refuses a window */

static void get_figures(const struct vprof_stack_windows *w, struct vprof_cost_figures *f)
{
	uint64_t now = vprof_clock_monotonic_ns(), n_events, n_lost;

	vprof_rings_count(w->rings, &n_events, &n_lost);
	*f = (struct vprof_cost_figures){
		.n_events = n_events + n_lost,
		.edges_ns = w->edges_ns,
		.misses = { [VPROF_DONE_SENT] = !w->bpf->links.record_send, [VPROF_DONE_WOKEN] = w->left_ns != 0 }
	};
	for (size_t i = 0; i < sizeof w->bpf->bss->accounts / sizeof *w->bpf->bss->accounts; i++) {
		const volatile struct vp_ring_account *a = &w->bpf->bss->accounts[i];
		uint64_t since = a->since_ns;

		f->taken_ns += (double)(a->spent_ns + a->calls_ns);
		f->n_calls += a->n_calls;
		f->n_interrupts += a->n_interrupts;
		f->n_done[VPROF_DONE_SENT] += a->n_sent;
		f->n_done[VPROF_DONE_WOKEN] += a->n_woken;
		f->n_done[VPROF_DONE_SLEPT] += a->n_slept;
		f->busy_ns += (double)(a->busy_ns + (since && since < now ? now - since : 0));
	}
}

void vprof_stack_windows_account(const struct vprof_stack_windows *w, double *cost_ns, double *busy_ns)
{
	struct vprof_cost_figures f;

	get_figures(w, &f);
	*cost_ns = w->cost.total_ns; /* up to the last look at the rings */
	*busy_ns = f.busy_ns;
}

static void attach(struct vprof_stack_windows *w)
{
	struct record_bpf *bpf = w->bpf;

	if (w->has_calls && !bpf->links.record_call)
		bpf->links.record_call = bpf_program__attach(bpf->progs.record_call);
	if (w->has_calls && !bpf->links.enter_call)
		bpf->links.enter_call = bpf_program__attach(bpf->progs.enter_call);
	if (w->has_faults && !bpf->links.record_fault)
		bpf->links.record_fault = bpf_program__attach(bpf->progs.record_fault);
}

static void detach(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

static void set_number(struct vprof_stack_windows *w, uint32_t number)
{
	__atomic_store_n(&w->bpf->bss->window, number, __ATOMIC_SEQ_CST);
}

/* What it takes that system calls are traced, by the recorder's own. */
static void measure_calls(struct vprof_stack_windows *w, double *least)
{
	double ns;

	if (!w->has_calls || w->n >= CALLS_MEASURED || w->by_hand)
		return;
	ns = vprof_recording_cost_own_call();
	*least = *least > 0 && *least < ns ? *least : ns;
	if (w->plain_ns > 0 && w->traced_ns > w->plain_ns)
		w->cost.call_ns = w->traced_ns - w->plain_ns;
}

/* CPU time of this thread. */
static double own_ns(void)
{
	return (double)vprof_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void set_timers(const struct vprof_stack_windows *w, unsigned long request)
{
	for (size_t i = 0; i < w->n_timers; i++)
		ioctl(w->timers[i], request, 0);
}

void vprof_stack_windows_set_timers(struct vprof_stack_windows *w, const int *timers, size_t n)
{
	w->timers = timers;
	w->n_timers = n;
}

/* What is attached for windows. */
static void detach_all(struct vprof_stack_windows *w)
{
	double began_ns = own_ns();

	set_timers(w, PERF_EVENT_IOC_DISABLE);
	detach(&w->bpf->links.enter_call);
	detach(&w->bpf->links.record_call);
	detach(&w->bpf->links.record_fault);
	if (w->left_ns)
		vprof_wake_programs_detach(w->wakes);
	w->closing_ns += own_ns() - began_ns;
}

void vprof_stack_windows_open(struct vprof_stack_windows *w)
{
	struct record_bpf *bpf = w->bpf;
	double began_ns;
	int has_wakes;

	measure_calls(w, &w->plain_ns);
	began_ns = own_ns();
	has_wakes = !w->left_ns || vprof_wake_programs_attach(w->wakes);
	attach(w);
	w->edges_ns += own_ns() - began_ns + w->closing_ns; /* a window is what it costs to close the one before, too */
	w->closing_ns = 0;
	measure_calls(w, &w->traced_ns);
	set_timers(w, PERF_EVENT_IOC_ENABLE);
	/* Without one of them a window would promise what it does not hold. */
	if (!has_wakes || (w->has_calls && (!bpf->links.record_call || !bpf->links.enter_call)) ||
	    (w->has_faults && !bpf->links.record_fault)) {
		detach_all(w);
		w->refused_ns = vprof_clock_monotonic_ns();
		return;
	}
	w->n++;
	set_number(w, w->n);
	w->begin_ns = vprof_clock_monotonic_ns();
	w->is_open = 1;
	w->has_begin = w->has_end = 0;
}

void vprof_stack_windows_close(struct vprof_stack_windows *w)
{
	if (!w->is_open)
		return;
	w->end_ns = vprof_clock_monotonic_ns();
	set_number(w, 0);
	detach_all(w);
	w->is_open = 0;
	w->has_end = 1;
	w->observed_ns += (double)(w->end_ns - w->begin_ns);
}

static void tell(struct vprof_stack_windows *w, uint64_t end)
{
	struct vp_unit u[2] = { { w->begin, VP_W(VP_KIND_KERNEL_WINDOW, 0) }, { end, 0 } };

	if (end > w->begin)
		vprof_gather_add(w->table, u, 2);
}

/* Times are converted when both clocks were read after them. */
static void convert(struct vprof_stack_windows *w, uint64_t until_ns)
{
	if (w->n && !w->has_begin && w->begin_ns <= until_ns && (w->is_open || w->has_end)) {
		w->begin = vprof_rings_ticks(w->rings, w->begin_ns);
		w->has_begin = 1;
	}
	if (w->has_begin && w->has_end && w->end_ns <= until_ns) {
		tell(w, vprof_rings_ticks(w->rings, w->end_ns));
		w->has_begin = w->has_end = 0;
	}
	if (w->left_ns && !w->left_told && w->left_ns <= until_ns) {
		uint64_t left = vprof_rings_ticks(w->rings, w->left_ns);
		struct vp_unit u[2] = { { left, VP_W(VP_KIND_KERNEL_WINDOW, VP_WINDOW_WAKES_LEFT) }, { left, 0 } };

		vprof_gather_add(w->table, u, 2);
		w->left_told = 1;
	}
}

void vprof_stack_windows_start(struct vprof_stack_windows *w, struct record_bpf *bpf, struct vprof_rings *rings,
			       struct vprof_gather *table, double share, int by_hand)
{
	struct vprof_cost_figures now;

	*w = (struct vprof_stack_windows){ .bpf = bpf,
					   .rings = rings,
					   .table = table,
					   .by_hand = by_hand,
					   .has_calls = bpf->links.enter_call != NULL,
					   .has_faults = bpf->links.record_fault != NULL };
	if (!(share > 0) && !by_hand) {
		set_number(w, 1);
		return;
	}
	get_figures(w, &now);
	vprof_recording_cost_start(&w->cost, &now);
	vprof_windows_start(&w->plan, share, (uint64_t)now.busy_ns, vprof_clock_monotonic_ns());
	w->plan.first_cost_ns = FIRST_COST_NS;
	w->plan.length_ns = LENGTH_NS;
	if (!by_hand)
		vprof_stack_windows_open(w);
}

/* From now on wake-ups are recorded in windows only. */
static void leave_wakes(struct vprof_stack_windows *w)
{
	w->left_ns = vprof_clock_monotonic_ns();
	w->plan.length_ns = LONGER_NS;
	vprof_recording_cost_forget(&w->cost);
	vprof_wake_programs_detach(w->wakes);
}

void vprof_stack_windows_step(struct vprof_stack_windows *w)
{
	struct vprof_cost_figures now;

	convert(w, vprof_rings_reading(w->rings)->ns);
	if (!(w->plan.share > 0) || w->by_hand || (!w->is_open && w->has_end))
		return;
	if (w->plan.is_open && !w->is_open && vprof_clock_monotonic_ns() - w->refused_ns > RETRY_NS)
		vprof_stack_windows_open(w); /* what the kernel refused then */
	get_figures(w, &now);
	if (w->wakes && !w->left_ns && !w->plan.is_open &&
	    vprof_recording_cost_throughout(&w->cost, &now) > LEFT_FROM * w->plan.share)
		leave_wakes(w);
	if (!vprof_windows_step(&w->plan, (uint64_t)now.busy_ns, vprof_recording_cost_count(&w->cost, &now), 0))
		return;
	vprof_recording_cost_edge(&w->cost, &now, !w->plan.is_open);
	if (w->plan.is_open)
		vprof_stack_windows_open(w);
	else
		vprof_stack_windows_close(w);
}

void vprof_stack_windows_flush(struct vprof_stack_windows *w)
{
	uint64_t until_ns = vprof_rings_reading(w->rings)->ns, end;

	if (!w->is_open || !w->has_begin || until_ns <= w->begin_ns + VPROF_RINGS_HOLD_NS)
		return;
	end = vprof_rings_ticks(w->rings, until_ns - VPROF_RINGS_HOLD_NS);
	tell(w, end);
	w->begin = end > w->begin ? end : w->begin;
}

void vprof_stack_windows_stop(struct vprof_stack_windows *w)
{
	convert(w, UINT64_MAX);
}

int vprof_stack_windows_count_packets(const struct vprof_stack_windows *w)
{
	return !w->by_hand && w->n <= PACKETS_COUNTED;
}

double vprof_stack_windows_observed_s(const struct vprof_stack_windows *w)
{
	uint64_t now = w->is_open ? vprof_clock_monotonic_ns() : 0;

	return (w->observed_ns + (now > w->begin_ns ? (double)(now - w->begin_ns) : 0)) / 1e9;
}
