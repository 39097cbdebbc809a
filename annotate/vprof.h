/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the work whose latency vprof explains. Include it anywhere; C89 to C++20.
 *
 * Without vprof every call below is a no-op: its arguments are checked by the compiler but never evaluated, and
 * no code is generated, so arguments must have no side effects. In a build by `vprof`, the calls record.
 *
 *	vprof_begin("request", conn);	  the request with this id begins, and this thread works for it
 *	vprof_type("GET");		  its type, a string; vprof_type_number(opcode) for a number
 *	vprof_suspend("request", conn);	  this thread turns to something else
 *	vprof_resume("request", conn);	  some thread (or process) works for it again
 *	vprof_end("request", conn);	  the reply is on its way
 *
 * An id is a pointer or an integer that tells the open intervals of one name apart. VPROF_RECEIVED resumes the interval
 * for which the data was sent that this thread takes, or has just taken, from a pipe, socket pair or annotated queue;
 * to suspend and to end, it is the one that this thread works for.
 *
 * Ends that share no channel know an interval by the header "traceparent" (W3C Trace Context) of its request: both use
 *	vprof_resume("request", vprof_traceparent(text));	  "00-TRACE-PARENT-FLAGS"; what is none is 0
 *
 *	vprof_work("rows", n);		  how much this interval had to do; adds up over the interval
 *	vprof_enqueue(task);		  before the task is handed over
 *	vprof_dequeue(task);		  after another thread received it
 *
 *	vprof_spin_begin(&flag);	  before a hand-written wait for `flag`
 *	vprof_spin_end(&flag);		  after it; on the same thread
 *	vprof_wake(&flag);		  right before the store that ends the others' wait
 *	vprof_false_wakeup();		  the wait that just ended was in vain; this thread waits again
 */
#ifndef VPROF_H
#define VPROF_H

#define VPROF_RECEIVED 0x7672656365697665ul /* an id: see above */

#if defined(VPROF_SCAN)
/* The scan of the sources sees calls of functions; nothing defines them. */
#ifdef __cplusplus
extern "C" {
#endif
__extension__ typedef unsigned long long vprof_value;
void vprof_begin(const char *name, vprof_value id);
void vprof_resume(const char *name, vprof_value id);
void vprof_suspend(const char *name, vprof_value id);
void vprof_end(const char *name, vprof_value id);
void vprof_type(const char *text);
void vprof_type_number(vprof_value number);
void vprof_work(const char *counter, vprof_value n);
void vprof_enqueue(vprof_value item);
void vprof_dequeue(vprof_value item);
void vprof_spin_begin(vprof_value object);
void vprof_spin_end(vprof_value object);
void vprof_wake(vprof_value object);
void vprof_false_wakeup(void);
#ifdef __cplusplus
}
#endif
#define VPROF_VALUE_(value) ((vprof_value)(__UINTPTR_TYPE__)(value))
#define vprof_begin(name, id) vprof_begin(name, VPROF_VALUE_(id))
#define vprof_resume(name, id) vprof_resume(name, VPROF_VALUE_(id))
#define vprof_suspend(name, id) vprof_suspend(name, VPROF_VALUE_(id))
#define vprof_end(name, id) vprof_end(name, VPROF_VALUE_(id))
#define vprof_type_number(number) vprof_type_number(VPROF_VALUE_(number))
#define vprof_work(counter, n) vprof_work(counter, VPROF_VALUE_(n))
#define vprof_enqueue(item) vprof_enqueue(VPROF_VALUE_(item))
#define vprof_dequeue(item) vprof_dequeue(VPROF_VALUE_(item))
#define vprof_spin_begin(object) vprof_spin_begin(VPROF_VALUE_(object))
#define vprof_spin_end(object) vprof_spin_end(VPROF_VALUE_(object))
#define vprof_wake(object) vprof_wake(VPROF_VALUE_(object))

#define vprof_traceparent(text) ((text) != (const char *)0)

#elif defined(VP_PROBE_H)
#define vprof_traceparent(text) vp_traceparent(text)
#define vprof_begin(name, id) VP_DO_BEGIN(name, id)
#define vprof_resume(name, id) VP_DO_RESUME(name, id)
#define vprof_suspend(name, id) VP_DO_SUSPEND(name, id)
#define vprof_end(name, id) VP_DO_END(name, id)
#define vprof_type(text) VP_DO_TYPE_TEXT(text)
#define vprof_type_number(number) VP_DO_TYPE_NUMBER(number)
#define vprof_work(counter, n) VP_DO_WORK(counter, n)
#define vprof_enqueue(item) VP_DO_ENQUEUE(item)
#define vprof_dequeue(item) VP_DO_DEQUEUE(item)
#define vprof_spin_begin(object) VP_DO_SPIN_BEGIN(object)
#define vprof_spin_end(object) VP_DO_SPIN_END(object)
#define vprof_wake(object) VP_DO_WAKE(object)
#define vprof_false_wakeup() VP_DO_FALSE_WAKE()

#else
#define vprof_traceparent(text) ((text) != (const char *)0)
#define VPROF_UNUSED_(value) (0 ? (void)(value) : (void)0)
#define VPROF_UNUSED2_(one, two) (0 ? ((void)(one), (void)(two)) : (void)0)
#define vprof_begin(name, id) VPROF_UNUSED2_(name, id)
#define vprof_resume(name, id) VPROF_UNUSED2_(name, id)
#define vprof_suspend(name, id) VPROF_UNUSED2_(name, id)
#define vprof_end(name, id) VPROF_UNUSED2_(name, id)
#define vprof_type(text) VPROF_UNUSED_(text)
#define vprof_type_number(number) VPROF_UNUSED_(number)
#define vprof_work(counter, n) VPROF_UNUSED2_(counter, n)
#define vprof_enqueue(item) VPROF_UNUSED_(item)
#define vprof_dequeue(item) VPROF_UNUSED_(item)
#define vprof_spin_begin(object) VPROF_UNUSED_(object)
#define vprof_spin_end(object) VPROF_UNUSED_(object)
#define vprof_wake(object) VPROF_UNUSED_(object)
#define vprof_false_wakeup() ((void)0)
#endif

#endif
