/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of external functions that are off by default.
 *
 * A probe costs about 20 ns: around a shorter call it would measure itself. Everything that can wait or work on
 * much data (I/O, time, compression, sorting, printing, mathematics) stays on. Invariant: each group is readable as a
 * list; the lookup sorts nothing and needs no order.
 */
#include "instrumenter/plan/plan_external.h"

#include "instrumenter/instrument.h"

#include <stddef.h>
#include <string.h>

/* Names in one string, each between spaces. */
static const char *const off[] = {
	/* allocators */
	" malloc calloc realloc reallocarray free cfree posix_memalign aligned_alloc memalign valloc pvalloc"
	" malloc_usable_size strdup strndup operator new operator new[] operator delete operator delete[] ",
	/* memory and strings: short on average, or inlined by the compiler */
	" memcpy memmove memset memcmp memchr memrchr mempcpy bzero bcopy bcmp explicit_bzero rawmemchr"
	" strlen strnlen strcmp strncmp strcasecmp strncasecmp strcoll strchr strrchr strchrnul index rindex"
	" strcpy strncpy stpcpy stpncpy strcat strncat strlcpy strlcat strspn strcspn strpbrk strsep strtok"
	" strtok_r strstr strcasestr strerror strerror_r strsignal ffs ffsl ffsll basename dirname ",
	" __memcpy_chk __memmove_chk __memset_chk __strcpy_chk __strncpy_chk __strcat_chk __strncat_chk"
	" __stpcpy_chk wcslen wcscmp wcscpy wmemcpy wmemset wmemcmp ",
	/* characters */
	" isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit"
	" tolower toupper toascii __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc iswalpha iswdigit iswspace"
	" towlower towupper mblen btowc wctob ",
	/* numbers */
	" abs labs llabs imaxabs div ldiv lldiv atoi atol atoll atof fabs fabsf floor floorf ceil ceilf round"
	" lround llround trunc rint nearbyint isnan isinf finite signbit copysign fmin fmax fmod sqrt sqrtf ldexp"
	" frexp modf rand srand random srandom rand_r drand48 lrand48 ",
	" htons htonl ntohs ntohl __bswap_16 __bswap_32 __bswap_64 inet_addr ",
	/* leaving, errors, jumps, the process's own numbers */
	" abort exit _exit _Exit quick_exit atexit assert __assert_fail __assert __errno_location raise"
	" setjmp _setjmp sigsetjmp __sigsetjmp longjmp siglongjmp vfork pthread_exit __stack_chk_fail"
	" getpid getppid gettid getuid geteuid getgid getegid pthread_self pthread_equal getpagesize sysconf"
	" pthread_getspecific pthread_setspecific pthread_once getenv sched_getcpu ",
	/* signal sets and tables of flags */
	" sigemptyset sigfillset sigaddset sigdelset sigismember cfsetspeed cfgetospeed clearerr feof ferror"
	" fileno getc_unlocked putc_unlocked va_start va_end va_copy alloca ",
	NULL,
};

/* Members and functions of <atomic>, by the names of the standard and of libstdc++; those that wait or wake are
 * measured. */
static int is_atomic(const char *name)
{
	const char *last = strrchr(name, ':');

	return (!strncmp(name, "std::atomic", 11) || !strncmp(name, "std::__atomic_", 14)) && !strstr(last, "wait") &&
	       !strstr(last, "notify");
}

static int listed(const char *list, const char *name, size_t n)
{
	for (const char *p = list; (p = strstr(p, name)); p++)
		if (p > list && p[-1] == ' ' && p[n] == ' ')
			return 1;
	return 0;
}

int vprof_plan_external_measured(const char *name)
{
	size_t n = strlen(name);

	if (!n || vprof_is_interval_api(name))
		return 0;
	if (!strncmp(name, "__builtin_", 10) || !strncmp(name, "__sync_", 7) || !strncmp(name, "__atomic_", 9) ||
	    !strncmp(name, "atomic_", 7) || !strncmp(name, "__c11_atomic_", 13) || !strncmp(name, "_mm", 3) ||
	    is_atomic(name))
		return 0;
	for (size_t i = 0; off[i]; i++)
		if (listed(off[i], name, n))
			return 0;
	return 1;
}
