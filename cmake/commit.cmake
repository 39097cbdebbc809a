# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DSOURCE=DIR -DHEADER=FILE -P commit.cmake: FILE says which commit the sources are of, "" when nobody knows.
# Written only when that changed, so that nothing else is built again.
execute_process(COMMAND git -C ${SOURCE} rev-parse --is-inside-work-tree --show-prefix
                OUTPUT_VARIABLE inside OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(commit "")
if(inside STREQUAL "true") # with a prefix the sources lie in another repository
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "#define VPROF_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${HEADER} "${text}")
endif()
