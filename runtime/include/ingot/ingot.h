/*===- ingot/ingot.h - load and run compiled models --------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The C API of libingot. It compiles as C11 and as C++17 and uses no C++ type.
 *
 * Conventions
 *  - Functions are named ingot_<noun>_<verb>. A function that can fail returns
 *    an ingot_status. Its last parameter is an `ingot_error *`, which may be
 *    null. If it fails, it changes nothing else that was passed by pointer,
 *    unless its comment says so.
 *  - Structs that may grow start with `struct_size`. Initialise them with
 *    their INGOT_..._INIT macro, which sets the size and zeroes the rest.
 *    Reserved fields must be zero.
 *  - Release functions accept null and return nothing.
 *  - Strings are UTF-8, null-terminated, and belong to the object that
 *    returned them.
 *  - Loading an artifact runs native code from it. Load only files you trust.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include "ingot/base.h"
#include "ingot/model.h"
#include "ingot/run.h"

#include "ingot/dlpack.h"
#include "ingot/memory.h"

#endif /* INGOT_INGOT_H */
