/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions at addresses of programs, from wherever their symbols lie (make_programs), and of damaged ones. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/elf/elf_symbols.h"
#include "common/elf/file_type.h"
#include "common/elf/symbol_name.h"
#include "common/files.h"
#include "common/text.h"

static char folder[] = "/tmp/vprof-elf-XXXXXX", debug_dir[sizeof folder + 8];

static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static int make_programs(void **state)
{
	char command[1024], *tests = realpath(".", NULL);
	int rc;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(debug_dir, sizeof debug_dir, "%s/debug", folder);
	snprintf(command, sizeof command, "./make_programs '%s' %s '%s' '%s'", tests, folder, VPROF_TEST_CC,
		 VPROF_TEST_CXX);
	rc = system(command);
	free(tests);
	return rc;
}

static int remove_programs(void **state)
{
	(void)state;
	return vprof_dir_remove(folder, NULL);
}

/* Where the program's source says MARK(mark). */
static uint64_t address_of(const char *program, const char *mark)
{
	char name[64], line[128], found[64] = "";
	uint64_t address = 0;
	FILE *f;

	snprintf(name, sizeof name, "%s.marks", program);
	f = fopen(path_of(name), "r");
	assert_non_null(f);
	while (strcmp(found, mark) && fgets(line, sizeof line, f))
		assert_int_equal(sscanf(line, "%63s %lx", found, &address), 2);
	fclose(f);
	assert_string_equal(found, mark);
	return address;
}

static struct vprof_elf *open_program(const char *program)
{
	struct vprof_error err = { "" };
	struct vprof_elf *elf;

	if (vprof_elf_open(&elf, path_of(program), debug_dir, &err))
		fail_msg("%s: %s", program, err.message);
	return elf;
}

/* The functions at a mark, innermost first, with a blank between them. */
static void check_names(const char *program, const char *mark, const char *wanted)
{
	struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
	struct vprof_elf *elf = open_program(program);
	size_t n = vprof_elf_frames(elf, address_of(program, mark), frames, VPROF_ELF_FRAMES_MAX);
	struct vprof_text names = VPROF_TEXT_INIT;

	for (size_t i = 0; i < n; i++)
		vprof_text_addf(&names, "%s%s", i ? ", " : "", frames[i].symbol->name);
	if (strcmp(names.len ? names.s : "", wanted))
		fail_msg("%s at %s: \"%s\" instead of \"%s\"", program, mark, names.len ? names.s : "", wanted);
	assert_null(vprof_elf_damage(elf));
	vprof_text_release(&names);
	vprof_elf_free(elf);
}

static void test_inlined(void **state)
{
	static const char *const programs[] = {
		"pie", "fixed", "static", "library.so", "by_id", "by_link", "by_folder", "split5", "split4",
	};

	(void)state;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		check_names(programs[i], "mark_innermost", "innermost, middle, outer_function");
		check_names(programs[i], "mark_middle", "middle, outer_function");
		check_names(programs[i], "mark_local", "local_function");
	}
}

static void test_cpp_names(void **state)
{
	(void)state;
	check_names("plusplus", "mark_grow", "store::Table<int>::grow, store::insert");
	check_names("plusplus", "mark_hidden", "store::(anonymous namespace)::hidden, store::Table<int>::rebuild");
}

/* Without DWARF: only what the linker knows. */
static void test_without_dwarf(void **state)
{
	(void)state;
	check_names("mini", "mark_innermost", "outer_function");
	check_names("mini", "mark_local", "local_function");
	check_names("split_lost", "mark_innermost", "outer_function");
	check_names("stripped", "mark_local", "");
	check_names("by_wrong", "mark_local", "");
}

