//===- ArtifactFuzzer.cpp - libFuzzer target of the artifact's loader -----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuzzes the checks of artifacts. The first byte selects the kind of input: an
// ELF file, or the fields of an artifact's description. The pointers of such a
// description lead to memory of the stated sizes, or to invalid addresses. The
// description is attached and queried completely.
//
//===----------------------------------------------------------------------===//
#include "runtime/core/ElfFile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace {

/// Reads numbers and strings from the input; zeros at its end.
class Bytes {
public:
  Bytes(const uint8_t *data, size_t size) : at(data), end(data + size) {}

  template <typename T> T take() {
    T value{};
    size_t count = std::min<size_t>(sizeof(T), end - at);
    memcpy(&value, at, count);
    at += count;
    return value;
  }
  /// Returns one of a few usual values, or any value.
  template <typename T> T among(std::initializer_list<T> usual) {
    uint8_t which = take<uint8_t>();
    if (which % 16 == 15)
      return take<T>();
    return *(usual.begin() + which % usual.size());
  }
  /// Returns a string of up to 300 bytes, sometimes with control characters, or
  /// sometimes null.
  const char *string() {
    uint8_t kind = take<uint8_t>();
    if (kind == 255)
      return nullptr;
    std::string &text = strings.emplace_back();
    size_t length = kind > 250 ? 300 : kind % 12;
    for (size_t i = 0; i < length; ++i)
      if (char c = take<char>())
        text += c;
    return text.c_str();
  }
  const char *plainString() {
    const char *text = string();
    return text ? text : "";
  }

private:
  const uint8_t *at, *end;
  std::deque<std::string> strings;
};

int32_t neverRuns(ingot_abi_call *) { abort(); }

/// A description and the tables that it points to.
struct Description {
  explicit Description(const uint8_t *data, size_t size) : bytes(data, size) {
    memset(&artifact, 0, sizeof artifact);
    artifact.magic = bytes.among<uint64_t>({INGOT_ABI_MAGIC});
    artifact.abi_version = bytes.among<uint32_t>({INGOT_ABI_VERSION});
    artifact.struct_size = bytes.among<uint32_t>(
        {uint32_t(sizeof artifact), 16, 200});
    // A reader must only read the bytes that exist.
    artifact.struct_size =
        std::min<uint32_t>(artifact.struct_size, sizeof artifact);
    artifact.compiler = bytes.string();
    artifact.name = bytes.string();
    artifact.flags = bytes.among<uint32_t>({0, 0, 0, 1});
    artifact.buffer_bytes =
        bytes.among<uint32_t>({sizeof(ingot_abi_buffer), 64, 41});
    artifact.weights_bytes = bytes.among<uint64_t>({0, 64, ~0ull});
    tensors(inputs, artifact.inputs);
    tensors(outputs, artifact.outputs);
    for (uint8_t i = bytes.take<uint8_t>() % 3; i > 0; --i)
      metadata.push_back({bytes.string(), bytes.string()});
    set(artifact.metadata, metadata);
    for (uint8_t i = bytes.take<uint8_t>() % 3; i > 0; --i)
      uses.push_back({bytes.among<uint32_t>({1, 2, 3}),
                      bytes.among<uint32_t>({0, 1}), bytes.string()});
    set(artifact.uses, uses);
    layerTable();
    variantTable();
  }

  /// Sets a table. If rows are longer than T, the table has at most one row,
  /// because further rows would be outside of the vector.
  template <typename T>
  void set(ingot_abi_table &table, const std::vector<T> &rows) {
    table.count = rows.size();
    table.row_bytes = bytes.among<uint32_t>({sizeof(T)});
    if (table.row_bytes > sizeof(T))
      table.count = std::min<uint32_t>(table.count, 1);
    table.rows = bytes.take<uint8_t>() == 255 ? nullptr : rows.data();
  }

  void tensors(std::vector<ingot_abi_tensor> &list, ingot_abi_table &table) {
    for (uint8_t i = bytes.take<uint8_t>() % 4; i > 0; --i) {
      ingot_abi_tensor tensor = {};
      tensor.name = bytes.string();
      tensor.dtype = bytes.among<uint32_t>({1, 2, 7, 9, 10, 16, 0, 8});
      auto &sizes = dims.emplace_back();
      auto &names = dimNames.emplace_back();
      for (uint8_t d = bytes.take<uint8_t>() % 6; d > 0; --d) {
        sizes.push_back(bytes.among<int64_t>({-1, 0, 1, 2, 3, 64, -2}));
        names.push_back(bytes.string());
      }
      tensor.rank = sizes.size();
      tensor.dims = sizes.data();
      tensor.dim_names = names.data();
      if (bytes.take<uint8_t>() == 255)
        tensor.dims = nullptr;
      if (bytes.take<uint8_t>() == 255)
        tensor.dim_names = nullptr;
      list.push_back(tensor);
    }
    set(table, list);
  }

