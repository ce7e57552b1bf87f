// The component shapes that a type implies, as moeq.unpack verifies them.
// RUN: moeq-opt %s | FileCheck %s

!fp8 = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>
!token = !moeq.scaled<i8, block = [*], scale = f32>
!tensor = !moeq.scaled<i8, block = [*, *], scale = f32>
!int4 = !moeq.scaled<i4, block = [32], scale = bf16, zero = i8>
!mn = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>
!mn16 = !moeq.scaled<f8E4M3FN, block = [128], scale = bf16, layout = mn_major>
!padded = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = padded<128x4>>
!swizzled = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>

// CHECK-LABEL: @tails
// CHECK: tensor<3x200x300xf8E4M3FN>, tensor<3x2x3xf32>
// CHECK: tensor<?x?x?xf8E4M3FN>, tensor<?x?x?xf32>
func.func @tails(%a: tensor<3x200x300x!fp8>, %b: tensor<?x?x?x!fp8>) {
  %0:2 = moeq.unpack %a : tensor<3x200x300x!fp8> -> tensor<3x200x300xf8E4M3FN>, tensor<3x2x3xf32>
  %1:2 = moeq.unpack %b : tensor<?x?x?x!fp8> -> tensor<?x?x?xf8E4M3FN>, tensor<?x?x?xf32>
  return
}

// CHECK-LABEL: @whole_extents
// CHECK: tensor<?x?xi8>, tensor<?x1xf32>
// CHECK: tensor<8x?x?xi8>, tensor<8x1x1xf32>
// CHECK: tensor<0x0xi8>, tensor<0x1xf32>
func.func @whole_extents(%a: tensor<?x?x!token>, %b: tensor<8x?x?x!tensor>, %c: tensor<0x0x!token>) {
  %0:2 = moeq.unpack %a : tensor<?x?x!token> -> tensor<?x?xi8>, tensor<?x1xf32>
  %1:2 = moeq.unpack %b : tensor<8x?x?x!tensor> -> tensor<8x?x?xi8>, tensor<8x1x1xf32>
  %2:2 = moeq.unpack %c : tensor<0x0x!token> -> tensor<0x0xi8>, tensor<0x1xf32>
  return
}

// CHECK-LABEL: @packed
// CHECK: tensor<?x33xi8>, tensor<?x3xbf16>, tensor<?x3xi8>
// CHECK: tensor<0xi8>, tensor<0xbf16>, tensor<0xi8>
func.func @packed(%a: tensor<?x65x!int4>, %b: tensor<0x!int4>) {
  %0:3 = moeq.unpack %a : tensor<?x65x!int4> -> tensor<?x33xi8>, tensor<?x3xbf16>, tensor<?x3xi8>
  %1:3 = moeq.unpack %b : tensor<0x!int4> -> tensor<0xi8>, tensor<0xbf16>, tensor<0xi8>
  return
}

// Rows of scales are padded to 16 bytes where they are contiguous.
// CHECK-LABEL: @layouts
// CHECK: tensor<5x256xf8E4M3FN>, tensor<2x8xf32>
// CHECK: tensor<5x256xf8E4M3FN>, tensor<2x8xbf16>
// CHECK: tensor<3x130x160xf8E4M3FN>, tensor<3x256x8xf8E8M0FNU>
// CHECK: tensor<?x160xf8E4M3FN>, tensor<?x8xf8E8M0FNU>
func.func @layouts(%a: tensor<5x256x!mn>, %b: tensor<5x256x!mn16>, %c: tensor<3x130x160x!padded>, %d: tensor<?x160x!swizzled>) {
  %0:2 = moeq.unpack %a : tensor<5x256x!mn> -> tensor<5x256xf8E4M3FN>, tensor<2x8xf32>
  %1:2 = moeq.unpack %b : tensor<5x256x!mn16> -> tensor<5x256xf8E4M3FN>, tensor<2x8xbf16>
  %2:2 = moeq.unpack %c : tensor<3x130x160x!padded> -> tensor<3x130x160xf8E4M3FN>, tensor<3x256x8xf8E8M0FNU>
  %3:2 = moeq.unpack %d : tensor<?x160x!swizzled> -> tensor<?x160xf8E4M3FN>, tensor<?x8xf8E8M0FNU>
  return
}
