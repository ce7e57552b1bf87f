// RUN: %python %S/Inputs/npy.py %t.x.npy "<f4" 3 1 2.3 -500
// RUN: %python %S/Inputs/npy.py %t.s.npy "<f4" "" 2
// RUN: moeq-run %s --entry=scale --input=%t.x.npy --input=%t.s.npy | FileCheck %s
// RUN: rm -rf %t.out
// RUN: moeq-run %s --entry=scale --input=%t.x.npy --input=%t.s.npy --output-dir=%t.out
// RUN: moeq-run %s --entry=back --input=%t.out/result0.npy --input=%t.out/result1.npy \
// RUN:   | FileCheck %s --check-prefix=BACK
// RUN: moeq-run %s --entry=in_place --input=%t.x.npy | FileCheck %s --check-prefix=INPLACE
// RUN: moeq-run %s --entry=constant | FileCheck %s --check-prefix=CONSTANT

// CHECK:      result0: f8E4M3FN [2, 4.5, -448]
// CHECK-NEXT: result1: bf16 [1, 2.296875, -500]
// CHECK-NEXT: result2: i32 3
func.func @scale(%x: tensor<?xf32> {moeq.name = "x"}, %s: f32)
    -> (tensor<?xf8E4M3FN>, tensor<?xbf16>, i32) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf8E4M3FN>
  %f = tensor.empty(%n) : tensor<?xbf16>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                          affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e, %f : tensor<?xf8E4M3FN>, tensor<?xbf16>) {
  ^bb0(%a: f32, %b: f8E4M3FN, %c: bf16):
    %0 = arith.mulf %a, %s : f32
    %1 = arith.truncf %0 : f32 to f8E4M3FN
    %2 = arith.truncf %a : f32 to bf16
    linalg.yield %1, %2 : f8E4M3FN, bf16
  } -> (tensor<?xf8E4M3FN>, tensor<?xbf16>)
  %i = arith.index_cast %n : index to i32
  return %r#0, %r#1, %i : tensor<?xf8E4M3FN>, tensor<?xbf16>, i32
}

// What is returned may be an argument.
// BACK:      result0: bf16 [1, 2.296875, -500]
// BACK-NEXT: result1: f8E4M3FN [2, 4.5, -448]
func.func @back(%x: tensor<?xf8E4M3FN>, %y: tensor<?xbf16>) -> (tensor<?xbf16>, tensor<?xf8E4M3FN>) {
  return %y, %x : tensor<?xbf16>, tensor<?xf8E4M3FN>
}

// INPLACE: arg0: f32 [7, 2.29999995, -500]
func.func @in_place(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c = arith.constant 7.0 : f32
  memref.store %c, %x[%c0] : memref<?xf32>
  return
}

// CONSTANT:      result0: f32 {{\[}}[1, 2], [3, 4]]
// CONSTANT-NEXT: result1: f8E8M0FNU [1, 2]
func.func @constant() -> (tensor<2x2xf32>, tensor<2xf8E8M0FNU>) {
  %0 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %1 = arith.constant dense<[1.0, 2.0]> : tensor<2xf8E8M0FNU>
  return %0, %1 : tensor<2x2xf32>, tensor<2xf8E8M0FNU>
}
