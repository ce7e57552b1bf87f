// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!z = !moeq.scaled<ui4, block = [32], scale = bf16, zero = i8>

// CHECK-LABEL: @two
// CHECK: %[[X:.*]]:2 = moeq.unpack %{{.*}} : tensor<?x200x!{{.*}}> -> tensor<?x200xf8E4M3FN>, tensor<?x2xf32>
// CHECK: moeq.pack %[[X]]#0, %[[X]]#1 : tensor<?x200xf8E4M3FN>, tensor<?x2xf32> -> tensor<?x200x!{{.*}}>
func.func @two(%x: tensor<?x200x!a>) -> tensor<?x200x!a> {
  %v, %s = moeq.unpack %x : tensor<?x200x!a> -> tensor<?x200xf8E4M3FN>, tensor<?x2xf32>
  %0 = moeq.pack %v, %s : tensor<?x200xf8E4M3FN>, tensor<?x2xf32> -> tensor<?x200x!a>
  return %0 : tensor<?x200x!a>
}

// CHECK-LABEL: @three
// CHECK: moeq.unpack %{{.*}} : tensor<8x4x33x!{{.*}}> -> tensor<8x4x17xi8>, tensor<8x4x2xbf16>, tensor<8x4x2xi8>
func.func @three(%x: tensor<8x4x33x!z>) -> tensor<8x4x17xi8> {
  %v, %s, %z = moeq.unpack %x : tensor<8x4x33x!z> -> tensor<8x4x17xi8>, tensor<8x4x2xbf16>, tensor<8x4x2xi8>
  return %v : tensor<8x4x17xi8>
}

// Constants of scaled type are a pack of constants.
// CHECK-LABEL: @constant
// CHECK: moeq.pack %{{.*}}, %{{.*}} : tensor<1x2xf8E4M3FN>, tensor<1x1xf32>
func.func @constant() -> tensor<1x2x!a> {
  %v = arith.constant dense<"0x3840"> : tensor<1x2xf8E4M3FN>
  %s = arith.constant dense<0.5> : tensor<1x1xf32>
  %0 = moeq.pack %v, %s : tensor<1x2xf8E4M3FN>, tensor<1x1xf32> -> tensor<1x2x!a>
  return %0 : tensor<1x2x!a>
}
