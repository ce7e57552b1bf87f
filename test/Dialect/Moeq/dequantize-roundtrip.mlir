// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!w = !moeq.scaled<i8, block = [*], scale = f32>
!i4 = !moeq.scaled<i4, block = [32], scale = f16>

// CHECK-LABEL: @tensor
// CHECK: moeq.dequantize input(%{{.*}} : tensor<8x?x256x!{{.*}}>) outs(%{{.*}} : tensor<8x?x256xf32>) -> tensor<8x?x256xf32>
func.func @tensor(%q: tensor<8x?x256x!w>, %init: tensor<8x?x256xf32>) -> tensor<8x?x256xf32> {
  %0 = moeq.dequantize input(%q : tensor<8x?x256x!w>) outs(%init : tensor<8x?x256xf32>) -> tensor<8x?x256xf32>
  return %0 : tensor<8x?x256xf32>
}

// CHECK-LABEL: @components
// CHECK: moeq.dequantize input(%{{.*}}, %{{.*}} : memref<4x17xi8>, memref<4x2xf16> as !{{.*}}) outs(%{{.*}} : memref<4x33xbf16>)
func.func @components(%v: memref<4x17xi8>, %s: memref<4x2xf16>, %y: memref<4x33xbf16>) {
  moeq.dequantize input(%v, %s : memref<4x17xi8>, memref<4x2xf16> as !i4) outs(%y : memref<4x33xbf16>)
  return
}
