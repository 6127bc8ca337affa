//===- Zip.cpp - the files in a zip file ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/Zip.h"

#include <algorithm>
#include <zlib.h>

using namespace ingot::tools;

static constexpr const char *kBroken = "it is a damaged .npz file";
static constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                          kLocator64 = 0x07064b50, kEntry = 0x02014b50,
                          kLocal = 0x04034b50;
static constexpr uint64_t kMostDirectory = 64 << 20;

static uint64_t number(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | at[i];
  return value;
}

std::string ZipFile::open(const std::string &path) {
  std::string problem = file.open(path);
  return problem.empty() ? parse() : problem;
}

std::string ZipFile::readAt(uint64_t offset, void *data, uint64_t bytes) const {
  if (offset > file.size() || bytes > file.size() - offset)
    return kBroken;
  return file.readAt(offset, data, bytes);
}

/// Finds the list of members. It is at the end of the file, or before a comment
/// at the end.
std::string ZipFile::findDirectory(uint64_t &offset, uint64_t &bytes,
                                   uint64_t &count) const {
  constexpr uint64_t kEndBytes = 22, kMostComment = 0xffff, kLocatorBytes = 20,
                     kEnd64Bytes = 56;
  const uint64_t fileBytes = file.size();
  if (fileBytes < kEndBytes)
    return "it is not an .npz file";
  std::vector<unsigned char> tail(
      std::min(fileBytes, kEndBytes + kMostComment));
  const uint64_t tailAt = fileBytes - tail.size();
  std::string problem = readAt(tailAt, tail.data(), tail.size());
  if (!problem.empty())
    return problem;
  size_t end = tail.size() - kEndBytes + 1;
  do {
    if (end-- == 0)
      return "it is not an .npz file, or not a whole one";
  } while (number(&tail[end], 4) != kEnd);
  count = number(&tail[end + 10], 2);
  bytes = number(&tail[end + 12], 4);
  offset = number(&tail[end + 16], 4);
  const uint64_t endAt = tailAt + end;
  if ((count != 0xffff && bytes != 0xffffffff && offset != 0xffffffff) ||
      endAt < kLocatorBytes)
    return "";
  unsigned char locator[kLocatorBytes], end64[kEnd64Bytes];
  problem = readAt(endAt - kLocatorBytes, locator, kLocatorBytes);
  if (!problem.empty() || number(locator, 4) != kLocator64)
    return problem;
  problem = readAt(number(locator + 8, 8), end64, kEnd64Bytes);
  if (!problem.empty() || number(end64, 4) != kEnd64)
    return kBroken;
  count = number(end64 + 32, 8);
  bytes = number(end64 + 40, 8);
  offset = number(end64 + 48, 8);
  return "";
}

