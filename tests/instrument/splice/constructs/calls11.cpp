// FLAGS: -std=c++11
// BREAK: main,run
// The calls of versions.inc in another language version.
#include "versions.inc"
