# SPDX-License-Identifier: GPL-3.0-or-later
# Cross-building for aarch64 with Debian's gcc-aarch64-linux-gnu; tests run under qemu-user (./check --preset aarch64).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/qemu-aarch64-static)
