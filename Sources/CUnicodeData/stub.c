/*
 * An empty package of ICU data, in place of the one in Foundation's static library.
 *
 * Foundation contains the data of all languages and calendars for ICU: 34 MB of a stripped program of 80 MB. ferry
 * does not format anything for a locale, so it links this package, which has the format of ICU's own stub
 * (icu4c/source/stubdata/stubdata.cpp). Because an object file defines the symbol, the linker does not take the
 * member of the archive that defines it with all data. ICU then reports for every resource that it is missing
 * (U_MISSING_RESOURCE_ERROR). Foundation's time zones, locales and formatters therefore do not work, and
 * scripts/lint-imports rejects them. This applies only to programs that link Foundation statically, such as the release
 * build: the libraries of the debug build contain the data.
 *
 * The data has no debug information (nodebug): valgrind 3.19, which counts the instructions of the benchmark, cannot
 * read a program in which clang's debug information (DWARF 5) is beside Swift's.
 *
 * The symbol contains ICU's version. In the toolchain that is in use, one of these is it; the others are unused.
 */

#include <stdint.h>

/* The header of a data file, as ICU declares it in ucmndata.h and udata.h, and an empty table of contents. */
struct data_package {
  uint16_t header_size;
  uint8_t magic[2];
  uint16_t info_size;
  uint16_t reserved_word;
  uint8_t is_big_endian;
  uint8_t charset_family;
  uint8_t size_of_char;
  uint8_t reserved_byte;
  uint8_t format[4];
  uint8_t format_version[4];
  uint8_t data_version[4];
  uint8_t padding[8];
  uint32_t count;
  uint32_t reserved;
  uint32_t contents[4];
};

#define EMPTY_PACKAGE(name)                                                    \
  extern const struct data_package name;                                       \
  const struct data_package name __attribute__((aligned(16), nodebug)) = {     \
      .header_size = 32,                                                       \
      .magic = {0xda, 0x27},                                                   \
      .info_size = 20,                                                         \
      .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,                 \
      .size_of_char = 2,                                                       \
      .format = {'T', 'o', 'C', 'P'},                                          \
      .format_version = {1, 0, 0, 0},                                          \
  }

EMPTY_PACKAGE(icudt74_dat);
EMPTY_PACKAGE(icudt75_dat);
EMPTY_PACKAGE(icudt76_dat);
EMPTY_PACKAGE(icudt77_dat);
EMPTY_PACKAGE(icudt78_dat);
