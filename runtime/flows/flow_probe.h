/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in front of a unit that is compiled for a discovery run and has functions in it that acquire or release a
 * lock of the program's own: the same edits as in a build with probes (probe.h), which tell the discovery runtime of
 * the lock instead. Only locks are annotated in such a build.
 *
 * vp_flow_lock_*: flow_stub.c, which is joined with each unit. */
#ifndef VPROF_FLOW_PROBE_H
#define VPROF_FLOW_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif
__extension__ typedef unsigned long long vp_flow_object;
void vp_flow_lock_acquired(const vp_flow_object *lock) __attribute__((__visibility__("hidden")));
void vp_flow_lock_releasing(vp_flow_object lock) __attribute__((__visibility__("hidden")));
#ifdef __cplusplus
}
#endif

#define VP_FLOW_OBJECT_(object) ((vp_flow_object)(__UINTPTR_TYPE__)(object))
#define VP_DO_RELEASE(object) vp_flow_lock_releasing(VP_FLOW_OBJECT_(object))
#define VP_NOW_(n, expression) int vp_now_##n __attribute__((__unused__)) = ((expression), 0);
#define VP_KEEP(n, object) vp_flow_object vp_keep_##n __attribute__((__unused__)) = VP_FLOW_OBJECT_(object);

/* The whole execution of the function is the acquisition: the lock is held when its scope is left. */
#define VP_ACQUIRE(n, object, function)                                                                                \
	vp_flow_object vp_hook_##n                                                                                     \
		__attribute__((__cleanup__(vp_flow_lock_acquired), __unused__)) = VP_FLOW_OBJECT_(object);
/* Wherever in the function it is released, it is not before its begin. */
#define VP_RELEASE(n, object) VP_NOW_(n, VP_DO_RELEASE(object))
#define VP_AT_EXIT(n, what, object) VP_##what(n, object)
#define VP_IF(n, condition, what, object) VP_NOW_(n, (condition) ? VP_DO_##what(object) : (void)0)

#if defined(__cplusplus) && __cplusplus >= 201103L
extern "C++" {
template <class Statements> struct vp_at_exit {
	Statements statements;
	explicit vp_at_exit(Statements s) : statements(s)
	{
	}
	~vp_at_exit()
	{
		statements();
	}
	vp_at_exit(const vp_at_exit &) = delete;
	vp_at_exit &operator=(const vp_at_exit &) = delete;
};
}
#define VP_AT_EXIT_DO(n, ...)                                                                                          \
	auto vp_lambda_##n = [&]() { __VA_ARGS__; };                                                                   \
	vp_at_exit<decltype(vp_lambda_##n)> vp_at_exit_##n __attribute__((__unused__)) (vp_lambda_##n);
#endif

#endif
