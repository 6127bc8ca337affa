//===- ExternalData.cpp - tensors kept in files beside the model ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/ExternalData.h"
#include "compiler/import/Message.h"

#include "compiler/import/Types.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace ingot::importer {
namespace {

/// Opens files below one directory and maps each file once.
class Files {
public:
  Files(StringRef directory, std::vector<sys::fs::UniqueID> *read,
        std::vector<std::string> *locations)
      : directory(directory), read(read), locations(locations) {}

  Expected<Blob> get(StringRef location) {
    auto known = files.find(location);
    if (known != files.end())
      return known->second;
    Expected<Blob> file = open(location);
    if (file)
      files[location] = *file;
    return file;
  }

private:
  Expected<Blob> open(StringRef location) {
    auto refuse = [&](const Twine &why) {
      return makeError("external data " + quote(location) + " " + why);
    };
    if (location.empty() || location.contains('\0'))
      return refuse("is not a file name");
    if (location.starts_with("/"))
      return refuse(
          "is an absolute path; it must lie in the model's directory");
    if (location.contains('\\'))
      return refuse("contains a backslash; separate folders by '/'");
    SmallVector<StringRef> parts;
    location.split(parts, '/');
    for (StringRef part : parts)
      if (part == "..")
        return refuse("leaves the model's directory by '..'");

    // Opens each path component relative to the previous directory, and follows
    // no links. So nobody can replace a file between a check and its use.
    int at = ::open(directory.empty() ? "." : directory.c_str(),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    auto close = llvm::scope_exit([&] {
      if (at >= 0)
        ::close(at);
    });
    for (auto [index, part] : llvm::enumerate(parts)) {
      if (at < 0)
        break;
      bool isLast = index + 1 == parts.size();
      if (part.empty() || part == ".") {
        if (isLast)
          return refuse("is not a file name");
        continue;
      }
      int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
      int next = ::openat(at, part.str().c_str(),
                          isLast ? flags : flags | O_DIRECTORY);
      int problem = errno;
      struct stat info;
      if (next < 0 &&
          fstatat(at, part.str().c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISLNK(info.st_mode))
        return refuse("is reached through the symbolic link " + quote(part) +
                      "; copy the file itself beside the model");
      ::close(at);
      at = next;
      errno = problem;
    }
    if (at < 0)
      return refuse("cannot be opened: " + Twine(strerror(errno)));
    struct stat info = {};
    if (fstat(at, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 1)
      return refuse("has several hard links, so it may be any file; copy it");
    Expected<Blob> file = mapDescriptor(at);
    if (!file)
      return refuse(toString(file.takeError()));
    if (read)
      read->push_back(sys::fs::UniqueID(info.st_dev, info.st_ino));
    if (locations)
      locations->push_back(location.str());
    return file;
  }

  std::string directory;
  std::vector<sys::fs::UniqueID> *read;
  std::vector<std::string> *locations;
  StringMap<Blob> files;
};

struct Entry {
  std::optional<StringRef> location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

Expected<Entry> readEntry(const pb::TensorProto &tensor) {
  Entry entry;
  for (const pb::StringStringEntryProto &pair : tensor.external_data()) {
    int64_t value = 0;
    if (pair.key() == "location") {
      entry.location = pair.value();
      continue;
    }
    bool isOffset = pair.key() == "offset";
    if (!isOffset && pair.key() != "length")
      continue; // The keys checksum and basepath are ignored.
    if (!to_integer(pair.value(), value, 10) || value < 0)
      return makeError("external data has the " + pair.key() + " " +
                       quote(pair.value()) + ", which is not a size");
    if (isOffset)
      entry.offset = value;
    else
      entry.length = value;
  }
  if (!entry.location)
    return makeError("external data has no location");
  return entry;
}

Expected<Blob> resolve(const pb::TensorProto &tensor, Files &files) {
  Expected<Entry> entry = readEntry(tensor);
  if (!entry)
    return entry.takeError();
  std::optional<int64_t> bytes = getRawBytes(tensor);
  if (!bytes)
    return makeError(
        "external data belongs to a tensor whose type or shape has no valid "
        "size");
  if (entry->length && *entry->length != *bytes)
    return makeError("external data has length " + Twine(*entry->length) +
                     ", but the tensor's shape and type need " + Twine(*bytes));
  Expected<Blob> file = files.get(*entry->location);
  if (!file)
    return file.takeError();
  int64_t size = int64_t(file->bytes.size());
  if (entry->offset > size || *bytes > size - entry->offset)
    return makeError("external data " + quote(*entry->location) + " has " +
                     Twine(size) + " bytes, but the tensor lies at " +
                     Twine(entry->offset) + " and has " + Twine(*bytes));
  return file->slice(size_t(entry->offset), size_t(*bytes));
}

} // namespace

Error resolveExternalData(Model &model, std::optional<StringRef> directory,
                          std::vector<sys::fs::UniqueID> *read,
                          std::vector<std::string> *locations) {
  Files files(directory.value_or(""), read, locations);
  return forEachTensor(
      model.proto,
      [&](pb::TensorProto &tensor, const pb::NodeProto *node) -> Error {
        if (tensor.data_location() != pb::TensorProto::EXTERNAL) {
          tensor.clear_external_data();
          return Error::success();
        }
        if (isSetAside(tensor))
          return Error::success();
        std::string where =
            node ? describe(*node) : describeTensor(tensor, node);
        if (!directory)
          return makeError(where +
                           ": external data needs a model file that it "
                           "lies beside, but the model was given in memory");
        Expected<Blob> blob = resolve(tensor, files);
        if (!blob)
          return makeError(where + ": " + toString(blob.takeError()));
        // Shape inference must see the values of small tensors, especially of
        // shapes.
        if (blob->bytes.size() <= maxInlineBytes(tensor.data_type())) {
          tensor.clear_external_data();
          tensor.clear_data_location();
          tensor.set_raw_data(blob->bytes.data(), blob->bytes.size());
          return Error::success();
        }
        model.setAside.put(tensor, std::move(*blob));
        return Error::success();
      });
}

} // namespace ingot::importer
