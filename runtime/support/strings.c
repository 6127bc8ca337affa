/*===- strings.c - indices for strings --------------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Represents strings inside of a run by indices (int32_t). Equal strings have
 * equal indices. The compiler assigns indices to the strings of the model. A
 * run assigns indices to other strings in its inputs.
 *
 *===----------------------------------------------------------------------===*/
#include "support.h"

#include "frame.h"
#include "text.h"

#include "../format/StringHash.h"

/** A string of an input, in the caller's memory. */
typedef struct ingot_support_word {
  const char *bytes;
  uint64_t length;
} ingot_support_word;

/** The strings of a run. The struct and its arrays are memory of the run. */
typedef struct ingot_support_strings {
  const ingot_support_dictionary *dictionary;
  /** Outputs of the caller. The outputs of the run itself contain indices. */
  const ingot_abi_buffer *outputs;
  /** Strings of inputs that are not in the model. Their indices follow those of
   *  the model's strings. */
  ingot_support_word *words;
  uint32_t count;
  /** Hash table: index in `words` plus 1, or 0 for a free slot. */
  uint32_t *slots;
  uint64_t mask;
  /** A seed that callers cannot know. So they cannot choose strings that
   *  collide. */
  uint64_t seed;
} ingot_support_strings;

/** Sizes and offsets of the parts of a run's memory for strings. */
typedef struct ingot_support_layout {
  uint64_t elements, slots;
  uint64_t inputs, outputs, words, table, numbers, bytes;
} ingot_support_layout;

static const ingot_abi_tensor *input_of(const ingot_abi_artifact *artifact,
                                        uint32_t i) {
  return ingot_abi_row(&artifact->inputs, i);
}

/** Returns the number of elements of an input, or UINT64_MAX if the number
 *  overflows. */
static uint64_t elements_of(const ingot_abi_tensor *tensor,
                            const ingot_abi_buffer *buffer) {
  uint64_t count = 1;
  int is_empty = 0, overflows = 0;
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    /* The buffer need not contain sizes that the model fixes. */
    int64_t size = tensor->dims[i] < 0 ? buffer->dims[i] : tensor->dims[i];
    is_empty |= size == 0;
    overflows |= __builtin_mul_overflow(count, (uint64_t)size, &count);
  }
  return is_empty ? 0 : overflows ? UINT64_MAX : count;
}

static uint64_t align_up(uint64_t bytes) {
  return (bytes + INGOT_ABI_ALIGNMENT - 1) / INGOT_ABI_ALIGNMENT *
         INGOT_ABI_ALIGNMENT;
}

/** Computes the layout. Ends the run if there are more strings than possible
 *  indices. */
static ingot_support_layout lay_out(ingot_abi_call *call,
                                    const ingot_abi_artifact *artifact,
                                    const ingot_support_dictionary *known) {
  ingot_support_layout layout = {0};
  const uint64_t most = (uint64_t)INT32_MAX - known->count;
  uint64_t number_bytes = 0;
  for (uint32_t i = 0; i < artifact->inputs.count; ++i) {
    const ingot_abi_tensor *tensor = input_of(artifact, i);
    if (tensor->dtype != INGOT_ABI_STRING)
      continue;
    uint64_t count = elements_of(tensor, &call->inputs[i]);
    if (count > most - layout.elements) {
      ingot_support_text text;
      ingot_support_text_begin(&text);
      ingot_support_text_string(&text, "inputs have more than ");
      ingot_support_text_number(&text, (int64_t)most);
      ingot_support_text_string(&text, " strings");
      ingot_support_fail(call, INGOT_ABI_INVALID_ARGUMENT, text.bytes);
      ingot_support_stop(call);
    }
    layout.elements += count;
    number_bytes += align_up(count * sizeof(int32_t));
  }
  layout.slots = 1;
  while (layout.slots < 2 * layout.elements)
    layout.slots *= 2;
  layout.inputs = align_up(sizeof(ingot_support_strings));
  layout.outputs =
      layout.inputs + artifact->inputs.count * sizeof(ingot_abi_buffer);
  layout.words =
      layout.outputs + artifact->outputs.count * sizeof(ingot_abi_buffer);
  layout.table = layout.words + layout.elements * sizeof(ingot_support_word);
  layout.numbers = align_up(layout.table + layout.slots * sizeof(uint32_t));
  layout.bytes = layout.numbers + number_bytes;
  return layout;
}

