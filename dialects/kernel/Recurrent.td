//===- Recurrent.td - recurrences of any backend -----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_RECURRENT_TD
#define INGOT_DIALECTS_KERNEL_RECURRENT_TD

// Members of an op for all steps of a recurrence, with the methods of
// KernelOpInterface that are the same for all backends. The op has the operands
// `srcs`, `weights`, `column_operands` and `outs`, the attributes `reverse`,
// `gates`, `num_states` and `stores_all`, and the regions `cell` and `reset`.
// For all directions, `outs` are the outputs of each step with `stores_all`,
// the states, and one buffer for what the kernel computes in between.
defvar recurrentDeclarations = [{
  ::mlir::MutableOperandRange getDpsInitsMutable() {
    return getOutsMutable();
  }
  ::llvm::StringRef getKernelKind() { return "recurrence"; }
  ::ingot::kernel::Work getWork() {
    using ::ingot::kernel::Factor;
    int64_t each = 2 * numDirections() * numProducts() * hidden() * hidden();
    return {Factor(getSrcs()[0], 0), Factor(getSrcs()[0], 1), each};
  }
  int64_t numDirections() { return int64_t(getReverse().size()); }
  bool hasReset() { return !getReset().empty(); }
  /// Returns the number of column operands of a direction.
  int64_t numColumnOperands() {
    return int64_t(getColumnOperands().size()) / numDirections();
  }
  /// Returns the number of elements of a state.
  int64_t hidden() {
    return ::mlir::cast<::mlir::ShapedType>(state(0, 0).getType())
        .getShape().back();
  }
  /// Returns the number of gates that the input contributes to.
  int64_t numInputs() {
    return ::mlir::cast<::mlir::ShapedType>(getSrcs()[0].getType())
        .getShape().back() / hidden();
  }
  int64_t numProducts() {
    int64_t sum = 0;
    for (int64_t gates : getGates())
      sum += gates;
    return sum;
  }
  ::mlir::Value weightsOf(int64_t direction, int64_t i) {
    return getWeights()[direction * int64_t(getGates().size()) + i];
  }
  ::mlir::Value columnOperand(int64_t direction, int64_t i) {
    return getColumnOperands()[direction * numColumnOperands() + i];
  }
  /// Returns the tensor for the outputs of all steps; null if not stored.
  ::mlir::Value all(int64_t direction) {
    return getStoresAll() ? getOuts()[direction] : ::mlir::Value();
  }
  ::mlir::Value state(int64_t direction, int64_t i) {
    return getOuts()[firstState() + direction * int64_t(getNumStates()) + i];
  }
  /// Returns the buffer for what the kernel computes in between.
  ::mlir::Value room(int64_t direction) {
    return getOuts()[firstState() +
                     numDirections() * int64_t(getNumStates()) + direction];
  }
  int64_t firstState() { return getStoresAll() ? numDirections() : 0; }
}];

#endif // INGOT_DIALECTS_KERNEL_RECURRENT_TD
