// RUN: split-file %s %t
// RUN: ingot-opt %t/model.mlir --ingot-attach-calibration=file=%t/all.json | FileCheck %s
// RUN: ingot-opt %t/model.mlir --ingot-attach-calibration=file=%t/all.json | ingot-opt --nn-equalize-layers | FileCheck %s
// RUN: ingot-opt %t/model.mlir --ingot-attach-calibration=file=%t/ranges.json | FileCheck %s --check-prefix=RANGES
// RUN: ingot-opt %t/attached.mlir --ingot-attach-calibration=file=no/file.json | FileCheck %s --check-prefix=KEEP
// RUN: ingot-opt %t/attached.mlir --ingot-attach-calibration=file=%t/ranges.json | FileCheck %s --check-prefix=RANGES
// RUN: not ingot-opt %t/model.mlir --ingot-attach-calibration=file=no/file.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ingot-opt %t/model.mlir --ingot-attach-calibration=file=%t/scale.json 2>&1 | FileCheck %s --check-prefix=SCALE
// MLIR renames a resource that one context reads twice.
// UNSUPPORTED: roundtrip

// All parts of the file are in the attribute; rounding bits of weights are a
// resource.
// CHECK: ingot.calibration = #ingot.calibration<"{{.*}}all.json" tensors = [<"x", min = -1.000000e+00, max = 2.000000e+00, scale = 1.250000e-02, zero_point = 80>, <"a + b", min = 0.000000e+00, max = 0.333333343, scale = 1.250000e-01, zero_point = 0>]
// CHECK-SAME: equalize = true channels = [<"norm", [1.600000e+01, 1.000000e+00]>] biases = [<"conv", [2.500000e-01, -2.500000e-01]>, <"empty", []>] rounding = [<"fc1", dense_resource<rounding> : tensor<2xi8>>]>
// CHECK: rounding: "0x0100000005FF"

// RANGES: ingot.calibration = #ingot.calibration<"{{.*}}ranges.json" tensors = [<"x", min = -1.000000e+00, max = 2.000000e+00, scale = 1.250000e-02, zero_point = 80>]>
// RANGES-NOT: dialect_resources

// A module keeps its calibration if the file has its name.
// KEEP: ingot.calibration = #ingot.calibration<"no/file.json" equalize = true>

// NONE: error: cannot read 'no/file.json': {{[Nn]}}o such file
// SCALE: error: '{{.*}}scale.json': tensor 'x' has a "scale" of 0, but it must be a normal number above 0

//--- model.mlir
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- attached.mlir
module attributes {ingot.calibration = #ingot.calibration<"no/file.json" equalize = true>} {
}

//--- all.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "x", "min": -1, "max": 2, "scale": 0.0125, "zero_point": 80},
  {"name": "a + b", "min": 0, "max": 0.33333333, "scale": 0.125, "zero_point": 0}],
 "repair": {"equalize": true, "channels": [{"name": "norm", "values": [16, 1]}],
  "biases": [{"name": "conv", "values": [0.25, -0.25]}, {"name": "empty", "values": []}],
  "adaround": [{"name": "fc1", "up": "Bf8="}]}}

//--- ranges.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0.0125, "zero_point": 80}]}

//--- scale.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0, "zero_point": 80}]}
