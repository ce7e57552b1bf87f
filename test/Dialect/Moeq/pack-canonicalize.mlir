// RUN: moeq-opt %s --canonicalize | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!b = !moeq.scaled<f8E4M3FN, block = [1, 128], scale = f32>
!c = !moeq.scaled<f8E4M3FN, block = [2, 128], scale = f32>

// CHECK-LABEL: @pack_of_unpack(
// CHECK-SAME: %[[X:[^:]*]]:
// CHECK-NEXT: return %[[X]]
func.func @pack_of_unpack(%x: tensor<4x256x!a>) -> tensor<4x256x!b> {
  %v, %s = moeq.unpack %x : tensor<4x256x!a> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  %0 = moeq.pack %v, %s : tensor<4x256xf8E4M3FN>, tensor<4x2xf32> -> tensor<4x256x!b>
  return %0 : tensor<4x256x!b>
}

// CHECK-LABEL: @unpack_of_pack(
// CHECK-SAME: %[[V:.*]]: tensor<4x256xf8E4M3FN>, %[[S:[^:]*]]:
// CHECK-NEXT: return %[[V]], %[[S]]
func.func @unpack_of_pack(%v: tensor<4x256xf8E4M3FN>, %s: tensor<4x2xf32>) -> (tensor<4x256xf8E4M3FN>, tensor<4x2xf32>) {
  %0 = moeq.pack %v, %s : tensor<4x256xf8E4M3FN>, tensor<4x2xf32> -> tensor<4x256x!a>
  %1, %2 = moeq.unpack %0 : tensor<4x256x!a> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  return %1, %2 : tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
}

// The block of the pack differs, though the components of one row are the same.
// CHECK-LABEL: @other_block
// CHECK: moeq.unpack
// CHECK: moeq.pack
func.func @other_block(%x: tensor<1x256x!a>) -> tensor<1x256x!c> {
  %v, %s = moeq.unpack %x : tensor<1x256x!a> -> tensor<1x256xf8E4M3FN>, tensor<1x2xf32>
  %0 = moeq.pack %v, %s : tensor<1x256xf8E4M3FN>, tensor<1x2xf32> -> tensor<1x256x!c>
  return %0 : tensor<1x256x!c>
}

// CHECK-LABEL: @swapped
// CHECK: moeq.unpack
// CHECK: moeq.unpack
// CHECK: moeq.pack
func.func @swapped(%x: tensor<4x256x!a>, %y: tensor<4x256x!a>) -> tensor<4x256x!a> {
  %v, %s = moeq.unpack %x : tensor<4x256x!a> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  %w, %t = moeq.unpack %y : tensor<4x256x!a> -> tensor<4x256xf8E4M3FN>, tensor<4x2xf32>
  %0 = moeq.pack %v, %t : tensor<4x256xf8E4M3FN>, tensor<4x2xf32> -> tensor<4x256x!a>
  return %0 : tensor<4x256x!a>
}

// An op on tensors has no effect: without uses it goes. On memrefs it stays.
// CHECK-LABEL: @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<4x256xf32>, %init: tensor<4x256x!a>) {
  %0 = moeq.quantize input(%x : tensor<4x256xf32>) outs(%init : tensor<4x256x!a>) recipe(<amax>) -> tensor<4x256x!a>
  return
}

// CHECK-LABEL: @effects
// CHECK: moeq.quantize
func.func @effects(%x: memref<4x256xf32>, %v: memref<4x256xf8E4M3FN>, %s: memref<4x2xf32>) {
  moeq.quantize input(%x : memref<4x256xf32>) outs(%v, %s : memref<4x256xf8E4M3FN>, memref<4x2xf32> as !a) recipe(<amax>)
  return
}