static void test_what_it_has(void **state)
{
	static const struct {
		const char *program;
		int has_symbols, is_static;
	} all[] = { { "pie", 1, 0 },	 { "static", 1, 1 },   { "stripped", 0, 0 }, { "by_id", 1, 0 },
		    { "by_link", 1, 0 }, { "by_wrong", 0, 0 }, { "mini", 1, 0 },     { "library.so", 1, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct vprof_elf *elf = open_program(all[i].program);

		assert_int_equal(vprof_elf_has_symbols(elf), all[i].has_symbols);
		assert_int_equal(vprof_elf_is_static(elf), all[i].is_static);
		vprof_elf_free(elf);
	}
}

/* Each inlined function's line is where it was inlined; the innermost one's is the mark's. */
/* Where the disassembler sees a call to puts go, and where it sees main. */
static void test_linkage_table(void **state)
{
	char command[512], line[64] = "";
	unsigned long entry = 0, main_at = 0;
	struct vprof_error err = { "" };
	struct vprof_elf *elf;
	FILE *f;

	(void)state;
	snprintf(
		command, sizeof command,
		"cd %s && echo 'int puts(const char *); int main(void) { puts(\"x\"); return 1; }' >caller.c && %s -O1 "
		"caller.c -o caller && objdump -d caller | grep -o '[0-9a-f]* <puts@plt>$' | head -1 && "
		"objdump -d caller | grep -o '^[0-9a-f]* <main>'",
		folder, VPROF_TEST_CC);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof line, f));
	assert_int_equal(sscanf(line, "%lx <puts", &entry), 1);
	assert_non_null(fgets(line, sizeof line, f));
	assert_int_equal(sscanf(line, "%lx <main", &main_at), 1);
	pclose(f);
	if (vprof_elf_open(&elf, path_of("caller"), NULL, &err))
		fail_msg("%s", err.message);
	assert_true(vprof_elf_is_plt(elf, entry));
	assert_true(vprof_elf_is_plt(elf, entry + 4));
	assert_false(vprof_elf_is_plt(elf, main_at));
	assert_false(vprof_elf_is_plt(elf, 0));
	assert_false(vprof_elf_is_plt(elf, UINT64_MAX));
	vprof_elf_free(elf);
}

static void test_places(void **state)
{
	struct vprof_place places[VPROF_ELF_FRAMES_MAX];
	struct vprof_elf *elf = open_program("by_id");
	int lines[] = { 10, 16, 23 };

	(void)state;
	assert_int_equal(vprof_elf_places(elf, address_of("by_id", "mark_innermost"), places, VPROF_ELF_FRAMES_MAX), 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(places[i].line, lines[i]);
		assert_string_equal(strrchr(places[i].file, '/'), "/named.c");
	}
	assert_int_equal(vprof_elf_places(elf, address_of("by_id", "mark_innermost"), places, 2), 2);
	vprof_elf_free(elf);
}

/* The same function is the same pointer, whether it was inlined or not, and says where it is declared. */
static void test_identity(void **state)
{
	struct vprof_frame a[VPROF_ELF_FRAMES_MAX], b[VPROF_ELF_FRAMES_MAX];
	struct vprof_elf *elf = open_program("pie");

	(void)state;
	assert_int_equal(vprof_elf_frames(elf, address_of("pie", "mark_innermost"), a, VPROF_ELF_FRAMES_MAX), 3);
	assert_int_equal(vprof_elf_frames(elf, address_of("pie", "mark_middle"), b, VPROF_ELF_FRAMES_MAX), 2);
	assert_ptr_equal(a[1].symbol, b[0].symbol);
	assert_ptr_equal(a[2].symbol, b[1].symbol);
	assert_string_equal(strrchr(a[0].declared_in, '/'), "/named.c");
	assert_null(a[2].declared_in);
	assert_int_equal(vprof_elf_frames(elf, address_of("pie", "mark_innermost"), a, 1), 1);
	assert_string_equal(a[0].symbol->name, "innermost");
	assert_int_equal(vprof_elf_frames(elf, UINT64_MAX, a, VPROF_ELF_FRAMES_MAX), 0);
	assert_int_equal(vprof_elf_frames(elf, 0, a, VPROF_ELF_FRAMES_MAX), 0);
	vprof_elf_free(elf);
}

