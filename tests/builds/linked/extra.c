#include EXTRA
