# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, which must succeed and print exactly the text of the file EXPECTED. RUNNER, if there
# is one, runs it. Both are commands, with '|' between their words.

string(REPLACE "|" ";" words "${RUNNER}|${PROGRAM}")
list(REMOVE_ITEM words "")
execute_process(COMMAND ${words} RESULT_VARIABLE result OUTPUT_VARIABLE printed)
file(READ ${EXPECTED} expected)
if(NOT result STREQUAL "0")
    message(FATAL_ERROR "${PROGRAM} ended with ${result}")
endif()
if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "${PROGRAM} printed\n${printed}\ninstead of\n${expected}")
endif()
