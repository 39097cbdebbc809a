# SPDX-License-Identifier: GPL-3.0-or-later
# How every ground-truth program is built: PROGRAM and OBJECTS come from its Makefile. plant.c, plant_truth.c, plant.h and this file
# lie beside the program's folder, or in it once tests/truth/run_truth has copied it.
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
CPPFLAGS += -I. -I..
LDLIBS += -lpthread -lm
VPATH = ..
# DRIVEN=1: with a clock of its own; libdriven.so is made beforehand (measure_coverage)
ifdef DRIVEN
CPPFLAGS += -DPLANT_DRIVEN
LDLIBS += $(CURDIR)/libdriven.so
endif
LINK ?= $(CC)

$(PROGRAM): $(OBJECTS) plant.o plant_truth.o
	$(LINK) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) plant.o plant_truth.o $(LDLIBS)

%.o: %.c $(wildcard *.h) plant.h
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

%.o: %.cc $(wildcard *.h) plant.h
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

clean:
	rm -f $(PROGRAM) $(OBJECTS) plant.o plant_truth.o truth.json

.PHONY: clean
