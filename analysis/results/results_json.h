/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and limits of results.json that writer and reader share (docs/results.md, report/results.schema.json). */
#ifndef VPROF_RESULTS_JSON_H
#define VPROF_RESULTS_JSON_H

#include <cjson/cJSON.h>

#include "analysis/results/results.h"

#define VPROF_RESULTS_VERSION 16
#define VPROF_WHOLE_MAX 9007199254740992.0 /* 2^53: whole numbers beyond are not exact in JSON */

/* clang-format off */
/* Every scalar field of a struct, once, for writer and reader: U whole number, D number (NaN: null), I int, S string, E enumeration with
 * its words. */
#define VPROF_RESULTS_FIELDS(U, D, I, S, E)                                                                             \
	S(interval) S(run) U(n_runs) U(n_complete) U(n_cut) U(n_ambiguous) U(n_restarted) U(n_lossy) U(n_not_drawn) U(n_outside) D(outside_mean_ns) U(n_records) U(n_dropped)            \
	U(n_bytes_ignored) U(n_calls_sampled) U(n_waits) U(n_waits_matched) U(n_waits_unmatched)                     \
	U(n_waits_by_time) U(n_waits_undecided)                                                                      \
	D(mean_ns) D(sd_ns) D(var_ns2) D(min_ns) D(max_ns) D(p50_ns) D(p90_ns) D(p99_ns) D(p999_ns) D(duration_ns) D(covered_share) D(busy_share) U(n_warnings_first)                 \
	D(mean_low) D(mean_high) D(slowest_share) D(between_types) D(between_low) D(between_high) U(n_blocks) D(order_kept)       \
	U(n_to_settle) D(tail_from_ns) I(tail_is_asked) U(n_tail) D(tail_ns) D(rest_ns) D(work_share) D(work_low) D(work_high)   \
	U(n_worked) D(record_ns) D(record_inside_ns) D(probe_ns) D(probe_low_ns) D(probe_high_ns) D(cost_scale) \
	D(effect) D(effect_low) D(effect_high) E(effect_by, vprof_effect_by_names)                                                           \
	D(queued_share) D(blocked_share) D(running_share) D(kernel_share) D(io_share) D(preempted_share) D(preempted_by_own)         \
	S(no_switches) U(n_switches) U(n_switches_lost) D(baseline_mean_ns) D(baseline_low) D(baseline_high) U(graph_height)         \
	U(n_contexts_left) D(threshold) I(k) U(n_selected) I(inconclusive)
#define VPROF_NODE_FIELDS(U, D, I, S, E)                                                                                \
	E(kind, vprof_node_kind_names) U(code) U(parent) U(first_child) U(n_children) U(depth) U(factor) I(is_blame) I(broken_down) U(n_intervals)  \
	U(n_calls) U(n_timed) D(mean_ns) D(var_ns2) D(share) D(noise_ns2) D(rare_ns) D(blocked_ns) D(kernel_ns)      \
	D(io_ns) D(preempted_ns) D(tail_ns) D(rest_ns) D(probe_ns) S(name) S(display) S(file) I(line) S(object)
#define VPROF_COVARIANCE_FIELDS(U, D, I, S, E) U(a) U(b) D(cov_ns2) D(share) D(r) U(factor)
#define VPROF_FACTOR_FIELDS(U, D, I, S, E)                                                                              \
	E(kind, vprof_factor_kind_names) E(node_kind, vprof_node_kind_names) S(key) S(name) S(name_a) S(name_b) I(is_blame) D(share) D(share_low) D(share_high)                           \
	D(if_constant) D(if_constant_low) D(if_constant_high) U(counterpart) D(together) D(together_low) D(together_high)             \
	D(together_constant) D(together_constant_low) D(together_constant_high) D(place_kept) U(n_to_settle) D(mean_ns) D(sd_ns) D(r)                                                        \
	U(height) D(specificity) D(score) I(can_break_down) U(n_unmeasured) D(blocked_share) D(kernel_share) D(io_share)       \
	D(preempted_share) U(n_calls)   \
	U(n_timed) D(noise_share) D(between_share) D(work_share) D(probe_ns) D(share_cost_low) D(share_cost_high) \
	D(code_share) D(code_share_high) D(code_constant) D(code_constant_high) S(knot) D(knot_part) E(verdict, vprof_verdict_names) S(note)
#define VPROF_CAUSE_FIELDS(U, D, I, S, E)                                                                               \
	E(kind, vprof_cause_kind_names) E(status, vprof_cause_status_names) S(key) S(name) S(file) I(line) D(share) D(share_low)      \
	D(share_high) D(if_constant) D(if_constant_low) D(if_constant_high) D(place_kept) D(first_kept) D(mean_ns) D(sd_ns)            \
	D(own_part) D(waiting_part) D(queued_part) U(n_places) I(can_break_down) U(n_unmeasured)                                       \
	S(knot) D(knot_part) E(verdict, vprof_verdict_names) S(note)
#define VPROF_KNOT_FIELDS(U, D, I, S, E)                                                                                \
	S(name) D(through_ns) D(own_ns) D(share) D(share_low) D(share_high) D(if_constant) D(if_constant_low) D(if_constant_high)
#define VPROF_KNOT_LOCK_FIELDS(U, D, I, S, E) S(name) S(function) S(file) I(line) S(object) S(awaited) D(part)
#define VPROF_TIER_FIELDS(U, D, I, S, E) S(name) I(is_own) D(mean_ns) D(share)
#define VPROF_LAYER_FIELDS(U, D, I, S, E)                                                                               \
	E(kind, vprof_layer_kind_names) U(parent) S(key) S(name) S(file) U(n_calls) U(n_whole) U(n_unplaced) D(low_ns) D(high_ns)       \
	D(own_low_ns) D(own_high_ns) D(share_low) D(share_high)
