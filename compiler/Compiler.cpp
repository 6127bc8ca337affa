//===- Compiler.cpp - compiles a model ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/Compiler.h"

#include "compiler/emit/SupportPaths.h"
#include "compiler/pipeline/Register.h"
#include "passes/legalize/Legalize.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;

std::unique_ptr<MLIRContext> ingot::createContext() {
  DialectRegistry registry;
  registerDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto context = std::make_unique<MLIRContext>(
      registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

namespace {

/// One compilation: import, phases, code, files.
class Compilation {
public:
  Compilation(const CompileOptions &options, MLIRContext &context)
      : options(options), pipeline(options.pipeline), context(context) {}
  ~Compilation();

  FailureOr<CompileResult> run();

private:
  LogicalResult checkNames();
  LogicalResult importAndLower();
  void chooseKernels();
  LogicalResult runPhases(StringRef last);
  LogicalResult translate();
  FailureOr<CompileResult> emitText();
  FailureOr<CompileResult> emitLibrary();

  LogicalResult fail(const Twine &message) {
    return emitError(UnknownLoc::get(&context)) << message;
  }
  std::string headerName() const {
    llvm::SmallString<128> name(options.output);
    llvm::sys::path::replace_extension(name, "h");
    return std::string(name);
  }
  void report(StringRef step) {
    if (options.progress)
      options.progress(step);
  }
  /// A file beside the output that is gone when the compilation ends, unless it
  /// is kept under its final name.
  FailureOr<std::string> createTemporary(StringRef suffix);
  LogicalResult writeTemporary(StringRef suffix, std::string &path,
                               function_ref<LogicalResult(raw_ostream &)> write);
  LogicalResult keep(StringRef temporary, StringRef name);

  const CompileOptions &options;
  PipelineOptions pipeline;
  MLIRContext &context;
  OwningOpRef<ModuleOp> module;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;
  std::unique_ptr<llvm::TargetMachine> machine;
  Target target;
  Manifest manifest;
  std::vector<std::string> temporaries;
};

} // namespace

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Compilation::~Compilation() {
  for (const std::string &path : temporaries) {
    (void)llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }
}

FailureOr<std::string> Compilation::createTemporary(StringRef suffix) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(
          options.output + ".%%%%%%" + suffix, descriptor, path))
    return fail("cannot write '" + options.output + "': " + error.message());
  llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
  temporaries.push_back(std::string(path));
  // Whoever ends the compiler early finds nothing either.
  (void)llvm::sys::RemoveFileOnSignal(path);
  return std::string(path);
}

LogicalResult Compilation::writeTemporary(
    StringRef suffix, std::string &path,
    function_ref<LogicalResult(raw_ostream &)> write) {
  FailureOr<std::string> created = createTemporary(suffix);
  if (failed(created))
    return failure();
  path = *created;
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error)
    return fail("cannot write '" + path + "': " + error.message());
  if (failed(write(out)))
    return failure();
  out.close();
  if (out.has_error()) {
    std::string message = out.error().message();
    out.clear_error();
    return fail("cannot write '" + options.output + "': " + message);
  }
  return success();
}