static void test_build_id(void **state)
{
	struct vprof_elf *a = open_program("pie"), *b = open_program("by_link");
	unsigned char id[20] = { 0 };

	(void)state;
	assert_int_equal(vprof_elf_same_build(a, id, sizeof id), 0);
	assert_int_equal(vprof_elf_same_build(a, id, 0), -1);
	assert_int_equal(vprof_elf_same_build(b, id, sizeof id), -1);
	vprof_elf_free(a);
	vprof_elf_free(b);
}

/* The debug files' folder can be given by the environment. */
static void test_environment(void **state)
{
	struct vprof_elf *elf;

	(void)state;
	setenv("VPROF_DEBUG_DIR", debug_dir, 1);
	assert_int_equal(vprof_elf_open(&elf, path_of("by_id"), NULL, NULL), 0);
	unsetenv("VPROF_DEBUG_DIR");
	assert_true(vprof_elf_has_symbols(elf));
	vprof_elf_free(elf);
}

/* A debuginfod server that the environment names is not asked: nobody connects to the one here. */
static void test_no_network(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof address;
	char url[64];

	(void)state;
	assert_true(server >= 0 && !bind(server, (struct sockaddr *)&address, size) && !listen(server, 8));
	assert_false(getsockname(server, (struct sockaddr *)&address, &size));
	snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", path_of("cache"), 1);
	check_names("split_lost", "mark_innermost", "outer_function");
	check_names("stripped", "mark_local", "");
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_CACHE_PATH");
	assert_int_equal(accept(server, NULL, NULL), -1);
	assert_int_not_equal(access(path_of("cache"), F_OK), 0);
	close(server);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	assert_int_equal(vprof_file_write(path_of(name), bytes, n, NULL), 0);
}

static void check_refused(const char *name, int code, const char *reason)
{
	struct vprof_error err = { "" };
	struct vprof_elf *elf;

	assert_int_equal(vprof_elf_open(&elf, path_of(name), debug_dir, &err), code);
	assert_null(elf);
	if (!strstr(err.message, reason) || !strstr(err.message, path_of(name)))
		fail_msg("%s: %s", name, err.message);
}

static void test_refused(void **state)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	(void)state;
	assert_int_equal(vprof_file_read(path_of("pie"), &text, NULL), 0);
	write_file("text", "int main(void) { return 0; }\n", 29);
	write_file("empty", "", 0);
	write_file("head", text.s, 20);
	check_refused("text", VPROF_ERR_INPUT, "is not a program or shared library");
	check_refused("empty", VPROF_ERR_INPUT, "is not a program or shared library");
	check_refused("head", VPROF_ERR_INPUT, "");
	check_refused("debug", VPROF_ERR_INPUT, "is not a regular file");
	check_refused("nothing", VPROF_ERR_MISSING, "No such file");
	vprof_text_release(&text);
}

/* Wherever it is cut or overwritten, the program is read without harm; fuzz_symbols does it at random. */
static void test_damaged(void **state)
{
	struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
	struct vprof_place places[VPROF_ELF_FRAMES_MAX];
	struct vprof_text text = VPROF_TEXT_INIT;
	uint64_t address = address_of("pie", "mark_innermost");

	(void)state;
	assert_int_equal(vprof_file_read(path_of("pie"), &text, NULL), 0);
	for (size_t at = 64; at + 8 < text.len; at += text.len / 64) {
		for (int cut = 0; cut < 2; cut++) {
			char kept[8];
			struct vprof_elf *elf;

			memcpy(kept, text.s + at, sizeof kept);
			memset(text.s + at, 0xff, cut ? 0 : sizeof kept);
			write_file("damaged", text.s, cut ? at : text.len);
			memcpy(text.s + at, kept, sizeof kept);
			if (vprof_elf_open(&elf, path_of("damaged"), debug_dir, NULL))
				continue;
			vprof_elf_frames(elf, address, frames, VPROF_ELF_FRAMES_MAX);
			vprof_elf_places(elf, address, places, VPROF_ELF_FRAMES_MAX);
			vprof_elf_free(elf);
		}
	}
	vprof_text_release(&text);
}