static int is_word(const char *bytes, uint64_t length, const char *word,
                   uint64_t word_length) {
  return length == word_length && memcmp(bytes, word, length) == 0;
}

/** Returns the index of a string. A new string gets a new index. */
static int32_t number_of(ingot_support_strings *strings, const char *bytes,
                         uint64_t length) {
  const ingot_support_dictionary *known = strings->dictionary;
  const uint64_t hash = ingot_string_hash(bytes, length);
  for (uint64_t at = hash & known->mask; known->slots[at] != 0;
       at = (at + 1) & known->mask) {
    uint32_t number = known->slots[at] - 1;
    uint64_t start = known->offsets[number];
    if (is_word(bytes, length, known->text + start,
                known->offsets[number + 1] - start))
      return (int32_t)number;
  }
  uint64_t at = (hash * strings->seed >> 32) & strings->mask;
  for (; strings->slots[at] != 0; at = (at + 1) & strings->mask) {
    uint32_t place = strings->slots[at] - 1;
    if (is_word(bytes, length, strings->words[place].bytes,
                strings->words[place].length))
      return (int32_t)(known->count + place);
  }
  strings->words[strings->count].bytes = bytes;
  strings->words[strings->count].length = length;
  strings->slots[at] = ++strings->count;
  return (int32_t)(known->count + strings->count - 1);
}

/** Ends the run because a string is outside of its input's text. */
static void refuse_offsets(ingot_abi_call *call, const char *name,
                           uint64_t place, int64_t start, int64_t end,
                           uint64_t bytes) {
  ingot_support_text text;
  ingot_support_text_begin(&text);
  ingot_support_text_string(&text, "input '");
  ingot_support_text_add(&text, name, strnlen(name, 160));
  ingot_support_text_string(&text, "': string ");
  ingot_support_text_number(&text, (int64_t)place);
  ingot_support_text_string(&text, " goes from ");
  ingot_support_text_number(&text, start);
  ingot_support_text_string(&text, " to ");
  ingot_support_text_number(&text, end);
  ingot_support_text_string(&text, ", which is not within its ");
  ingot_support_text_number(&text, (int64_t)bytes);
  ingot_support_text_string(&text, " bytes of text");
  ingot_support_fail(call, INGOT_ABI_INVALID_ARGUMENT, text.bytes);
  ingot_support_stop(call);
}

static void read_input(ingot_abi_call *call, ingot_support_strings *strings,
                       const char *name, const ingot_abi_buffer *input,
                       uint64_t count, int32_t *numbers) {
  const int64_t *offsets = input->data;
  int64_t start = offsets[0];
  for (uint64_t i = 0; i < count; ++i) {
    int64_t end = offsets[i + 1];
    if (start < 0 || end < start || (uint64_t)end > input->text_bytes)
      refuse_offsets(call, name, i, start, end, input->text_bytes);
    numbers[i] = number_of(strings, input->text + start,
                           (uint64_t)(end - start));
    start = end;
  }
}

