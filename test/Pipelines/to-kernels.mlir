// Tensors become memrefs, and ops kernels with their launches.

// RUN: moeq-opt %s --moeq-to-kernels='chip=sm_89' | FileCheck %s
// RUN: moeq-compile %s -o %t --emit=ptx,manifest | FileCheck %s --check-prefix=LINES
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/manifest.json

// CHECK: moeq.target = #moeq.target<chip = "sm_89">
// CHECK: gpu.module @gate_kernels
// CHECK: llvm.func @gate_activate
// CHECK-LABEL: func.func @gate(
// CHECK-SAME: memref<?x512xbf16> {moeq.name = "x"}
// CHECK-SAME: -> memref<?x256xbf16>
// CHECK-NOT: moeq.activate
// CHECK: gpu.launch_func @gate_kernels::@gate_activate

// LINES: gate_activate: grid [{{.*}}x.0{{.*}}, 1, 1]

// MANIFEST: "name": "x"
// MANIFEST: "element": "bf16"
// MANIFEST: "name": "result0"
// MANIFEST: "file": "gate_activate.ptx"
func.func @gate(%x: tensor<?x512xbf16> {moeq.name = "x"}) -> tensor<?x256xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %init = tensor.empty(%rows) : tensor<?x256xbf16>
  %result = moeq.activate input(%x : tensor<?x512xbf16>) outs(%init : tensor<?x256xbf16>)
      function(swiglu) -> tensor<?x256xbf16>
  return %result : tensor<?x256xbf16>
}