  void layerTable() {
    for (uint8_t i = bytes.take<uint8_t>() % 4; i > 0; --i)
      layers.push_back(
          {bytes.among<uint32_t>({0, 1, 5}), bytes.among<uint32_t>({0, 1, 5}),
           bytes.among<uint32_t>({0, 1, 2, 3}), 0, 1, 1, 0, 0, 0, 0});
    const char *text = bytes.plainString();
    layerText.assign(text, text + strlen(text));
    for (char &c : layerText)
      c = c == '|' ? 0 : c;
    if (bytes.take<uint8_t>() % 8)
      layerText.push_back(0);
    set(artifact.layers, layers);
    artifact.layer_text = layerText.data();
    artifact.layer_text_bytes = layerText.size();
  }

  void variantTable() {
    for (uint8_t i = bytes.take<uint8_t>() % 3; i > 0; --i) {
      ingot_abi_variant variant = {};
      variant.target = bytes.string();
      variant.device = bytes.among<uint32_t>({1, 1, 2});
      variant.architecture = bytes.among<uint32_t>({1, 1, 2, 3});
      variant.features = bytes.among<uint64_t>({0, 1, 3});
      variant.priority = bytes.take<uint8_t>();
      variant.flags = bytes.among<uint32_t>({0, 0, 1, 4});
      variant.arena_bytes = bytes.among<uint64_t>({0, 64, ~0ull});
      variant.run = bytes.take<uint8_t>() == 255 ? nullptr : neverRuns;
      variants.push_back(variant);
    }
    set(artifact.variants, variants);
  }

  Bytes bytes;
  ingot_abi_artifact artifact;
  std::vector<ingot_abi_tensor> inputs, outputs;
  std::vector<ingot_abi_metadata> metadata;
  std::vector<ingot_abi_use> uses;
  std::vector<ingot_abi_layer> layers;
  std::vector<ingot_abi_variant> variants;
  std::vector<char> layerText;
  std::deque<std::vector<int64_t>> dims;
  std::deque<std::vector<const char *>> dimNames;
};

void checkMessage(const ingot_error &error) {
  if (!memchr(error.message, 0, sizeof error.message) || !error.message[0] ||
      strchr(error.message, '\n'))
    abort();
}

/// Reads every byte of a string of a description.
void use(const char *text) {
  if (!text || strlen(text) > 100'000)
    abort();
}

void describe(ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  if (ingot_model_describe(model, &info, nullptr))
    abort();
  use(info.name), use(info.compiler), use(info.target);
  for (uint32_t i = 0; i < info.num_inputs + info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    bool isInput = i < info.num_inputs;
    if (isInput ? ingot_model_input_describe(model, i, &tensor, nullptr)
                : ingot_model_output_describe(model, i - info.num_inputs,
                                              &tensor, nullptr))
      abort();
    use(tensor.name);
    for (uint32_t d = 0; d < tensor.rank; ++d)
      use(tensor.dim_names[d]);
  }
  for (uint32_t i = 0; i < info.num_metadata; ++i) {
    const char *key, *value;
    if (ingot_model_metadata_get(model, i, &key, &value, nullptr))
      abort();
    use(key), use(value);
  }
  for (uint32_t i = 0; i < info.num_layers; ++i) {
    ingot_layer_info layer = INGOT_LAYER_INFO_INIT;
    if (ingot_model_layer_describe(model, i, &layer, nullptr))
      abort();
    use(layer.kind);
    use(layer.backend);
    use(layer.reason);
    for (uint32_t n = 0; n < layer.num_nodes; ++n)
      use(ingot_model_layer_node(model, i, n));
  }
  for (uint32_t i = 0; i < info.num_uses; ++i) {
    ingot_use_info used = INGOT_USE_INFO_INIT;
    if (ingot_model_use_describe(model, i, &used, nullptr))
      abort();
    use(used.name);
  }
  for (uint32_t i = 0; i < info.num_variants; ++i) {
    ingot_variant_info variant = INGOT_VARIANT_INFO_INIT;
    if (ingot_model_variant_describe(model, i, &variant, nullptr))
      abort();
    use(variant.target);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return 0;
  ingot_error error = INGOT_ERROR_INIT;
  if (data[0] % 2 == 0) {
    // Copies the input, so that sanitizers see a read behind it.
    std::vector<unsigned char> image(data + 1, data + size);
    if (ingot::rt::checkElfImage(image.data(), image.size(), "fuzz", &error))
      checkMessage(error);
    return 0;
  }
  Description description(data + 1, size - 1);
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  options.flags = INGOT_MODEL_DESCRIBE_ONLY;
  ingot_model *model = nullptr;
  if (ingot_model_attach(&description.artifact, &options, &model, &error)) {
    checkMessage(error);
    return 0;
  }
  describe(model);
  ingot_model_release(model);
  return 0;
}