void ingot_support_read_strings(ingot_abi_call *call,
                                const ingot_abi_artifact *artifact,
                                const ingot_support_dictionary *dictionary) {
  const ingot_support_layout layout = lay_out(call, artifact, dictionary);
  char *memory = ingot_support_allocate(call, layout.bytes, NULL);
  ingot_support_strings *strings = (ingot_support_strings *)memory;
  memset(memory, 0, sizeof *strings);
  strings->dictionary = dictionary;
  strings->outputs = call->outputs;
  strings->words = (ingot_support_word *)(memory + layout.words);
  strings->slots = (uint32_t *)(memory + layout.table);
  memset(strings->slots, 0, layout.slots * sizeof *strings->slots);
  strings->mask = layout.slots - 1;
  strings->seed = ((uintptr_t)memory ^ (uintptr_t)call) *
                      UINT64_C(0x9e3779b97f4a7c15) | 1;
  ingot_abi_buffer *inputs = (ingot_abi_buffer *)(memory + layout.inputs),
                   *outputs = (ingot_abi_buffer *)(memory + layout.outputs);
  memcpy(inputs, call->inputs, artifact->inputs.count * sizeof *inputs);
  memcpy(outputs, call->outputs, artifact->outputs.count * sizeof *outputs);
  char *numbers = memory + layout.numbers;
  for (uint32_t i = 0; i < artifact->inputs.count; ++i) {
    const ingot_abi_tensor *tensor = input_of(artifact, i);
    if (tensor->dtype != INGOT_ABI_STRING)
      continue;
    uint64_t count = elements_of(tensor, &inputs[i]);
    read_input(call, strings, tensor->name, &call->inputs[i], count,
               (int32_t *)numbers);
    inputs[i].data = numbers;
    inputs[i].bytes = count * sizeof(int32_t);
    numbers += align_up(inputs[i].bytes);
  }
  call->inputs = inputs;
  call->outputs = outputs;
  ingot_support_frame_of(call)->strings = strings;
}

void ingot_support_reserve_strings(ingot_abi_call *call,
                                   const ingot_abi_artifact *artifact,
                                   const ingot_support_dictionary *dictionary) {
  ingot_support_reserve(call, lay_out(call, artifact, dictionary).bytes);
}

void ingot_support_make_strings(ingot_abi_call *call, uint64_t index,
                                uint64_t count) {
  /* The outputs are the copies that ingot_support_read_strings has made. */
  ingot_abi_buffer *output = (ingot_abi_buffer *)&call->outputs[index];
  output->bytes = count * sizeof(int32_t);
  output->data = ingot_support_allocate(call, output->bytes, NULL);
}

/** Returns the bytes of the string with this index, or no bytes if there is
 *  none. */
static ingot_support_word word_of(const ingot_support_strings *strings,
                                  int32_t number) {
  const ingot_support_dictionary *known = strings->dictionary;
  const uint32_t place = (uint32_t)number;
  ingot_support_word word = {known->text, 0};
  if (place < known->count) {
    word.bytes = known->text + known->offsets[place];
    word.length = known->offsets[place + 1] - known->offsets[place];
  } else if (place - known->count < strings->count) {
    word = strings->words[place - known->count];
  }
  return word;
}

void ingot_support_store_strings(ingot_abi_call *call, uintptr_t index,
                                 uintptr_t rank, uintptr_t dims, uintptr_t data,
                                 uintptr_t element_bits) {
  const ingot_support_strings *strings = ingot_support_frame_of(call)->strings;
  const ingot_abi_buffer *output = &strings->outputs[index];
  const int32_t *numbers = (const int32_t *)data;
  (void)element_bits;
  /* The sum cannot overflow, because that many indices are in memory. */
  uint64_t count = 1, bytes = 0;
  for (uintptr_t i = 0; i < rank; ++i) {
    output->dims[i] = ((const int64_t *)dims)[i];
    count *= (uint64_t)output->dims[i];
  }
  for (uint64_t i = 0; i < count; ++i)
    if (__builtin_add_overflow(bytes, word_of(strings, numbers[i]).length,
                               &bytes))
      bytes = UINT64_MAX;
  if (output->text_used != NULL)
    *output->text_used = bytes;
  if ((count + 1) * sizeof(int64_t) > output->bytes ||
      bytes > output->text_bytes) {
    ingot_support_fail(call, INGOT_ABI_BUFFER_TOO_SMALL,
                       "an output buffer is too small");
    return;
  }
  int64_t *offsets = output->data, end = 0;
  for (uint64_t i = 0; i < count; ++i) {
    ingot_support_word word = word_of(strings, numbers[i]);
    offsets[i] = end;
    if (word.length != 0)
      memcpy(output->text + end, word.bytes, word.length);
    end += (int64_t)word.length;
  }
  offsets[count] = end;
}
