/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paths of requests, as results: what analysis/requests fills, and the report shows (docs/results.md). */
#ifndef VPROF_REQUESTS_RESULTS_H
#define VPROF_REQUESTS_RESULTS_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "analysis/results/results.h"
#include "common/array.h"
#include "common/hash/string_set.h"

#define VPROF_REQUESTS_CDF_POINTS 21 /* quantiles 0, 0.05 ... 1 */

struct vprof_requests_latency { /* ns; NaN when there are none */
	uint64_t n;
	double mean_ns, sd_ns, p50_ns, p90_ns, p99_ns, max_ns;
	double cdf_ns[VPROF_REQUESTS_CDF_POINTS];
};

struct vprof_requests_tier {
	const char *name;
	int is_recorded; /* else only calls to it are known */
	int is_transit;	 /* no tier: between a call's two ends, in networks, queues and buffers; ... */
	int is_queue; /* ... and of that what had come and was not read yet, as much as is known: not in the former */
	struct vprof_requests_latency response; /* of its visits, children included */
	uint64_t n_requests;			/* that visit it */
	double visits_per_request, most_visits; /* over all requests; of one */
	/* of each request the time that this tier alone took: over all requests, these add up to the requests' mean */
	double own_ns;
	double share;	   /* of the requests' variance: Cov(own, T) / Var(T); they add up to 1. NaN: no variance */
	double tail_share; /* of the gap between the slowest requests' mean and the others'; they add up to 1 */
};

struct vprof_requests_call {
	uint32_t from, to; /* tiers; from: VPROF_NONE where requests come in */
	uint64_t n;
	/* of the caller's time; of that not in the called tier; NaN: one end not recorded */
	double mean_ns, transit_ns;
	double there_ns;  /* of transit: from a request's first send to its first receive; NaN: clocks are not known */
	double queued_ns; /* of transit, at least: request or reply had come and was not read yet; NaN: not known */
	/* of the requests' variance, and of the gap between the slowest requests and the others, what these calls take
	   with all that they call; what calls take at the same time counts for each. NaN: as of a tier */
	double share, tail_share;
};

struct vprof_requests_pattern {
	const char *path;  /* "haproxy:80 > php-fpm:9000 > mariadb:3306 x 21" */
	uint64_t n_visits; /* of one request */
	struct vprof_requests_latency latency;
};

enum vprof_request_state {
	VPROF_REQUEST_CERTAIN,	 /* each link is certain, and no ambiguous call can belong to it */
	VPROF_REQUEST_INFERRED,	 /* links are below certainty, but not ambiguous */
	VPROF_REQUEST_AMBIGUOUS, /* an ambiguous call may belong to it */
	VPROF_REQUEST_STATES
};
extern const char *const vprof_request_state_names[VPROF_REQUEST_STATES];

struct vprof_requests_one { /* a request, where all are listed */
	const char *client; /* "127.0.0.1:41730"; a path, or "", of a Unix socket */
	uint64_t nth;	    /* of its connection, from 0 */
	enum vprof_request_state state;
	int is_whole;
	double from_ns, latency_ns, confidence; /* from: since the recording began */
	const char *path;
	size_t first_visit, n_visits; /* in `visits` */
};

struct vprof_requests_visit { /* one of a listed request, its calls after it; times in ns since the recording began */
	uint32_t parent;      /* the visit, of the same request, that made the call; VPROF_NONE: the first */
	const char *tier, *client; /* client: as of a request */
	uint64_t nth;		   /* of its connection, from 0 */
	const char *how;	   /* it was linked to its caller; "" of the first */
	const char *process;	   /* that served it, "" where it was not recorded */
	uint32_t pid, tid;
	double confidence;
	uint64_t request_bytes, reply_bytes;
	double from_ns, latency_ns;	  /* at the caller's end, else as served */
	double served_from_ns, served_ns; /* at the server's end; NaN: not recorded */
	/* for how long, at least, the request had been there before it was received, and the reply; 0: not known */
	double request_queued_ns, reply_queued_ns;
	size_t first_function, n_functions; /* in `visit_functions` */
};

