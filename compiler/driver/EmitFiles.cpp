//===- EmitFiles.cpp - from lowered modules to files ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/OutputPath.h"
#include "compiler/driver/Compilation.h"
#include "compiler/driver/DecisionTrace.h"
#include "compiler/driver/OutputNames.h"
#include "compiler/emit/ObjectCache.h"
#include "compiler/emit/ShareTasks.h"

#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;

namespace {

/// The file of decisions, if requested. Its folder may differ from the
/// output's, so it is named separately, just before the output.
class DecisionsFile {
public:
  DecisionsFile(const CompileOptions &options, MLIRContext &context)
      : options(options), files(context, options.decisionsFile) {}

  LogicalResult write() {
    if (options.decisionsFile.empty())
      return success();
    FailureOr<int> file = files.write([&](raw_ostream &out) {
      out << options.decisions->toJson(
          {fileName(options.input), options.given});
      return success();
    });
    if (succeeded(file))
      names.push_back({*file, fileName(options.decisionsFile)});
    return file;
  }

  LogicalResult publish() {
    return names.empty() ? success() : files.publish(names);
  }

private:
  const CompileOptions &options;
  OutputFiles files;
  std::vector<OutputFiles::Name> names;
};

} // namespace

FailureOr<CompileResult> Compilation::emitText() {
  std::unique_ptr<LevelModule> level;
  llvm::SmallVector<char, 0> code;
  if (options.emit != EmitKind::mlir) {
    OwningOpRef<ModuleOp> lowered = lower(targets.front());
    if (!lowered)
      return failure();
    FailureOr<std::unique_ptr<LevelModule>> translated =
        translate(*lowered, targets.front());
    if (failed(translated))
      return failure();
    level = std::move(*translated);
    optimizeLevel(*level);
  }
  if (options.emit == EmitKind::assembly || options.emit == EmitKind::object)
    if (!emitCode(*level->module, *level->machine,
                  options.emit == EmitKind::assembly
                      ? llvm::CodeGenFileType::AssemblyFile
                      : llvm::CodeGenFileType::ObjectFile,
                  code))
      return fail("LLVM cannot emit this kind of file");
  auto write = [&](raw_ostream &out) {
    if (options.emit == EmitKind::mlir) {
      OpPrintingFlags flags;
      module->print(out, flags.enableDebugInfo(false));
      out << '\n';
    } else if (options.emit == EmitKind::llvmIR) {
      level->module->print(out, nullptr);
    } else {
      out.write(code.data(), code.size());
    }
    return success();
  };
  DecisionsFile decisions(options, context);
  if (failed(decisions.write()))
    return failure();
  const bool isInPlace =
      options.output == "-" || isWrittenInPlace(options.output);
  if (isInPlace && failed(decisions.publish()))
    return failure();
  if (options.output == "-") {
    (void)write(llvm::outs());
    llvm::outs().flush();
    if (!llvm::outs().has_error())
      return CompileResult();
    std::string message = llvm::outs().error().message();
    llvm::outs().clear_error();
    return fail("cannot write to standard output: " + message);
  }
  if (isInPlace) {
    if (failed(files.writeInPlace(options.output, write)))
      return failure();
    return CompileResult();
  }
  FailureOr<int> file = files.write(write);
  if (failed(file) || failed(decisions.publish()) ||
      failed(files.publish({{*file, fileName(options.output)}})))
    return failure();
  notePublished();
  return CompileResult();
}

FailureOr<MemoryFile> Compilation::toFile(StringRef bytes) {
  MemoryFile file;
  std::string error;
  if (!file.write(bytes, error))
    return fail("cannot link '" + options.output + "': " + error);
  return file;
}

bool Compilation::emitLevel(LevelModule &level,
                            llvm::SmallVectorImpl<char> &code) {
  std::string key;
  if (options.objects) {
    key = ObjectCache::keyOf(*level.module, *level.machine, optimizesForSize());
    if (options.objects->find(key, code))
      return true;
  }
  optimizeLevel(level);
  TimingScope timing = time("emit machine code");
  if (!emitCode(*level.module, *level.machine,
                llvm::CodeGenFileType::ObjectFile, code))
    return false;
  if (options.objects)
    options.objects->add(key, code);
  return true;
}

