// FLAGS: -std=c++20
// BREAK: main,run
// The calls of versions.inc in another language version.
#include "versions.inc"
