# SPDX-License-Identifier: Apache-2.0
# Writes files as C arrays:
#   cmake -D OUTPUT=x.c -D HEADER=x.h -D PREFIX=ki__page_ -P EmbedFiles.cmake -- a.html b.css
# The file a.html becomes `const ki_str ki__page_a`, without its first line, the SPDX line.
math(EXPR last "${CMAKE_ARGC} - 1")
set(text "/* Written by cmake/EmbedFiles.cmake. */\n#include \"${HEADER}\"\n")
set(is_file FALSE)
foreach(i RANGE ${last})
    if(is_file)
        set(file ${CMAKE_ARGV${i}})
        get_filename_component(name ${file} NAME_WE)
        file(READ ${file} bytes HEX)
        # REPLACE would remove the first line of the rest, again and again.
        string(REGEX MATCH "^([1-9a-f].|0[0-9b-f])*0a" first "${bytes}")
        string(LENGTH "${first}" skipped)
        string(SUBSTRING "${bytes}" ${skipped} -1 bytes)
        string(LENGTH "${bytes}" digits)
        math(EXPR len "${digits} / 2")
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        set(byte "0x..,")
        string(REPEAT "${byte}" 16 row)
        string(REGEX REPLACE "(${row})" "\\1\n    " bytes "${bytes}")
        string(APPEND text "\nstatic const unsigned char ${name}_bytes[] = {\n    ${bytes}0x00};\n"
               "const ki_str ${PREFIX}${name} = {(const char *)${name}_bytes, ${len}};\n")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(is_file TRUE)
    endif()
endforeach()
file(WRITE ${OUTPUT} "${text}")
