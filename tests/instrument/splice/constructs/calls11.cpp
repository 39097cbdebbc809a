// FLAGS: -std=c++11
// BREAK: main,run
// The same of another language version.
#include <cstdio>
#include <string>
#include <vector>

struct Told {
	int id;
	explicit Told(int i) : id(i) { std::printf("+%d ", id); }
	Told(const Told &o) : id(o.id + 100) { std::printf("c%d ", id); }
	~Told() { std::printf("-%d ", id); }
	const Told &self() const { return *this; }
};
static Told made(int i) { return Told(i); }
static int number(const Told &t) { return t.id; }
static std::string text(const std::string &a, int n) { return a + std::string(static_cast<size_t>(n), 'x'); }
static std::vector<int> list(int n) { return std::vector<int>(static_cast<size_t>(n), n); }
template <class T> static const T &same(const T &t) { return t; }

static void run(int n)
{
	Told direct = made(n);
	const Told &extended = made(n + 1);
	std::printf("%d %d ", direct.id, extended.id);
	std::printf("%d ", number(made(n + 2).self()));
	std::printf("%s ", text(text("a", n), number(made(2))).c_str());
	std::printf("%lu ", static_cast<unsigned long>(list(number(same(made(3)))).size()));
	try {
		if (number(made(n)) > 1)
			throw made(n);
	} catch (const Told &t) {
		std::printf("caught %d ", number(t));
	}
	std::puts("");
}

int main()
{
	for (int i = 1; i < 3; i++)
		run(i);
	return number(made(0));
}