#define VPROF_STEP_FIELDS(U, D, I, S, E) E(kind, vprof_node_kind_names) I(is_blame) S(name) S(file) I(line) S(object) S(awaited) U(node)
#define VPROF_SPLIT_FIELDS(U, D, I, S, E) E(kind, vprof_node_kind_names) S(name) D(part) D(share) D(mean_ns)
#define VPROF_CLOSED_FIELDS(U, D, I, S, E) S(name) S(display) S(file) I(line) S(caller) D(bound) D(saved_ns) D(saved) S(run)
#define VPROF_COMMON_FRAME_FIELDS(U, D, I, S, E)                                                                               \
	S(name) S(module) U(n) D(depth) I(encloses) I(innermost_enclosing) I(is_waker)
#define VPROF_PARTY_FIELDS(U, D, I, S, E) E(kind, vprof_party_kind_names) S(name) U(n) D(total_ns)
#define VPROF_HOLDER_CALL_FIELDS(U, D, I, S, E) E(kind, vprof_node_kind_names) S(name) S(file) I(line) U(depth) D(total_ns)
#define VPROF_CROSSTALK_LOCK_FIELDS(U, D, I, S, E)                                                                      \
	S(name) S(function) S(file) I(line) I(is_call) S(object) S(awaited) U(n_waits) D(total_ns) D(measured_ns)
#define VPROF_CROSSTALK_FIELDS(U, D, I, S, E)                                                                           \
	U(waiter) U(holder) U(n_waits) D(total_ns) D(measured_ns) D(mean_ns) D(mean_low) D(mean_high) D(share)    \
	D(share_low) D(share_high)
#define VPROF_STAGE_FIELDS(U, D, I, S, E) S(name) S(program) S(path)
#define VPROF_PROFILE_FIELDS(U, D, I, S, E)                                                                             \
	E(kind, vprof_node_kind_names) U(depth) I(is_blame) S(name) S(file) I(line) D(total_ns) D(own_ns)
#define VPROF_CONTEXT_FIELDS(U, D, I, S, E)                                                                             \
	S(name) U(n) D(total_ns) D(mean_ns) D(mean_low) D(mean_high) D(share) D(share_low) D(share_high) D(running_ns)  \
	D(running_low) D(running_high) D(waiting_ns) D(waiting_low) D(waiting_high) D(queued_ns) D(queued_low)          \
	D(queued_high) D(preempted_ns) D(preempted_low) D(preempted_high) I(is_unknown) I(is_cut)
#define VPROF_SAMPLED_FIELDS(U, D, I, S, E) S(name) S(file) U(depth) U(n) U(n_own)
#define VPROF_TYPE_FIELDS(U, D, I, S, E) S(name) U(n) D(mean_ns) D(sd_ns) D(between_share) D(within_share)
#define VPROF_CONTRIBUTION_FIELDS(U, D, I, S, E)                                                                        \
	U(factor) S(name) D(mean_ns) D(mean_low) D(mean_high) D(tail_ns) D(rest_ns) D(gap_ns) D(gap_low) D(gap_high)
#define VPROF_WORK_FIELDS(U, D, I, S, E) S(name) D(mean) D(sd) D(ns_per_unit) D(low) D(high) D(r) D(share)
#define VPROF_BUCKET_FIELDS(U, D, I, S, E) D(from_ns) D(to_ns) U(n) U(type)
#define VPROF_PERIOD_FIELDS(U, D, I, S, E) D(from_ns) D(to_ns) U(n) D(mean_ns) D(p50_ns) D(p99_ns) D(max_ns)
#define VPROF_EXAMPLE_FIELDS(U, D, I, S, E)                                                                             \
	E(why, vprof_example_why_names) U(rank) D(latency_ns) D(at_ns) S(type) U(first_piece) U(n_pieces) U(n_left_out)
#define VPROF_PIECE_FIELDS(U, D, I, S, E)                                                                               \
	D(from_ns) D(to_ns) E(kind, vprof_shown_kind_names) U(thread) U(depth) I(is_blame) S(name) S(object)
#define VPROF_THREAD_FIELDS(U, D, I, S, E) S(name)
/* clang-format on */

extern const char *const vprof_node_kind_names[VPROF_NODE_KIND_COUNT];
extern const char *const vprof_factor_kind_names[VPROF_FACTOR_COVARIANCE + 1];
extern const char *const vprof_cause_kind_names[VPROF_CAUSE_KIND_COUNT];
extern const char *const vprof_cause_status_names[VPROF_CAUSE_STATUS_COUNT];
extern const char *const vprof_example_why_names[VPROF_EXAMPLE_WHY_COUNT];
extern const char *const vprof_effect_by_names[VPROF_EFFECT_BY_COUNT];
extern const char *const vprof_layer_kind_names[VPROF_LAYER_KINDS];
extern const char *const vprof_party_kind_names[VPROF_PARTY_KINDS];
extern const char *const vprof_shown_kind_names[VPROF_SHOWN_KIND_COUNT];

/* A member of an object, as results.json has them: NaN and infinity are null, NULL is "". The key must outlive the
 * object. 0 without memory. */
int vprof_json_add_number(cJSON *o, const char *key, double x);
int vprof_json_add_string(cJSON *o, const char *key, const char *s);
/* A new object at the end of the array, which may be NULL. NULL without memory. */
cJSON *vprof_json_add_object(cJSON *array);

/* The whole of results.json; NULL without memory. The caller deletes it. */
cJSON *vprof_results_json(const struct vprof_results *r);

#endif
