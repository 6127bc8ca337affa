//===- Devices.cpp - devices, contexts, modules and launches --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/driver/Calls.h"

#include <algorithm>
#include <cstring>

using namespace emugpu;

cuda::Result cuInit(unsigned flags) {
  Driver &driver = Driver::get();
  std::lock_guard<std::recursive_mutex> guard(driver.mutex);
  if (driver.enter("cuInit") || !driver.problem.empty())
    return cuda::unknown;
  if (flags)
    return cuda::invalidValue;
  if (!driver.settings.level)
    return cuda::noDevice;
  driver.isInitialized = true;
  return cuda::success;
}

cuda::Result cuDriverGetVersion(int *version) {
  *version = int(Driver::get().settings.driver);
  return cuda::success;
}

namespace {
struct ErrorName {
  cuda::Result value;
  const char *name, *text;
};
} // namespace

static constexpr ErrorName errorNames[] = {
    {cuda::success, "CUDA_SUCCESS", "no error"},
    {cuda::invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {cuda::outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {cuda::notInitialized, "CUDA_ERROR_NOT_INITIALIZED",
     "initialization error"},
    {cuda::noDevice, "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {cuda::invalidDevice, "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {cuda::invalidImage, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {cuda::invalidContext, "CUDA_ERROR_INVALID_CONTEXT",
     "invalid device context"},
    {cuda::noBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {cuda::invalidPtx, "CUDA_ERROR_INVALID_PTX",
     "a PTX JIT compilation failed"},
    {cuda::unsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain"},
    {cuda::invalidHandle, "CUDA_ERROR_INVALID_HANDLE",
     "invalid resource handle"},
    {cuda::illegalState, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {cuda::notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {cuda::notReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {cuda::illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {cuda::launchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {cuda::launchFailed, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {cuda::notSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {cuda::captureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {cuda::captureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {cuda::unknown, "CUDA_ERROR_UNKNOWN", "unknown error"}};

static const ErrorName *findError(cuda::Result value) {
  for (const ErrorName &error : errorNames)
    if (error.value == value)
      return &error;
  return nullptr;
}

cuda::Result cuGetErrorName(cuda::Result value, const char **name) {
  const ErrorName *error = findError(value);
  *name = error ? error->name : nullptr;
  return error ? cuda::success : cuda::invalidValue;
}

cuda::Result cuGetErrorString(cuda::Result value, const char **text) {
  const ErrorName *error = findError(value);
  *text = error ? error->text : nullptr;
  return error ? cuda::success : cuda::invalidValue;
}

static bool isDevice(const Driver &driver, cuda::Device device) {
  return device >= 0 && unsigned(device) < driver.settings.devices;
}

cuda::Result cuDeviceGetCount(int *count) {
  INGOT_EMUGPU_ENTER(cuDeviceGetCount);
  *count = int(driver.settings.devices);
  return cuda::success;
}

cuda::Result cuDeviceGet(cuda::Device *device, int ordinal) {
  INGOT_EMUGPU_ENTER(cuDeviceGet);
  *device = ordinal;
  return isDevice(driver, ordinal) ? cuda::success : cuda::invalidDevice;
}

cuda::Result cuDeviceGetName(char *name, int bytes, cuda::Device device) {
  INGOT_EMUGPU_ENTER(cuDeviceGetName);
  if (!isDevice(driver, device) || bytes <= 0)
    return cuda::invalidValue;
  snprintf(name, size_t(bytes), "emulated GPU sm_%u", driver.settings.level);
  return cuda::success;
}

cuda::Result cuDeviceTotalMem_v2(size_t *bytes, cuda::Device device) {
  INGOT_EMUGPU_ENTER(cuDeviceTotalMem_v2);
  *bytes = driver.memory->total();
  return isDevice(driver, device) ? cuda::success : cuda::invalidDevice;
}

/// Returns the maximum size of a block's shared memory, from the CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability".
static unsigned mostShared(unsigned level) {
  switch (level) {
  case 80:
    return 163 << 10;
  case 86:
  case 89:
  case 120:
    return 99 << 10;
  default:
    return 227 << 10;
  }
}

cuda::Result cuDeviceGetAttribute(int *value, cuda::DeviceAttribute attribute,
                                  cuda::Device device) {
  INGOT_EMUGPU_ENTER(cuDeviceGetAttribute);
  if (!isDevice(driver, device))
    return cuda::invalidDevice;
  const unsigned level = driver.settings.level;
  switch (attribute) {
  case cuda::maxThreadsPerBlock:
    *value = 1024;
    break;
  case cuda::maxSharedMemoryPerBlock:
    *value = 48 << 10;
    break;
  case cuda::warpSize:
    *value = int(kLanes);
    break;
  case cuda::multiprocessorCount:
    *value = 4;
    break;
  case cuda::computeCapabilityMajor:
    *value = int(level / 10);
    break;
  case cuda::computeCapabilityMinor:
    *value = int(level % 10);
    break;
  case cuda::maxSharedMemoryPerBlockOptin:
    *value = int(mostShared(level));
    break;
  default:
    return cuda::invalidValue;
  }
  return cuda::success;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

cuda::Result cuDevicePrimaryCtxRetain(cuda::Context *context,
                                      cuda::Device device) {
  INGOT_EMUGPU_ENTER(cuDevicePrimaryCtxRetain);
  if (device)
    return cuda::invalidDevice;
  ++driver.retained;
  *context = primaryContext();
  return cuda::success;
}

cuda::Result cuDevicePrimaryCtxRelease_v2(cuda::Device device) {
  INGOT_EMUGPU_ENTER(cuDevicePrimaryCtxRelease_v2);
  if (device || !driver.retained)
    return cuda::invalidContext;
  if (!--driver.retained)
    driver.reportPending();
  return cuda::success;
}

cuda::Result cuCtxPushCurrent_v2(cuda::Context context) {
  INGOT_EMUGPU_ENTER(cuCtxPushCurrent_v2);
  if (!driver.contexts.count(context) &&
      (context != primaryContext() || !driver.retained))
    return cuda::invalidContext;
  currentContexts().push_back(context);
  return cuda::success;
}

cuda::Result cuCtxPopCurrent_v2(cuda::Context *context) {
  INGOT_EMUGPU_ENTER(cuCtxPopCurrent_v2);
  if (currentContexts().empty())
    return cuda::invalidContext;
  if (context)
    *context = currentContexts().back();
  currentContexts().pop_back();
  return cuda::success;
}

cuda::Result cuCtxGetCurrent(cuda::Context *context) {
  INGOT_EMUGPU_ENTER(cuCtxGetCurrent);
  *context = currentContexts().empty() ? nullptr : currentContexts().back();
  return cuda::success;
}

cuda::Result cuCtxCreate_v2(cuda::Context *context, unsigned flags,
                            cuda::Device device) {
  INGOT_EMUGPU_ENTER(cuCtxCreate_v2);
  if (!isDevice(driver, device))
    return cuda::invalidDevice;
  if (!context || flags)
    return cuda::invalidValue;
  *context = new cuda::ContextObject{device};
  driver.contexts.insert(*context);
  currentContexts().push_back(*context);
  return cuda::success;
}

cuda::Result cuCtxDestroy_v2(cuda::Context context) {
  INGOT_EMUGPU_ENTER(cuCtxDestroy_v2);
  if (!driver.contexts.erase(context))
    return cuda::invalidContext;
  std::vector<cuda::Context> &stack = currentContexts();
  if (!stack.empty() && stack.back() == context)
    stack.pop_back();
  delete context;
  return cuda::success;
}

cuda::Result cuCtxSynchronize() {
  INGOT_EMUGPU_ENTER(cuCtxSynchronize);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  driver.finishAll();
  return driver.sticky;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
/// Allocates device memory for the variables of modules.
class ModuleHome : public VariableHome {
public:
  explicit ModuleHome(DeviceMemory &memory) : memory(memory) {}

  uint64_t place(const Variable &variable) override {
    const uint64_t bytes = variable.data.size();
    const uint64_t address =
        memory.allocate(std::max<uint64_t>(bytes, 1), variable.isConstant);
    if (Allocation *found = bytes ? memory.find(address, bytes) : nullptr) {
      memcpy(found->memory->data(), variable.data.data(), bytes);
      found->memory->forEachCell(0, bytes,
                                 [](Cell &cell) { cell.isDefined = true; });
    }
    return address;
  }

private:
  DeviceMemory &memory;
};
} // namespace

/// Returns the newest PTX version that a driver supports, as major * 10 +
/// minor.
static unsigned newestPtx(unsigned driver) {
  const unsigned major = driver / 1000, minor = driver % 1000 / 10;
  return major >= 12 ? (major - 4) * 10 + minor : 70 + minor;
}

cuda::Result cuModuleLoadData(cuda::Module *module, const void *image) {
  INGOT_EMUGPU_ENTER(cuModuleLoadData);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  // The emulator cannot execute machine code of a real GPU.
  if (!memcmp(image,
              "\x7f"
              "ELF",
              4))
    return cuda::noBinaryForGpu;
  auto made = std::make_unique<cuda::ModuleObject>();
  ModuleHome home(*driver.memory);
  std::string error =
      readModule(static_cast<const char *>(image), home, made->module);
  if (error.empty() && made->module.version > newestPtx(driver.settings.driver))
    return cuda::unsupportedPtxVersion;
  if (error.empty() && made->module.target > driver.settings.level)
    return cuda::noBinaryForGpu;
  for (auto &[name, kernel] : made->module.kernels) {
    if (!error.empty())
      break;
    auto function = std::make_unique<cuda::FunctionObject>();
    error = decode(kernel, made->module.target, function->program);
    made->functions[name] = std::move(function);
  }
  if (!error.empty()) {
    fprintf(stderr, "emulated GPU: %s\n", error.c_str());
    driver.log("FAULT " + error);
    for (auto &[name, variable] : made->module.variables)
      driver.memory->release(variable.address);
    return cuda::invalidPtx;
  }
  *module = made.release();
  driver.modules.insert(*module);
  return cuda::success;
}

cuda::Result cuModuleUnload(cuda::Module module) {
  INGOT_EMUGPU_ENTER(cuModuleUnload);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.modules.erase(module))
    return cuda::invalidHandle;
  driver.finishAll();
  for (auto &[name, variable] : module->module.variables)
    driver.memory->release(variable.address);
  delete module;
  return driver.sticky;
}

cuda::Result cuModuleGetFunction(cuda::Function *function, cuda::Module module,
                                 const char *name) {
  INGOT_EMUGPU_ENTER(cuModuleGetFunction);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.modules.count(module))
    return cuda::invalidHandle;
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return cuda::notFound;
  *function = found->second.get();
  return cuda::success;
}

cuda::Result cuModuleGetGlobal_v2(cuda::DevicePointer *address, size_t *bytes,
                                  cuda::Module module, const char *name) {
  INGOT_EMUGPU_ENTER(cuModuleGetGlobal_v2);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (!driver.modules.count(module))
    return cuda::invalidHandle;
  auto found = module->module.variables.find(name);
  if (found == module->module.variables.end())
    return cuda::notFound;
  if (address)
    *address = found->second.address;
  if (bytes)
    *bytes = found->second.data.size();
  return cuda::success;
}

cuda::Result cuFuncGetAttribute(int *value, cuda::FunctionAttribute attribute,
                                cuda::Function function) {
  INGOT_EMUGPU_ENTER(cuFuncGetAttribute);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  const Kernel &kernel = *function->program.kernel;
  switch (attribute) {
  case cuda::functionMaxThreads:
    *value = int(kernel.maxThreads ? kernel.maxThreads : 1024);
    break;
  case cuda::functionSharedBytes:
    *value = int(kernel.sharedBytes);
    break;
  case cuda::functionLocalBytes:
    *value = int(kernel.localBytes);
    break;
  case cuda::functionRegisters:
    // Counts the registers of PTX. A real GPU needs fewer.
    *value = int(std::min(kernel.numRegisters, 255u));
    break;
  case cuda::functionMaxDynamicSharedBytes:
    *value = int(function->mostDynamicShared);
    break;
  default:
    return cuda::invalidValue;
  }
  return cuda::success;
}

cuda::Result cuFuncSetAttribute(cuda::Function function,
                                cuda::FunctionAttribute attribute, int value) {
  INGOT_EMUGPU_ENTER(cuFuncSetAttribute);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  if (attribute != cuda::functionMaxDynamicSharedBytes || value < 0 ||
      unsigned(value) + function->program.kernel->sharedBytes >
          mostShared(driver.settings.level))
    return cuda::invalidValue;
  function->mostDynamicShared = unsigned(value);
  return cuda::success;
}

cuda::Result emugpu::prepareLaunch(const cuda::KernelNode &node,
                                   std::function<void(Work &)> &execute) {
  const Dimensions grid{node.gridX, node.gridY, node.gridZ},
      block{node.blockX, node.blockY, node.blockZ};
  cuda::Function function = node.function;
  const Kernel &kernel = *function->program.kernel;
  const unsigned sharedBytes = node.sharedBytes;
  if (node.extra || !grid.count() || !block.count() || grid.x > 0x7fffffff ||
      grid.y > 65535 || grid.z > 65535 || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || block.count() > 1024 ||
      sharedBytes > function->mostDynamicShared)
    return cuda::invalidValue;
  if (kernel.maxThreads && block.count() > kernel.maxThreads)
    return cuda::launchOutOfResources;
  auto copied = std::make_shared<std::vector<uint8_t>>(kernel.parameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    memcpy(copied->data() + kernel.parameters[i].offset, node.parameters[i],
           kernel.parameters[i].bytes);
  execute = [=](Work &work) {
    Driver &owner = Driver::get();
    LaunchOptions options;
    options.seed = owner.settings.seed + work.number;
    options.isChecked = owner.settings.isChecked;
    launch(function->program, grid, block, sharedBytes, *copied, *owner.memory,
           options, owner.nextSegment, owner.orderOf(work));
  };
  return cuda::success;
}

cuda::Result cuLaunchKernel(cuda::Function function, unsigned gridX,
                            unsigned gridY, unsigned gridZ, unsigned blockX,
                            unsigned blockY, unsigned blockZ,
                            unsigned sharedBytes, cuda::Stream stream,
                            void **parameters, void **extra) {
  INGOT_EMUGPU_ENTER(cuLaunchKernel);
  INGOT_EMUGPU_NEEDS_CONTEXT;
  std::function<void(Work &)> execute;
  const cuda::KernelNode node{function,   gridX,  gridY,   gridZ,
                              blockX,     blockY, blockZ,  sharedBytes,
                              parameters, extra,  nullptr, nullptr};
  if (cuda::Result refused = prepareLaunch(node, execute))
    return refused;
  return driver.enqueue(stream, function->program.kernel->name,
                        std::move(execute));
}
