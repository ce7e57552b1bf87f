// RUN: moeq-opt %s --moeq-to-linalg | FileCheck %s

// The bits of amax, then the scale, then the codes, block by block; the last
// block ends with the row.
// CHECK-LABEL: func @group
// CHECK-SAME:    (%[[X:.*]]: memref<?x100xbf16>, %[[Q:.*]]: memref<?x100xf8E4M3FN>, %[[S:.*]]: memref<?x4xf32>)
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK:           scf.for %[[BLOCK:.*]] =
// CHECK:             arith.minui
// CHECK:             %[[END:.*]] = arith.minui
// CHECK:             %[[AMAX:.*]] = scf.for {{.*}} -> (i32)
// CHECK:               arith.maxui
// CHECK:             memref.store %[[SCALE:.*]], %[[S]][%[[ROW]], %[[BLOCK]]]
// CHECK:             scf.for %[[R:[^ ]*]] =
// CHECK:             scf.for %[[K:[^ ]*]] = %{{.*}} to %[[END]]
// CHECK:               %[[V:.*]] = arith.divf %{{.*}}, %[[SCALE]]
// CHECK:               %[[CODE:.*]] = arith.truncf %[[V]] : f32 to f8E4M3FN
// CHECK:               memref.store %[[CODE]], %[[Q]][%[[R]], %[[K]]]
!g = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
func.func @group(%x: memref<?x100xbf16>, %q: memref<?x100xf8E4M3FN>, %s: memref<?x4xf32>) {
  moeq.quantize input(%x : memref<?x100xbf16>)
      outs(%q, %s : memref<?x100xf8E4M3FN>, memref<?x4xf32> as !g) recipe(<amax>)
  return
}

// A gathered row; a negative one is left alone.
// CHECK-LABEL: func @rows
// CHECK-SAME:    %[[ROWS:[^:]*]]: memref<?xi32>
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK:           %[[FROM:.*]] = memref.load %[[ROWS]][%[[ROW]]]
// CHECK:           %[[IS:.*]] = arith.cmpi sge, %[[FROM]]
// CHECK:           scf.if %[[IS]]
!t = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
func.func @rows(%x: memref<?x64xf32>, %rows: memref<?xi32>, %q: memref<?x64xf8E4M3FN>, %s: memref<?x1xf32>) {
  moeq.quantize input(%x : memref<?x64xf32>) rows(%rows : memref<?xi32>)
      outs(%q, %s : memref<?x64xf8E4M3FN>, memref<?x1xf32> as !t) recipe(<deepgemm>)
  return
}

// Two codes a byte; affine zero points come from the block's range.
// CHECK-LABEL: func @awq
// CHECK-SAME:    %[[Q:[^:]*]]: memref<4x17xi8>, %[[S:[^:]*]]: memref<4x2xbf16>, %[[Z:[^:]*]]: memref<4x2xi8>
// CHECK:         scf.for {{.*}} -> (f32, f32)
// CHECK:           arith.maximumf
// CHECK:           arith.minimumf
// CHECK:         memref.store %{{.*}}, %[[S]]
// CHECK:         memref.store %{{.*}}, %[[Z]]
// CHECK:         scf.for {{.*}} step %c2
// CHECK:           %[[BYTE:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK:           memref.store %[[BYTE]], %[[Q]]
!awq = !moeq.scaled<ui4, block = [32], scale = bf16, zero = i8>
func.func @awq(%x: memref<4x33xf32>, %q: memref<4x17xi8>, %s: memref<4x2xbf16>, %z: memref<4x2xi8>) {
  moeq.quantize input(%x : memref<4x33xf32>)
      outs(%q, %s, %z : memref<4x17xi8>, memref<4x2xbf16>, memref<4x2xi8> as !awq) recipe(<awq>)
  return
}

// Laid-out scales are zeroed first: some belong to no element.
// CHECK-LABEL: func @swizzled
// CHECK-SAME:    %[[S:[^:]*]]: memref<128x4xf8E8M0FNU>
// CHECK:         linalg.generic {{.*}} outs(%[[S]]
// CHECK:         memref.store %{{.*}}, %[[S]]
!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>
func.func @swizzled(%x: memref<4x64xf32>, %q: memref<4x64xf8E4M3FN>, %s: memref<128x4xf8E8M0FNU>) {
  moeq.quantize input(%x : memref<4x64xf32>)
      outs(%q, %s : memref<4x64xf8E4M3FN>, memref<128x4xf8E8M0FNU> as !mx) recipe(<te_mx>)
  return
}

// CHECK-LABEL: func @act_quant
// CHECK:         scf.for {{.*}} -> (i32)
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:         scf.for
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
// CHECK:           arith.truncf %{{.*}} : f32 to f8E4M3FN
func.func @act_quant(%x: memref<?x64xbf16>, %q: memref<?x32xf8E4M3FN>, %s: memref<?x1xf32>) {
  moeq.act_quant input(%x : memref<?x64xbf16>)
      outs(%q, %s : memref<?x32xf8E4M3FN>, memref<?x1xf32> as !t)
      function(swiglu) intermediate_round(bf16) recipe(<amax>)
  return
}

// CHECK-LABEL: func @dequantize
// CHECK:         linalg.generic
// CHECK:           %[[B:.*]] = arith.divui %{{.*}}, %c32
// CHECK:           arith.mulf
// CHECK:           linalg.yield
func.func @dequantize(%q: memref<?x100xf8E4M3FN>, %s: memref<?x4xf32>, %y: memref<?x100xf32>) {
  moeq.dequantize input(%q, %s : memref<?x100xf8E4M3FN>, memref<?x4xf32> as !g)
      outs(%y : memref<?x100xf32>)
  return
}
