// RUN: moeq-opt %s -split-input-file -verify-diagnostics --moeq-outline-kernels --canonicalize | FileCheck %s

// One kernel, which two launches give an expert's slice of the weight and its offsets.

// CHECK-LABEL: gpu.module @experts_kernels
// CHECK:         llvm.func @experts_grouped_matmul(
// CHECK-NOT:     llvm.func
// CHECK-LABEL: func @experts(
// CHECK-SAME:      %[[A:.*]]: memref<?x256xbf16>, %[[W:.*]]: memref<2x384x256xbf16>, %[[OFFSETS:.*]]: memref<3xi32>
// CHECK-DAG:     %[[W1:.*]] = memref.subview %[[W]][1, 0, 0]
// CHECK-DAG:     %[[O1:.*]] = memref.subview %[[OFFSETS]][1]
// CHECK:         gpu.launch_func @experts_kernels::@experts_grouped_matmul blocks
// CHECK:         %[[M1:.*]] = moeq_gpu.encode_tensor_map %[[W1]] : memref<1x384x256xbf16, strided<[98304, 256, 1], offset: 98304>>
// CHECK:         gpu.launch_func @experts_kernels::@experts_grouped_matmul blocks
// CHECK-SAME:      %[[M1]] : !moeq_gpu.tensor_map
// CHECK-SAME:      %[[O1]] : memref<2xi32, strided<[1], offset: 1>>
func.func @experts(%a: memref<?x256xbf16>, %w: memref<2x384x256xbf16>, %offsets: memref<3xi32>, %out: memref<?x384xf32>) {
  %w0 = memref.subview %w[0, 0, 0] [1, 384, 256] [1, 1, 1] : memref<2x384x256xbf16> to memref<1x384x256xbf16, strided<[98304, 256, 1]>>
  %w1 = memref.subview %w[1, 0, 0] [1, 384, 256] [1, 1, 1] : memref<2x384x256xbf16> to memref<1x384x256xbf16, strided<[98304, 256, 1], offset: 98304>>
  %o0 = memref.subview %offsets[0] [2] [1] : memref<3xi32> to memref<2xi32, strided<[1]>>
  %o1 = memref.subview %offsets[1] [2] [1] : memref<3xi32> to memref<2xi32, strided<[1], offset: 1>>
  moeq.grouped_matmul lhs(%a : memref<?x256xbf16>) rhs(%w0 : memref<1x384x256xbf16, strided<[98304, 256, 1]>>)
      offsets(%o0 : memref<2xi32, strided<[1]>>) outs(%out : memref<?x384xf32>)
  moeq.grouped_matmul lhs(%a : memref<?x256xbf16>) rhs(%w1 : memref<1x384x256xbf16, strided<[98304, 256, 1], offset: 98304>>)
      offsets(%o1 : memref<2xi32, strided<[1], offset: 1>>) outs(%out : memref<?x384xf32>)
  return
}

// -----

// Kernels that differ stay.

// CHECK-LABEL: gpu.module @differ_kernels
// CHECK:         llvm.func @differ_activate(
// CHECK:         llvm.func @differ_activate_1(
// CHECK-NOT:     llvm.func
// CHECK-LABEL: func @differ(
// CHECK:         gpu.launch_func @differ_kernels::@differ_activate blocks
// CHECK:         gpu.launch_func @differ_kernels::@differ_activate_1 blocks
// CHECK:         gpu.launch_func @differ_kernels::@differ_activate blocks
func.func @differ(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>, %z: memref<?x64xbf16>) {
  moeq.activate input(%x : memref<?x64xbf16>) outs(%y : memref<?x64xbf16>) function(silu)
  moeq.activate input(%x : memref<?x64xbf16>) outs(%z : memref<?x64xbf16>) function(relu)
  moeq.activate input(%y : memref<?x64xbf16>) outs(%z : memref<?x64xbf16>) function(silu)
  return
}

// -----

// TMA starts at multiples of 16 bytes.

// CHECK-LABEL: gpu.module @misaligned_kernels
func.func @misaligned(%a: memref<?x64xbf16>, %w: memref<8200xbf16>, %out: memref<?x128xf32>) {
  %b = memref.reinterpret_cast %w to offset: [4], sizes: [128, 64], strides: [64, 1]
      : memref<8200xbf16> to memref<128x64xbf16, strided<[64, 1], offset: 4>>
  // expected-remark @below {{runs without tensor cores: operands start at multiples of 16 bytes, got memref<128x64xbf16, strided<[64, 1], offset: 4>>}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%b : memref<128x64xbf16, strided<[64, 1], offset: 4>>)
      outs(%out : memref<?x128xf32>)
  return
}
