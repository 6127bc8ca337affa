/*===- text.h - builds messages --------------------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Builds messages without libc's formatting functions. An artifact would need
 * these functions only for messages.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_SUPPORT_TEXT_H
#define INGOT_SUPPORT_TEXT_H

#include <stdint.h>
#include <string.h>

/** The text so far, with its terminating null. A part that does not fit is left
 *  out, and so is everything after it. */
typedef struct ingot_support_text {
  char bytes[512];
  size_t length;
  int is_full;
} ingot_support_text;

static inline void ingot_support_text_begin(ingot_support_text *text) {
  text->bytes[0] = '\0';
  text->length = 0;
  text->is_full = 0;
}

static inline void ingot_support_text_add(ingot_support_text *text,
                                          const char *part, size_t length) {
  text->is_full |= length >= sizeof text->bytes - text->length;
  if (text->is_full)
    return;
  memcpy(text->bytes + text->length, part, length);
  text->length += length;
  text->bytes[text->length] = '\0';
}

static inline void ingot_support_text_string(ingot_support_text *text,
                                             const char *part) {
  ingot_support_text_add(text, part, strlen(part));
}

static inline void ingot_support_text_number(ingot_support_text *text,
                                             int64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  /* The smallest int64_t has no positive counterpart. */
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    digits[--first] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0)
    digits[--first] = '-';
  ingot_support_text_add(text, digits + first, sizeof digits - first);
}

#endif /* INGOT_SUPPORT_TEXT_H */
