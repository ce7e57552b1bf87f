// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!i4 = !moeq.scaled<ui4, block = [32], scale = bf16, zero = i8>

// CHECK-LABEL: @tensor
// CHECK: moeq.quantize input(%{{.*}} : tensor<?x256xbf16>) outs(%{{.*}} : tensor<?x256x!{{.*}}>) recipe(<deepgemm>) -> tensor<?x256x!{{.*}}>
func.func @tensor(%x: tensor<?x256xbf16>, %init: tensor<?x256x!a>) -> tensor<?x256x!a> {
  %0 = moeq.quantize input(%x : tensor<?x256xbf16>) outs(%init : tensor<?x256x!a>)
      recipe(<deepgemm>) -> tensor<?x256x!a>
  return %0 : tensor<?x256x!a>
}

// CHECK-LABEL: @rows
// CHECK: moeq.quantize input(%{{.*}} : tensor<?x64xf32>) rows(%{{.*}} : tensor<6xi32>) outs(%{{.*}} : tensor<6x64x!{{.*}}>) recipe(<te_mx>)
func.func @rows(%x: tensor<?x64xf32>, %rows: tensor<6xi32>, %init: tensor<6x64x!mx>) -> tensor<6x64x!mx> {
  %0 = moeq.quantize input(%x : tensor<?x64xf32>) rows(%rows : tensor<6xi32>)
      outs(%init : tensor<6x64x!mx>) recipe(<te_mx>) -> tensor<6x64x!mx>
  return %0 : tensor<6x64x!mx>
}

// CHECK-LABEL: @components
// CHECK: moeq.quantize input(%{{.*}} : memref<4x33xf16>) outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<4x17xi8>, memref<4x2xbf16>, memref<4x2xi8> as !{{.*}}) recipe(<awq>)
func.func @components(%x: memref<4x33xf16>, %v: memref<4x17xi8>, %s: memref<4x2xbf16>, %z: memref<4x2xi8>) {
  moeq.quantize input(%x : memref<4x33xf16>)
      outs(%v, %s, %z : memref<4x17xi8>, memref<4x2xbf16>, memref<4x2xi8> as !i4) recipe(<awq>)
  return
}

// A block of 3 of 3 elements in two bytes: the scales tell that the last nibble is padding.
!odd = !moeq.scaled<i4, block = [3], scale = f32>

// CHECK-LABEL: @odd
// CHECK: moeq.quantize input(%{{.*}} : tensor<2x3xf32>)
func.func @odd(%x: tensor<2x3xf32>, %v: tensor<2x2xi8>, %s: tensor<2x1xf32>) -> (tensor<2x2xi8>, tensor<2x1xf32>) {
  %0:2 = moeq.quantize input(%x : tensor<2x3xf32>)
      outs(%v, %s : tensor<2x2xi8>, tensor<2x1xf32> as !odd) recipe(<int4_sym>) -> tensor<2x2xi8>, tensor<2x1xf32>
  return %0#0, %0#1 : tensor<2x2xi8>, tensor<2x1xf32>
}
