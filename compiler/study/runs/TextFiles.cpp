//===- TextFiles.cpp - what studies write ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/TextFiles.h"

#include "base/FileSet.h"
#include "base/OutputPath.h"
#include "compiler/study/runs/Client.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot;
using namespace ingot::study;

static std::string cannotWrite(const std::string &path,
                               const std::string &why) {
  return "cannot write '" + formatLine(path, 200) + "': " + why;
}

/// Returns true if a file is one of the samples in a folder of `data`.
static bool isInData(const std::string &path,
                     const std::vector<std::string> &data) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return tools::isSampleFile(path) && llvm::sys::fs::exists(path) &&
         llvm::any_of(data, [&](const std::string &other) {
           return llvm::sys::fs::equivalent(folder.empty() ? "." : folder,
                                            other);
         });
}

llvm::Error ingot::study::checkWritable(const std::string &path,
                                        const std::string &model,
                                        const std::vector<std::string> &data) {
  std::string problem = checkOutputFile(path);
  if (problem.empty() && llvm::sys::fs::equivalent(path, model))
    problem = "it is the model itself";
  if (problem.empty())
    problem = checkNotRead(path, data);
  if (problem.empty() && isInData(path, data))
    problem = "it is a sample of --data";
  return errorIf(problem.empty() ? "" : cannotWrite(path, problem));
}

static std::string writeText(FileSet &files, const std::string &text,
                             int &descriptor) {
  std::string problem = files.create(/*isExecutable=*/false, descriptor);
  if (!problem.empty())
    return problem;
  llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/false);
  out << text;
  out.flush();
  if (!out.has_error())
    return "";
  problem = out.error().message();
  out.clear_error();
  return problem;
}

llvm::Error ingot::study::writeTexts(const std::vector<TextFile> &texts) {
  FileSet files;
  std::vector<FileSet::Name> names;
  const std::string &first = texts.front().path;
  std::string problem = files.open(llvm::sys::path::parent_path(first).str());
  for (const TextFile &text : texts) {
    int descriptor = -1;
    if (problem.empty())
      problem = writeText(files, text.text, descriptor);
    names.push_back({descriptor, llvm::sys::path::filename(text.path).str()});
  }
  return errorIf(problem.empty() ? files.publish(names)
                                 : cannotWrite(first, problem));
}
