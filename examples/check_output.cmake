# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM, which must succeed and print exactly the text of the file EXPECTED. RUNNER, if there
# is one, runs it: a command, with '|' between its words.

string(REPLACE "|" ";" runner "${RUNNER}")
execute_process(COMMAND ${runner} ${PROGRAM} RESULT_VARIABLE result OUTPUT_VARIABLE printed)
file(READ ${EXPECTED} expected)
if(NOT result STREQUAL "0")
    message(FATAL_ERROR "${PROGRAM} ended with ${result}")
endif()
if(NOT printed STREQUAL expected)
    message(FATAL_ERROR "${PROGRAM} printed\n${printed}\ninstead of\n${expected}")
endif()
