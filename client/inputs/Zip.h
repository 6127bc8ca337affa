//===- Zip.h - the files in a zip file --------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_ZIP_H
#define INGOT_CLIENT_INPUTS_ZIP_H

#include "base/InputFile.h"

#include <memory>
#include <stdint.h>
#include <string>
#include <vector>

namespace ingot::tools {

/// A file in a zip file.
struct ZipMember {
  std::string name;
  uint64_t size = 0, storedBytes = 0;
  /// The offset of the local header.
  uint64_t offset = 0;
  uint32_t checksum = 0;
  uint16_t method = 0;
};

/// A zip file from numpy.savez or numpy.savez_compressed. The functions return
/// an error message, or "".
class ZipFile {
public:
  std::string open(const std::string &path);
  const std::vector<ZipMember> &members() const { return all; }

  std::string readAt(uint64_t offset, void *data, uint64_t bytes) const;

private:
  std::string parse();
  std::string findDirectory(uint64_t &offset, uint64_t &bytes,
                            uint64_t &count) const;

  InputFile file;
  std::vector<ZipMember> all;
};

/// Reads a member from its start, piece by piece. The file must outlive the
/// reader.
class ZipReader {
public:
  ZipReader(const ZipFile &file, const ZipMember &member);
  ~ZipReader();

  std::string open();
  /// Reads exactly `bytes` bytes. After the last bytes of the member, verifies
  /// the checksum.
  std::string read(void *data, uint64_t bytes);

private:
  struct Inflater;
  std::string readSome(unsigned char *data, uint64_t bytes, uint64_t &got);

  const ZipFile &file;
  const ZipMember &member;
  /// The offset of the next stored byte, and the remaining numbers of stored
  /// bytes and of decompressed bytes.
  uint64_t at = 0, storedLeft = 0, left = 0;
  unsigned long checksum = 0;
  std::unique_ptr<Inflater> inflater;
};

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_ZIP_H