/// Generates the object files of all levels. LLVM works on one level while
/// passes lower the next levels. Large modules are generated one after the
/// other, to save memory.
LogicalResult Compilation::emitLevels(std::vector<MemoryFile> &objects) {
  constexpr unsigned kLargeModule = 1 << 20;
  struct Code {
    llvm::SmallVector<char, 0> bytes;
    bool isEmitted = false;
  };
  std::vector<Code> codes(manifest.levels.size());
  llvm::ThreadPoolStrategy strategy =
      llvm::hardware_concurrency(unsigned(codes.size()));
  strategy.Limit = true;
  // If steps are timed, run them one after the other, so that the times add up.
  const bool isTimed = options.timing && *options.timing;
  const bool isParallel =
      !isTimed && codes.size() > 1 && strategy.compute_thread_count() > 1;
  // The destructor of the pool waits for all tasks.
  std::optional<llvm::DefaultThreadPool> threads;
  if (isParallel)
    threads.emplace(strategy);
  auto emit = [&](ModuleOp lowered, size_t number) -> LogicalResult {
    FailureOr<std::unique_ptr<LevelModule>> translated =
        translate(lowered, manifest.levels[number].target);
    if (failed(translated))
      return failure();
    const bool isLarge =
        (*translated)->module->getInstructionCount() > kLargeModule;
    // The pool needs copyable functions, so a shared pointer holds the module.
    auto work = [this, &code = codes[number],
                 module =
                     std::shared_ptr<LevelModule>(std::move(*translated))] {
      code.isEmitted = emitLevel(*module, code.bytes);
    };
    if (!threads) {
      work();
    } else {
      progress.moveToThread();
      threads->async([this, work = std::move(work)] {
        work();
        progress.finishCode();
      });
    }
    if (threads && isLarge)
      threads->wait();
    return success();
  };
  const std::vector<LevelCode> &levels = manifest.levels;
  // A lowered level that waits for the next one, because they may share code.
  OwningOpRef<ModuleOp> waiting;
  for (size_t i = 0; i < levels.size(); ++i) {
    const Target &target = levels[i].target;
    OwningOpRef<ModuleOp> lowered = lower(target);
    if (!lowered)
      return failure();
    if (waiting) {
      shareTasks(*waiting, levels[i - 1].target, *lowered);
      if (failed(emit(*waiting, i - 1)))
        return failure();
      waiting = nullptr;
    }
    if (i + 1 < levels.size() && canShareTasks(target, levels[i + 1].target))
      waiting = std::move(lowered);
    else if (failed(emit(*lowered, i)))
      return failure();
  }
  if (threads) {
    progress.waitForCode(levels.size());
    threads->wait();
  }
  for (auto [level, code] : llvm::zip_equal(manifest.levels, codes)) {
    StringRef bytes(code.bytes.data(), code.bytes.size());
    if (!code.isEmitted)
      return fail("LLVM cannot emit object files");
    level.bytes = codeBytesOf(bytes);
    FailureOr<MemoryFile> object = toFile(bytes);
    if (failed(object))
      return failure();
    objects.push_back(std::move(*object));
  }
  return errors.check();
}

FailureOr<MemoryFile> Compilation::emitDescription() {
  // Entry points must run on every level, so compile them for the lowest level.
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::TargetMachine> machine =
      targets.front().createTargetMachine();
  std::unique_ptr<llvm::Module> artifact =
      buildArtifactModule(llvmContext, manifest);
  setMachine(*artifact, *machine);
  llvm::SmallVector<char, 0> code;
  if (!emitCode(*artifact, *machine, llvm::CodeGenFileType::ObjectFile, code))
    return fail("LLVM cannot emit object files");
  return toFile(StringRef(code.data(), code.size()));
}

FailureOr<CompileResult> Compilation::emitLibrary() {
  std::vector<MemoryFile> objects;
  auto add = [&](FailureOr<MemoryFile> object) -> LogicalResult {
    if (succeeded(object))
      objects.push_back(std::move(*object));
    return object;
  };
  if (failed(emitLevels(objects)))
    return failure();
  bool isEmbedded = manifest.weightsBytes != 0 && !options.weightsInFile;
  if (manifest.weightsBytes != 0) {
    manifest.externalWeights = options.weightsInFile;
    manifest.weightsSha256 = hashWeights(*module);
  }

  if (failed(start("link", "link")))
    return failure();
  TimingScope timing = time("link and write");
  if (failed(add(emitDescription())) ||
      (isEmbedded &&
       failed(add(toFile(makeWeightsObject(manifest.weightsBytes))))))
    return failure();
  SmallVector<LinkedLibrary> others;
  for (const Library *library : usedLibraries(manifest))
    others.push_back({library->glue, library->path, library->isShared});
  std::string linked, error;
  if (failed(linkSharedLibrary(objects, others, manifest, linked, error)))
    return fail("cannot link '" + options.output + "': " + error);
  objects.clear();
  return writeFiles(linked);
}

void Compilation::notePublished() {
  if (options.published)
    options.published();
}

/// Publishes the output files. The library gets its name last. The new weights
/// have another name than the old ones, so the old library stays usable until
/// then.
FailureOr<CompileResult> Compilation::writeFiles(StringRef linked) {
  if (progress.isCancelled())
    return fail(kCancelled);
  std::vector<OutputFiles::Name> names;
  auto add = [&](StringRef name, OutputFiles::Write write,
                 bool isExecutable = false) -> LogicalResult {
    FailureOr<int> file = files.write(write, isExecutable);
    if (succeeded(file))
      names.push_back({*file, name.str()});
    return file;
  };
  const std::string library = fileName(options.output);
  const std::string weights = fileName(weightsName(options, manifest));
  if (!weights.empty() && failed(add(weights, [&](raw_ostream &out) {
        return writeWeights(*module, out);
      })))
    return failure();
  if (options.writeHeader &&
      failed(add(fileName(headerName(options)), [&](raw_ostream &out) {
        writeHeader(manifest, out);
        return success();
      })))
    return failure();
  if (!options.recordFile.empty() &&
      failed(add(fileName(options.recordFile), [&](raw_ostream &out) {
        out << options.record;
        return success();
      })))
    return failure();
  DecisionsFile decisions(options, context);
  auto writeLinked = [&](raw_ostream &out) {
    return writeLibrary(linked, *module,
                        manifest.weightsBytes && !manifest.externalWeights,
                        out);
  };
  if (failed(add(library, writeLinked, /*isExecutable=*/true)) ||
      failed(errors.check()) || failed(decisions.write()) ||
      failed(decisions.publish()) ||
      failed(files.publishLibrary(names, weights)))
    return failure();
  notePublished();
  // The linked file has no weights yet, so add their size.
  sizes.artifact = linked.size() + manifest.weightsBytes;
  return CompileResult{std::move(manifest), sizes, {}};
}