LogicalResult Compilation::keep(StringRef temporary, StringRef name) {
  // createUniqueFile makes files private; outputs are as the umask says.
  auto mask = llvm::sys::fs::getUmask();
  (void)llvm::sys::fs::setPermissions(
      temporary, static_cast<llvm::sys::fs::perms>(
                     (name.ends_with(".so") ? 0777 : 0666) & ~mask));
  if (std::error_code error = llvm::sys::fs::rename(temporary, name))
    return fail("cannot write '" + name + "': " + error.message());
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LogicalResult Compilation::runPhases(StringRef last) {
  for (const Phase &phase : getPhases()) {
    report(phase.description);
    PassManager passes(&context);
    phase.build(passes, pipeline);
    if (!options.dumpAfter.empty())
      passes.enableIRPrinting(
          /*shouldPrintBeforePass=*/nullptr,
          /*shouldPrintAfterPass=*/
          [&](Pass *pass, Operation *) {
            return llvm::any_of(options.dumpAfter, [&](StringRef name) {
              return name == "all" || name == pass->getArgument();
            });
          },
          /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false);
    if (failed(passes.run(*module)))
      return failure();
    if (last == phase.name)
      break;
  }
  return success();
}

/// Without oneDNN on the machine the compiler still works, and says so.
void Compilation::chooseKernels() {
  if (pipeline.kernels != Kernels::onednn || hasOneDNN())
    return;
  emitWarning(UnknownLoc::get(&context))
      << "oneDNN is not on this machine: all ops run in generated loops, which "
         "is slower";
  pipeline.kernels = Kernels::native;
}

LogicalResult Compilation::importAndLower() {
  std::string error;
  std::optional<Target> found = lookupTarget(options.target, error);
  if (!found)
    return fail(error);
  target = *found;
  chooseKernels();
  report("import");
  ImportOptions import = options.import;
  import.isSupported = isLegalizable;
  module = importModel(options.input, context, import);
  if (!module)
    return failure();
  // Passes read it: what is generated depends on it.
  module->getOperation()->setAttr(
      "ingot.target", mlir::StringAttr::get(&context, target.level));
  if (options.emit != EmitKind::mlir)
    return runPhases("llvm");
  return options.lastPhase.empty() ? success() : runPhases(options.lastPhase);
}

/// A C identifier from a file's name.
static std::string symbolFor(StringRef output) {
  std::string symbol;
  for (char c : llvm::sys::path::stem(output))
    symbol += llvm::isAlnum(c) ? c : '_';
  if (symbol.empty() || !llvm::isAlpha(symbol.front()))
    symbol = "model_" + symbol;
  return symbol;
}

LogicalResult Compilation::translate() {
  report("code generation");
  machine = target.createTargetMachine();
  if (!machine)
    return fail("LLVM was built without its X86 target");
  std::string symbol =
      options.symbol.empty() ? symbolFor(options.output) : options.symbol;
  FailureOr<Manifest> read = readManifest(*module, target, symbol);
  if (failed(read))
    return failure();
  manifest = std::move(*read);
  llvmModule = translateModuleToLLVMIR(*module, llvmContext, "model");
  if (!llvmModule)
    return fail("translation to LLVM IR failed");
  addRunFunction(*llvmModule, manifest);
  optimize(*llvmModule, *machine);
  return success();
}

FailureOr<CompileResult> Compilation::emitText() {
  llvm::SmallVector<char, 0> code;
  if (options.emit == EmitKind::assembly || options.emit == EmitKind::object)
    if (!emitCode(*llvmModule, *machine,
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
      llvmModule->print(out, nullptr);
    } else {
      out.write(code.data(), code.size());
    }
    return success();
  };
  if (options.output == "-") {
    (void)write(llvm::outs());
    llvm::outs().flush();
    return CompileResult();
  }
  std::string path;
  if (failed(writeTemporary("", path, write)) ||
      failed(keep(path, options.output)))
    return failure();
  return CompileResult();
}


FailureOr<CompileResult> Compilation::emitLibrary() {
  llvm::SmallVector<char, 0> code;
  if (!emitCode(*llvmModule, *machine, llvm::CodeGenFileType::ObjectFile, code))
    return fail("LLVM cannot emit object files");
  manifest.codeBytes = codeBytesOf(StringRef(code.data(), code.size()));
  bool hasWeights = manifest.weightsBytes != 0;
  if (options.weightsInFile && hasWeights) {
    manifest.externalWeights = true;
    manifest.weightsSha256 = hashWeights(*module);
  }

  report("link");
  llvm::SmallVector<char, 0> description;
  std::unique_ptr<llvm::Module> artifact =
      buildArtifactModule(llvmContext, manifest);
  optimize(*artifact, *machine);
  if (!emitCode(*artifact, *machine, llvm::CodeGenFileType::ObjectFile,
                description))
    return fail("LLVM cannot emit object files");

  auto copy = [](ArrayRef<char> bytes) {
    return [bytes](raw_ostream &out) {
      out.write(bytes.data(), bytes.size());
      return success();
    };
  };
  std::vector<std::string> objects(2);
  std::string weights, library, header;
  if (failed(writeTemporary(".code.o", objects[0], copy(code))) ||
      failed(writeTemporary(".artifact.o", objects[1], copy(description))))
    return failure();
  if (hasWeights) {
    auto write = [&](raw_ostream &out) {
      return manifest.externalWeights
                 ? writeWeights(*module, out)
                 : writeWeightsObject(*module, manifest.weightsBytes, out);
    };
    if (failed(writeTemporary(".weights", weights, write)))
      return failure();
    if (!manifest.externalWeights)
      objects.push_back(weights);
  }
  FailureOr<std::string> linked = createTemporary(".so");
  if (failed(linked))
    return failure();
  std::string error;
  if (failed(linkSharedLibrary(objects, manifest, *linked, error)))
    return fail(error);
  if (options.writeHeader &&
      failed(writeTemporary(".h", header, [&](raw_ostream &out) {
        writeHeader(manifest, out);
        return success();
      })))
    return failure();

  // All is written; now give each its name, the library last.
  if (manifest.externalWeights &&
      failed(keep(weights, options.output + ".weights")))
    return failure();
  if (options.writeHeader && failed(keep(header, headerName())))
    return failure();
  if (failed(keep(*linked, options.output)))
    return failure();
  return CompileResult{manifest};
}

/// What is written must not take the place of something else.
LogicalResult Compilation::checkNames() {
  SmallVector<std::string> names;
  if (options.output != "-")
    names.push_back(options.output);
  if (options.emit == EmitKind::sharedLibrary) {
    if (options.weightsInFile)
      names.push_back(options.output + ".weights");
    if (options.writeHeader) {
      names.push_back(headerName());
      if (names.back() == options.output)
        return fail("'" + options.output +
                    "' is the name of the header; call the library otherwise");
    }
  }
  for (const std::string &name : names) {
    if (llvm::sys::fs::is_directory(name))
      return fail("cannot write '" + name + "': it is a directory");
    if (llvm::sys::fs::equivalent(name, options.input))
      return fail("cannot write '" + name + "': it is the model itself");
  }
  return success();
}

FailureOr<CompileResult> Compilation::run() {
  if (failed(checkNames()) || failed(importAndLower()))
    return failure();
  if (options.emit == EmitKind::mlir)
    return emitText();
  if (failed(translate()))
    return failure();
  return options.emit == EmitKind::sharedLibrary ? emitLibrary() : emitText();
}

FailureOr<CompileResult> ingot::compileModel(const CompileOptions &options,
                                             MLIRContext &context) {
  return Compilation(options, context).run();
}
