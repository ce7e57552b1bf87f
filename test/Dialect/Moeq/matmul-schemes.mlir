// Each scheme of activation and weight, as the operands of both matmuls.
// RUN: moeq-opt %s -split-input-file | FileCheck %s
// RUN: moeq-opt %s -split-input-file --mlir-print-op-generic | moeq-opt -split-input-file | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-unpack-scaled | moeq-opt -split-input-file | FileCheck %s --check-prefix=UNPACKED

!a = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>

// CHECK-LABEL: func @fp8_per_tensor(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @fp8_per_tensor(
// UNPACKED: moeq.matmul lhs(%{{.*}}, %{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @fp8_per_tensor(%a: tensor<?x256x!a>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!a = !moeq.scaled<f8E5M2, block = [*, *], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>

// CHECK-LABEL: func @fp8_per_tensor_e5m2(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @fp8_per_tensor_e5m2(
// UNPACKED: moeq.matmul lhs(%{{.*}}, %{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @fp8_per_tensor_e5m2(%a: tensor<?x256x!a>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @fp8_per_token(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @fp8_per_token(
// UNPACKED: moeq.matmul lhs(%{{.*}}, %{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @fp8_per_token(%a: tensor<?x256x!a>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!a = !moeq.scaled<i8, block = [*], scale = f32>
!w = !moeq.scaled<i8, block = [*], scale = f32>

// CHECK-LABEL: func @int8_per_token(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @int8_per_token(
// UNPACKED: moeq.matmul lhs(%{{.*}}, %{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @int8_per_token(%a: tensor<?x256x!a>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// CHECK-LABEL: func @fp8_blockwise(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @fp8_blockwise(
// UNPACKED: moeq.matmul lhs(%{{.*}}, %{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @fp8_blockwise(%a: tensor<?x256x!a>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!w = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// CHECK-LABEL: func @mxfp8(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @mxfp8(
// UNPACKED: moeq.matmul lhs(%{{.*}}, %{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @mxfp8(%a: tensor<?x256x!a>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256x!a>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32>

// CHECK-LABEL: func @w8a16_int8_bf16_channel(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_bf16_channel(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_bf16_channel(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_bf16_channel(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_bf16_channel(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_bf16_channel(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [32], scale = f32>

// CHECK-LABEL: func @w8a16_int8_bf16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_bf16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_bf16_32(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_bf16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_bf16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_bf16_32(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [64], scale = f32>

// CHECK-LABEL: func @w8a16_int8_bf16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_bf16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_bf16_64(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [64], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_bf16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_bf16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_bf16_64(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [128], scale = f32>

// CHECK-LABEL: func @w8a16_int8_bf16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_bf16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_bf16_128(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_bf16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_bf16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_bf16_128(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i4, block = [32], scale = bf16>

// CHECK-LABEL: func @w4a16_bf16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_bf16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_bf16_32(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [32], scale = bf16, zero = i8>

// CHECK-LABEL: func @w4a16_zero_bf16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_zero_bf16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_zero_bf16_32(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [32], scale = bf16, zero = bf16>

// CHECK-LABEL: func @w4a16_float_zero_bf16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_float_zero_bf16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_float_zero_bf16_32(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i4, block = [64], scale = bf16>

// CHECK-LABEL: func @w4a16_bf16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_bf16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_bf16_64(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [64], scale = bf16, zero = i8>

// CHECK-LABEL: func @w4a16_zero_bf16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_zero_bf16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_zero_bf16_64(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [64], scale = bf16, zero = bf16>

// CHECK-LABEL: func @w4a16_float_zero_bf16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_float_zero_bf16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_float_zero_bf16_64(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i4, block = [128], scale = bf16>

// CHECK-LABEL: func @w4a16_bf16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_bf16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_bf16_128(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8>

// CHECK-LABEL: func @w4a16_zero_bf16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_zero_bf16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_zero_bf16_128(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [128], scale = bf16, zero = bf16>

// CHECK-LABEL: func @w4a16_float_zero_bf16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_float_zero_bf16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_float_zero_bf16_128(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU>

// CHECK-LABEL: func @mxfp4_bf16(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @mxfp4_bf16(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @mxfp4_bf16(%a: tensor<?x256xbf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xbf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xbf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32>

// CHECK-LABEL: func @w8a16_int8_f16_channel(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_f16_channel(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_f16_channel(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_f16_channel(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_f16_channel(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_f16_channel(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [32], scale = f32>

// CHECK-LABEL: func @w8a16_int8_f16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_f16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_f16_32(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_f16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_f16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_f16_32(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [64], scale = f32>

// CHECK-LABEL: func @w8a16_int8_f16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_f16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_f16_64(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [64], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_f16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_f16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_f16_64(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i8, block = [128], scale = f32>

// CHECK-LABEL: func @w8a16_int8_f16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_int8_f16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_int8_f16_128(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @w8a16_fp8_f16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w8a16_fp8_f16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w8a16_fp8_f16_128(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i4, block = [32], scale = f16>

// CHECK-LABEL: func @w4a16_f16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_f16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_f16_32(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [32], scale = f16, zero = i8>

// CHECK-LABEL: func @w4a16_zero_f16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_zero_f16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_zero_f16_32(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [32], scale = f16, zero = f16>

// CHECK-LABEL: func @w4a16_float_zero_f16_32(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_float_zero_f16_32(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_float_zero_f16_32(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i4, block = [64], scale = f16>

// CHECK-LABEL: func @w4a16_f16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_f16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_f16_64(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [64], scale = f16, zero = i8>

// CHECK-LABEL: func @w4a16_zero_f16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_zero_f16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_zero_f16_64(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [64], scale = f16, zero = f16>

// CHECK-LABEL: func @w4a16_float_zero_f16_64(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_float_zero_f16_64(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_float_zero_f16_64(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<i4, block = [128], scale = f16>

// CHECK-LABEL: func @w4a16_f16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_f16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_f16_128(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [128], scale = f16, zero = i8>

// CHECK-LABEL: func @w4a16_zero_f16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_zero_f16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_zero_f16_128(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<ui4, block = [128], scale = f16, zero = f16>

// CHECK-LABEL: func @w4a16_float_zero_f16_128(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @w4a16_float_zero_f16_128(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @w4a16_float_zero_f16_128(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}

// -----

!w = !moeq.scaled<f4E2M1FN, block = [32], scale = f8E8M0FNU>

// CHECK-LABEL: func @mxfp4_f16(
// CHECK: moeq.matmul
// CHECK: moeq.grouped_matmul
// UNPACKED-LABEL: func @mxfp4_f16(
// UNPACKED: moeq.matmul lhs(%{{.*}} : {{.*}}) rhs(%{{.*}}, %{{.*}} : {{.*}} as !{{.*}})
// UNPACKED: moeq.grouped_matmul
func.func @mxfp4_f16(%a: tensor<?x256xf16>, %b: tensor<384x256x!w>, %w: tensor<8x384x256x!w>, %o: tensor<9xi32>, %init: tensor<?x384xbf16>) -> (tensor<?x384xbf16>, tensor<?x384xbf16>) {
  %0 = moeq.matmul lhs(%a : tensor<?x256xf16>) rhs(%b : tensor<384x256x!w>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  %1 = moeq.grouped_matmul lhs(%a : tensor<?x256xf16>) rhs(%w : tensor<8x384x256x!w>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x384xbf16>) -> tensor<?x384xbf16>
  return %0, %1 : tensor<?x384xbf16>, tensor<?x384xbf16>
}
