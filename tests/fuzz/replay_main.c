/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files: every argument is a file, or a directory of files, and each file
 * is one input. So the corpora run as plain tests, with any compiler. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static unsigned long inputs;

static void die(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(1);
}

static void replay_file(const char *path, size_t len)
{
    FILE *file = fopen(path, "rb");
    /* Exactly as large as the input, so that sanitizers see every byte read beyond it. */
    uint8_t *bytes = malloc(len != 0 ? len : 1);
    if (file == NULL || bytes == NULL || fread(bytes, 1, len, file) != len) {
        die(path);
    }
    fclose(file);
    (void)LLVMFuzzerTestOneInput(bytes, len);
    free(bytes);
    inputs++;
}

static void replay_directory(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        die(path);
    }
    for (int i = 0; i < count; i++) {
        char name[4096];
        struct stat info;
        int len = snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
        free(entries[i]);
        if (len < 0 || (size_t)len >= sizeof(name) || stat(name, &info) < 0) {
            die(path);
        }
        if (S_ISREG(info.st_mode)) {
            replay_file(name, (size_t)info.st_size);
        }
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) < 0) {
            die(argv[i]);
        }
        if (S_ISDIR(info.st_mode)) {
            replay_directory(argv[i]);
        } else {
            replay_file(argv[i], (size_t)info.st_size);
        }
    }
    printf("%lu inputs\n", inputs);
    return inputs != 0 ? 0 : 1; /* a corpus that is not found must not look like success */
}
