// RUN: ingot-opt %s -split-input-file -verify-diagnostics

func.func @launch_unknown(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a function called kernel}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

memref.global @kernel : memref<4xf32>
func.func @launch_not_a_function(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a function called kernel}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(index)
func.func @launch_few_parameters(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a kernel that takes 1 memrefs and an index}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, memref<4xf32>)
func.func @launch_no_number(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a kernel that takes 1 memrefs and an index}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, index) -> index
func.func @launch_result(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects a kernel that takes 1 memrefs and an index}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<5xf32>, index)
func.func @launch_shape(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{passes 'memref<4xf32>' to a parameter 'memref<5xf32>'}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xi32>, index)
func.func @launch_element_type(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{passes 'memref<4xf32>' to a parameter 'memref<4xi32>'}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32, strided<[2]>>, index)
func.func @launch_strides(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{passes 'memref<4xf32>' to a parameter 'memref<4xf32, strided<[2]>>'}}
  cpu.launch @kernel(%x) tasks(%n) writes 1 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, index)
func.func @launch_writes(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects at most 1 written operands, but got 2}}
  cpu.launch @kernel(%x) tasks(%n) writes 2 : memref<4xf32>
  return
}

// -----

func.func private @kernel(memref<4xf32>, index)
func.func @launch_negative_writes(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{expects at most 1 written operands, but got -1}}
  cpu.launch @kernel(%x) tasks(%n) writes -1 : memref<4xf32>
  return
}