std::string ZipFile::parse() {
  constexpr uint64_t kEntryBytes = 46;
  uint64_t offset = 0, bytes = 0, count = 0;
  std::string problem = findDirectory(offset, bytes, count);
  if (!problem.empty())
    return problem;
  if (bytes > kMostDirectory || bytes > file.size())
    return kBroken;
  std::vector<unsigned char> directory(bytes);
  problem = readAt(offset, directory.data(), bytes);
  if (!problem.empty())
    return problem;
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (bytes - at < kEntryBytes || number(&directory[at], 4) != kEntry)
      return kBroken;
    const unsigned char *entry = &directory[at];
    const uint64_t nameBytes = number(entry + 28, 2),
                   extraBytes = number(entry + 30, 2),
                   commentBytes = number(entry + 32, 2),
                   entryBytes =
                       kEntryBytes + nameBytes + extraBytes + commentBytes;
    if (bytes - at < entryBytes)
      return kBroken;
    ZipMember member;
    member.name.assign(reinterpret_cast<const char *>(entry + kEntryBytes),
                       nameBytes);
    member.method = uint16_t(number(entry + 10, 2));
    member.checksum = uint32_t(number(entry + 16, 4));
    member.storedBytes = number(entry + 20, 4);
    member.size = number(entry + 24, 4);
    member.offset = number(entry + 42, 4);
    // Values that do not fit into 32 bits follow the name, in this order.
    const unsigned char *extra = entry + kEntryBytes + nameBytes;
    for (uint64_t e = 0; e + 4 <= extraBytes;) {
      const uint64_t kind = number(extra + e, 2),
                     size = number(extra + e + 2, 2);
      if (size > extraBytes - e - 4)
        return kBroken;
      uint64_t field = e + 4;
      for (uint64_t *value :
           {&member.size, &member.storedBytes, &member.offset})
        if (kind == 1 && *value == 0xffffffff && field + 8 <= e + 4 + size) {
          *value = number(extra + field, 8);
          field += 8;
        }
      e += 4 + size;
    }
    if (number(entry + 8, 2) & 1)
      return "'" + member.name + "' in it is encrypted";
    if (member.method != 0 && member.method != 8)
      return "'" + member.name +
             "' in it is compressed in a way that numpy "
             "does not write";
    if (member.method == 0 && member.size != member.storedBytes)
      return kBroken;
    all.push_back(std::move(member));
    at += entryBytes;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

struct ZipReader::Inflater {
  z_stream stream = {};
  bool isReady = false;
  unsigned char input[1 << 15];

  ~Inflater() {
    if (isReady)
      inflateEnd(&stream);
  }
};

ZipReader::ZipReader(const ZipFile &file, const ZipMember &member)
    : file(file), member(member) {}

ZipReader::~ZipReader() = default;

std::string ZipReader::open() {
  constexpr uint64_t kLocalBytes = 30;
  unsigned char local[kLocalBytes];
  std::string problem = file.readAt(member.offset, local, kLocalBytes);
  if (!problem.empty() || number(local, 4) != kLocal)
    return problem.empty() ? kBroken : problem;
  at = member.offset + kLocalBytes + number(local + 26, 2) +
       number(local + 28, 2);
  storedLeft = member.storedBytes;
  left = member.size;
  checksum = crc32(0, nullptr, 0);
  if (member.method == 0)
    return "";
  inflater = std::make_unique<Inflater>();
  // A negative number of bits selects data without a zlib header.
  inflater->isReady = inflateInit2(&inflater->stream, -MAX_WBITS) == Z_OK;
  return inflater->isReady ? "" : "there is no memory to decompress it";
}

std::string ZipReader::readSome(unsigned char *data, uint64_t bytes,
                                uint64_t &got) {
  constexpr uint64_t kPiece = 1 << 20;
  bytes = std::min(bytes, kPiece);
  if (!inflater) {
    got = bytes;
    std::string problem = file.readAt(at, data, bytes);
    at += bytes;
    return problem;
  }
  z_stream &stream = inflater->stream;
  if (stream.avail_in == 0 && storedLeft != 0) {
    const uint64_t size =
        std::min<uint64_t>(storedLeft, sizeof inflater->input);
    std::string problem = file.readAt(at, inflater->input, size);
    if (!problem.empty())
      return problem;
    at += size;
    storedLeft -= size;
    stream.next_in = inflater->input;
    stream.avail_in = uInt(size);
  }
  stream.next_out = data;
  stream.avail_out = uInt(bytes);
  const int status = inflate(&stream, Z_NO_FLUSH);
  got = bytes - stream.avail_out;
  const bool isStuck = got == 0 && stream.avail_in == 0 && storedLeft == 0;
  if ((status != Z_OK && status != Z_STREAM_END) || isStuck ||
      (status == Z_STREAM_END && got == 0))
    return kBroken;
  return "";
}

std::string ZipReader::read(void *data, uint64_t bytes) {
  auto *to = static_cast<unsigned char *>(data);
  if (bytes > left)
    return "it ended early";
  while (bytes) {
    uint64_t got = 0;
    std::string problem = readSome(to, bytes, got);
    if (!problem.empty())
      return problem;
    checksum = crc32(checksum, to, uInt(got));
    to += got;
    bytes -= got;
    left -= got;
  }
  if (left == 0 && checksum != member.checksum)
    return kBroken;
  return "";
}