struct vprof_requests_function { /* in a listed visit, on the stack of the thread that served it */
	uint32_t parent;	 /* among the visit's; VPROF_NONE: outermost */
	const char *name, *file; /* file: as of struct vprof_layer */
	double low_ns, high_ns;
};

/* Where the functions within visits are known from: probes, or stacks. */
enum vprof_opened_how { VPROF_OPENED_MEASURED, VPROF_OPENED_INFERRED, VPROF_OPENED_HOWS };
extern const char *const vprof_opened_how_names[VPROF_OPENED_HOWS];

/* The visits of a tier on one host, opened into the functions that their threads ran. Those of the requests that
 * figures are about. */
struct vprof_requests_opened {
	const char *tier, *host;
	enum vprof_opened_how how;
	uint64_t n_visits;  /* served there */
	uint64_t n_opened;  /* all figures are of these; left out are those */
	uint64_t n_shared;  /* ... whose thread worked for several at once, */
	uint64_t n_passed;  /* ... which another thread replied to than received them, */
	uint64_t n_outside; /* ... of whose time some was not recorded so, */
	uint64_t n_sampled; /* ... some of whose calls were only counted */
	size_t layer;	    /* in `functions`, if any are opened: the visit, followed by what is beneath */
};

struct vprof_requests_clock { /* of a host, against the first one */
	const char *host;
	int is_known;
	uint64_t n_messages;			       /* that tell it; 0: of the first host */
	double ahead_ns, drift, error_ns, drift_error; /* as in analysis/requests/socket_clocks.h */
};

struct vprof_requests_link {
	const char *how;
	uint64_t n;
};

struct vprof_requests_results {
	const char *run, *missing;
	uint64_t begin_unix_ns; /* of the recording; not in the JSON */
	uint64_t n_transfers, n_lost, n_unknown;
	uint64_t n_hosts, n_connections, n_one_end, n_guessed, n_translated, n_inside;
	uint64_t n_half_closed, n_encrypted, n_resent, n_resent_connections; /* described/unusual_connections.h */
	uint64_t n_exchanges, n_greetings, n_divided, n_bytes_missing;
	/* requests: those that are whole and not ambiguous are what all figures are about */
	uint64_t n_requests, n_certain, n_inferred, n_ambiguous, n_torn, n_cut;
	uint64_t n_detached, n_outside, n_circular;
	double duration_ns, least_confidence;  /* of the inferred requests; 1 without any */
	struct vprof_requests_latency latency; /* of requests */
	double tail_from_ns;		       /* the slowest requests took this long or longer; NaN: too few */
	double tail_ns, rest_ns;	       /* their mean, and the others' */
	struct vprof_requests_tier *tiers;     /* by falling share */
	size_t n_tiers;
	struct vprof_requests_call *calls; /* by falling n */
	size_t n_calls;
	struct vprof_requests_pattern *patterns; /* by falling number of requests */
	size_t n_patterns, n_patterns_all;	 /* here; found */
	struct vprof_requests_link *links;	 /* how calls were linked to requests */
	size_t n_links;
	struct vprof_requests_clock *clocks; /* of each host, where there are several */
	size_t n_clocks;
	struct vprof_requests_one *requests; /* all of them by time, if that was asked for */
	size_t n_listed;
	VPROF_ARRAY(struct vprof_requests_visit) visits; /* of the listed requests */
	struct vprof_requests_opened *opened;		 /* as the tiers */
	size_t n_opened;
	struct vprof_results *functions;			     /* its layers; NULL: no visit is opened */
	VPROF_ARRAY(struct vprof_requests_function) visit_functions; /* of the listed visits */
	struct vprof_strings strings;
};

struct vprof_requests_results *vprof_requests_results_new(void);
void vprof_requests_results_free(struct vprof_requests_results *r); /* NULL is fine */

/* NULL without memory. The caller deletes it. */
cJSON *vprof_requests_results_json(const struct vprof_requests_results *r);

#endif
