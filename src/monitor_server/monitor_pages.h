/* SPDX-License-Identifier: Apache-2.0 */
/* The files of pages/, which cmake/EmbedFiles.cmake turns into arrays at build time. Each is
 * NUL-terminated. */
#ifndef KI_MONITOR_SERVER_MONITOR_PAGES_H
#define KI_MONITOR_SERVER_MONITOR_PAGES_H

#include <kinformer/str.h>

extern const ki_str ki__page_shell;   /* around the others, at <!--main--> */
extern const ki_str ki__page_main;    /* templates, see html_template.h */
extern const ki_str ki__page_objects; /* */
extern const ki_str ki__page_message; /* */
extern const ki_str ki__page_style;
extern const ki_str ki__page_script;
extern const ki_str ki__page_icon;

#endif
