//===- main.cpp - the ingot command -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Commands.h"

int main(int argc, char **argv) { return ingot::dispatch(argc, argv); }
