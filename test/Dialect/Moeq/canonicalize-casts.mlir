// RUN: moeq-opt %s -canonicalize | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// Static extents move through casts into ops.
// CHECK-LABEL: func @matmul(
// CHECK-SAME: %[[A:[^:]*]]: tensor<8x256x!{{[^>]*}}>, %[[W:[^:]*]]: tensor<512x256x!{{[^>]*}}>, %[[B:[^:]*]]: tensor<512xf32>, %[[INIT:[^:]*]]: tensor<8x512xbf16>
// CHECK-NEXT: %[[R:.*]] = moeq.matmul lhs(%[[A]] : {{.*}}) rhs(%[[W]] : {{.*}}) outs(%[[INIT]] : tensor<8x512xbf16>) epilogue(%[[B]] : tensor<512xf32>) maps [column]
// CHECK: } -> tensor<8x512xbf16>
// CHECK-NEXT: tensor.cast %[[R]] : tensor<8x512xbf16> to tensor<?x?xbf16>
func.func @matmul(%a: tensor<8x256x!a>, %w: tensor<512x256x!w>, %b: tensor<512xf32>, %init: tensor<8x512xbf16>) -> tensor<?x?xbf16> {
  %0 = tensor.cast %a : tensor<8x256x!a> to tensor<?x256x!a>
  %1 = tensor.cast %w : tensor<512x256x!w> to tensor<?x256x!w>
  %2 = tensor.cast %init : tensor<8x512xbf16> to tensor<?x?xbf16>
  %3 = tensor.cast %b : tensor<512xf32> to tensor<?xf32>
  %4 = moeq.matmul lhs(%0 : tensor<?x256x!a>) rhs(%1 : tensor<?x256x!w>) outs(%2 : tensor<?x?xbf16>) epilogue(%3 : tensor<?xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %x: f32):
      %s = arith.addf %acc, %x : f32
      %r = arith.truncf %s : f32 to bf16
      moeq.yield %r : bf16
  } -> tensor<?x?xbf16>
  return %4 : tensor<?x?xbf16>
}

// CHECK-LABEL: func @quantize(
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8x256x!
// CHECK: moeq.quantize input(%{{.*}} : tensor<8x256xbf16>) outs(%[[E]] : tensor<8x256x!
func.func @quantize(%x: tensor<8x256xbf16>) -> tensor<?x256x!a> {
  %e = tensor.empty() : tensor<8x256x!a>
  %0 = tensor.cast %x : tensor<8x256xbf16> to tensor<?x256xbf16>
  %1 = tensor.cast %e : tensor<8x256x!a> to tensor<?x256x!a>
  %2 = moeq.quantize input(%0 : tensor<?x256xbf16>) outs(%1 : tensor<?x256x!a>) recipe(<deepgemm>) -> tensor<?x256x!a>
  return %2 : tensor<?x256x!a>
}

// The extent of a result is that of its init.
// CHECK-LABEL: func @dim(
// CHECK-SAME: %{{[^:]*}}: tensor<?x256xbf16>, %[[Q:[^:]*]]: tensor<?x256x!
// CHECK: tensor.dim %[[Q]]
// CHECK-NOT: moeq.quantize
func.func @dim(%x: tensor<?x256xbf16>, %q: tensor<?x256x!a>) -> index {
  %c0 = arith.constant 0 : index
  %0 = moeq.quantize input(%x : tensor<?x256xbf16>) outs(%q : tensor<?x256x!a>) recipe(<deepgemm>) -> tensor<?x256x!a>
  %1 = tensor.dim %0, %c0 : tensor<?x256x!a>
  return %1 : index
}
