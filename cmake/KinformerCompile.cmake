# SPDX-License-Identifier: Apache-2.0
# How everything here is compiled: the language, the warnings of the house, the sanitizers.

option(KI_WERROR "Treat warnings as errors" OFF)
set(KI_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=, or empty")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_STANDARD 17) # of tests and examples; the library is C
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(ki_warnings
    -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wvla -Wcast-align
    -Wcast-qual -Wwrite-strings -Wformat=2 -Wmissing-declarations -Wnull-dereference
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)

# Applies the house rules to one target.
function(ki_compile target)
    target_compile_options(${target} PRIVATE ${ki_warnings})
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    if(KI_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(KI_SANITIZE)
        target_compile_options(${target} PRIVATE
            -fsanitize=${KI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
        target_link_options(${target} PRIVATE -fsanitize=${KI_SANITIZE})
    else()
        target_compile_options(${target} PRIVATE
            -fstack-protector-strong -fstack-clash-protection
            $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
    endif()
endfunction()
