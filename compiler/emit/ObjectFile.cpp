//===- ObjectFile.cpp - LLVM IR to object code ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ingot;

bool ingot::emitCode(Module &module, TargetMachine &machine,
                     CodeGenFileType type, SmallVectorImpl<char> &out) {
  raw_svector_ostream stream(out);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return false;
  passes.run(module);
  return true;
}

uint64_t ingot::codeBytesOf(StringRef object) {
  auto file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(object, "object"));
  if (!file) {
    consumeError(file.takeError());
    return 0;
  }
  uint64_t bytes = 0;
  for (const object::SectionRef &section : (*file)->sections())
    if (section.isText())
      bytes += section.getSize();
  return bytes;
}
