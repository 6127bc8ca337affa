//===- Device.cpp - the device that a caller asks for ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Device.h"

#include "runtime/core/Error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace ingot::rt;

/// Finds the driver of the emulated GPU: INGOT_EMULATED_DRIVER, or a file
/// beside this library or program.
static ingot_status findEmulator(Device &device, ingot_error *error) {
  if (const char *path = getenv("INGOT_EMULATED_DRIVER"); path && *path) {
    if (strlen(path) >= sizeof(device.driver) || access(path, R_OK))
      return fail(error, INGOT_NOT_FOUND,
                  "INGOT_EMULATED_DRIVER names '%s', which cannot be read",
                  path);
    strcpy(device.driver, path);
    return INGOT_OK;
  }
  Dl_info here;
  if (!dladdr(reinterpret_cast<void *>(&readDevice), &here) || !here.dli_fname)
    here.dli_fname = "";
  // A program that was found in PATH has a name without folder.
  char program[1024];
  if (!strchr(here.dli_fname, '/')) {
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
    if (length > 0 && size_t(length) < sizeof(program)) {
      program[length] = 0;
      here.dli_fname = program;
    }
  }
  const char *slash = strrchr(here.dli_fname, '/');
  int folder = slash ? int(slash - here.dli_fname) : 0;
  static constexpr const char *places[] = {
      "/emugpu/libcuda.so.1", "/ingot/emugpu/libcuda.so.1",
      "/../lib/emugpu/libcuda.so.1", "/../lib/ingot/emugpu/libcuda.so.1"};
  for (const char *place : places) {
    snprintf(device.driver, sizeof(device.driver), "%.*s%s", folder,
             here.dli_fname, place);
    if (slash && !access(device.driver, R_OK))
      return INGOT_OK;
  }
  return fail(error, INGOT_NOT_FOUND,
              "the emulated GPU, emugpu/libcuda.so.1, is not beside libingot; "
              "name it in INGOT_EMULATED_DRIVER");
}

ingot_status ingot::rt::readDevice(const char *asked, const char *source,
                                   Device &device, ingot_error *error) {
  if (!asked) {
    asked = getenv("INGOT_DEVICE");
    source = "INGOT_DEVICE";
  }
  if (!asked || !*asked)
    return INGOT_OK;
  if (!strcmp(asked, "cpu")) {
    device.kind = Device::Kind::cpu;
    return INGOT_OK;
  }
  device.kind = Device::Kind::cuda;
  if (!strcmp(asked, "emulated"))
    return findEmulator(device, error);
  if (!strcmp(asked, "cuda"))
    return INGOT_OK;
  if (!strncmp(asked, "cuda:", 5)) {
    char *end = nullptr;
    unsigned long index = strtoul(asked + 5, &end, 10);
    if (asked[5] >= '0' && asked[5] <= '9' && !*end && index < 1u << 16) {
      device.index = uint32_t(index);
      return INGOT_OK;
    }
  }
  return fail(error, INGOT_INVALID_ARGUMENT,
              "%s is '%s', but must be cpu, cuda, cuda:N or emulated", source,
              asked);
}
