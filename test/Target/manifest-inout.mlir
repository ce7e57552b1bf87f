// An argument that kernels write is one for both ways, whether it is returned or holds what is on the way;
// a result that is an argument has no buffer of its own.

// RUN: moeq-compile %s -o %t --emit=manifest
// RUN: FileCheck %s < %t/manifest.json
// RUN: moeq-compile %S/../../examples/te-grouped-linear-tiny-mxfp8.mlir -o %t.te --emit=manifest
// RUN: FileCheck %s --check-prefix=SUM < %t.te/manifest.json

// CHECK: "name": "x",
// CHECK-NEXT: "role": "input",
// CHECK: "name": "between",
// CHECK-NEXT: "role": "inout",
// CHECK: "name": "y",
// CHECK-NEXT: "role": "inout",
// CHECK: "name": "unused",
// CHECK-NEXT: "role": "input",
// CHECK-NOT: "role"
func.func @twice(%x: tensor<?x128xbf16> {moeq.name = "x"},
                 %between: tensor<?x128xbf16> {moeq.name = "between"},
                 %y: tensor<?x128xbf16> {moeq.name = "y"},
                 %unused: tensor<4xf32> {moeq.name = "unused"})
    -> (tensor<?x128xbf16>, tensor<4xf32>) {
  %0 = moeq.activate input(%x : tensor<?x128xbf16>) outs(%between : tensor<?x128xbf16>)
      function(silu) -> tensor<?x128xbf16>
  %1 = moeq.activate input(%0 : tensor<?x128xbf16>) outs(%y : tensor<?x128xbf16>)
      function(relu) -> tensor<?x128xbf16>
  return %1, %unused : tensor<?x128xbf16>, tensor<4xf32>
}

// SUM: "swiglu_backward": {
// SUM: "name": "offsets",
// SUM-NEXT: "role": "input",
// SUM: "name": "dw1",
// SUM-NEXT: "role": "inout",
// SUM: "name": "dw2",
// SUM-NEXT: "role": "inout",
// SUM: "name": "result0",
// SUM-NEXT: "role": "output",
// SUM-NOT: "role": "output",
// SUM: "kernels": [