/* A symbol table that is there but says nothing has a reason. */
static void test_reason(void **state)
{
	struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
	struct vprof_text text = VPROF_TEXT_INIT;
	struct vprof_elf *elf;
	Elf64_Ehdr *header;
	Elf64_Shdr *sections;

	(void)state;
	assert_int_equal(vprof_file_read(path_of("static"), &text, NULL), 0);
	header = (Elf64_Ehdr *)text.s;
	sections = (Elf64_Shdr *)(text.s + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			sections[i].sh_offset = UINT64_MAX / 2;
	write_file("reason", text.s, text.len);
	assert_int_equal(vprof_elf_open(&elf, path_of("reason"), debug_dir, NULL), 0);
	assert_null(vprof_elf_damage(elf));
	vprof_elf_frames(elf, address_of("static", "mark_innermost"), frames, VPROF_ELF_FRAMES_MAX);
	assert_non_null(vprof_elf_damage(elf));
	assert_non_null(strstr(vprof_elf_damage(elf), "symbol table"));
	assert_non_null(strstr(vprof_elf_damage(elf), path_of("reason")));
	vprof_elf_free(elf);
	vprof_text_release(&text);
}

static void test_file_type(void **state)
{
	(void)state;
	write_file("library.a", "!<arch>\n", 8);
	write_file("thin.a", "!<thin>\n", 8);
	assert_int_equal(symlink("pie", path_of("link")), 0);
	assert_int_equal(vprof_file_type(path_of("pie")), VPROF_FILE_PROGRAM);
	assert_int_equal(vprof_file_type(path_of("fixed")), VPROF_FILE_PROGRAM);
	assert_int_equal(vprof_file_type(path_of("library.so")), VPROF_FILE_PROGRAM);
	assert_int_equal(vprof_file_type(path_of("library.a")), VPROF_FILE_ARCHIVE);
	assert_int_equal(vprof_file_type(path_of("thin.a")), VPROF_FILE_THIN);
	assert_int_equal(vprof_file_type(path_of("pie.marks")), VPROF_FILE_OTHER);
	assert_int_equal(vprof_file_type(path_of("link")), VPROF_FILE_OTHER);
	assert_int_equal(vprof_file_type(path_of("nothing")), VPROF_FILE_OTHER);
}

static void test_names(void **state)
{
	static const char *const pairs[][2] = {
		{ "plain", "plain" },
		{ "work.constprop.0", "work" },
		{ "work.isra.0.cold", "work" },
		{ "_ZN5TableIiE7rebuildEv", "Table<int>::rebuild" },
		{ "_Z3foov.part.0", "foo" },
		{ "_ZN2ns1fIiEEvT_c", "ns::f<int>" },
		{ "_ZNK1A3getEv", "A::get" },
		{ "_ZN12_GLOBAL__N_13runEi", "(anonymous namespace)::run" },
		{ "_Zbroken", "_Zbroken" },
		{ "__libc_start_main@@GLIBC_2.34", "__libc_start_main" },
		{ "_ZN1A3getEv@VERSION_1", "A::get" },
		{ "__GI___clone3", "__clone3" },
		{ "__GI_", "__GI_" },
		{ "", "" },
		{ "@", "@" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		char *name = vprof_symbol_name(pairs[i][0]);

		assert_string_equal(name, pairs[i][1]);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inlined),	      cmocka_unit_test(test_cpp_names),
		cmocka_unit_test(test_without_dwarf), cmocka_unit_test(test_what_it_has),
		cmocka_unit_test(test_places),	      cmocka_unit_test(test_linkage_table),
		cmocka_unit_test(test_identity),      cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_environment),   cmocka_unit_test(test_no_network),
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_file_type),     cmocka_unit_test(test_names),
		cmocka_unit_test(test_reason),
	};

	unsetenv("VPROF_DEBUG_DIR");
	return cmocka_run_group_tests(tests, make_programs, remove_programs);
}
