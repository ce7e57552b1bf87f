// A tile loop of the kernel dialect visits each element once: with tiles that cut
// experts, columns and an empty group, it gives the bits of the whole op.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %moeq_source/test/Tools/Inputs/npy.py %t/a.npy "<f4" 45x64 lcg:1:-100:100/16
// RUN: %python %moeq_source/test/Tools/Inputs/npy.py %t/b.npy "<f4" 4x50x64 lcg:2:-100:100/16
// RUN: %python %moeq_source/test/Tools/Inputs/npy.py %t/off.npy "<i4" 5 0 17 17 40 44
// RUN: %python %moeq_source/test/Tools/Inputs/npy.py %t/c.npy "<f4" 45x50 lcg:3:7:8
// RUN: moeq-run %s --entry=whole --input=%t/a.npy --input=%t/b.npy --input=%t/off.npy \
// RUN:   --input=%t/c.npy --output-dir=%t/whole
// RUN: moeq-run %s --entry=tiles --input=%t/a.npy --input=%t/b.npy --input=%t/off.npy \
// RUN:   --input=%t/c.npy --output-dir=%t/tiles
// RUN: cmp %t/whole/arg3.npy %t/tiles/arg3.npy
// RUN: not cmp %t/whole/arg3.npy %t/c.npy

// One that counts instead of multiplying: 1 in rows 0 to 43, and row 44 as it was.
// RUN: moeq-run %s --entry=count --input=%t/off.npy | FileCheck %s
// CHECK: result0: f32 [44, 1, 0]

func.func @whole(%a: memref<?x64xf32>, %b: memref<4x50x64xf32>, %off: memref<5xi32>, %c: memref<?x50xf32>) {
  moeq.grouped_matmul lhs(%a : memref<?x64xf32>) rhs(%b : memref<4x50x64xf32>)
      offsets(%off : memref<5xi32>) outs(%c : memref<?x50xf32>)
  return
}

func.func @tiles(%a: memref<?x64xf32>, %b: memref<4x50x64xf32>, %off: memref<5xi32>, %c: memref<?x50xf32>) {
  %n = arith.constant 50 : index
  moeq_gpu.tiles offsets(%off : memref<5xi32>) columns(%n) tile [16, 32] raster 2 {
  ^bb0(%e: index, %row: index, %end: index, %col: index):
    %rows = affine.min affine_map<(d0, d1) -> (d1 - d0, 16)>(%row, %end)
    %cols = affine.min affine_map<(d0) -> (50 - d0, 32)>(%col)
    %sa = memref.subview %a[%row, 0] [%rows, 64] [1, 1]
        : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    %sb = memref.subview %b[%e, %col, 0] [1, %cols, 64] [1, 1, 1]
        : memref<4x50x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    %sc = memref.subview %c[%row, %col] [%rows, %cols] [1, 1]
        : memref<?x50xf32> to memref<?x?xf32, strided<[50, 1], offset: ?>>
    moeq.matmul lhs(%sa : memref<?x64xf32, strided<[64, 1], offset: ?>>)
        rhs(%sb : memref<?x64xf32, strided<[64, 1], offset: ?>>)
        outs(%sc : memref<?x?xf32, strided<[50, 1], offset: ?>>)
  }
  return
}

// The number of rows with a count of 1 in each column, the largest and the
// count of row 44.
func.func @count(%off: memref<5xi32>) -> tensor<3xf32> {
  %n = arith.constant 50 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c44 = arith.constant 44 : index
  %c45 = arith.constant 45 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %counts = memref.alloc() : memref<45x50xf32>
  linalg.fill ins(%zero : f32) outs(%counts : memref<45x50xf32>)
  moeq_gpu.tiles offsets(%off : memref<5xi32>) columns(%n) tile [16, 32] raster 2 {
  ^bb0(%e: index, %row: index, %end: index, %col: index):
    %rows = affine.min affine_map<(d0, d1) -> (d1, d0 + 16)>(%row, %end)
    %cols = affine.min affine_map<(d0) -> (50, d0 + 32)>(%col)
    scf.for %i = %row to %rows step %c1 {
      scf.for %j = %col to %cols step %c1 {
        %old = memref.load %counts[%i, %j] : memref<45x50xf32>
        %new = arith.addf %old, %one : f32
        memref.store %new, %counts[%i, %j] : memref<45x50xf32>
      }
    }
  }
  %r:2 = scf.for %i = %c0 to %c45 step %c1 iter_args(%sum = %zero, %most = %zero) -> (f32, f32) {
    %s:2 = scf.for %j = %c0 to %n step %c1 iter_args(%rs = %one, %rm = %most) -> (f32, f32) {
      %x = memref.load %counts[%i, %j] : memref<45x50xf32>
      %min = arith.minimumf %rs, %x : f32
      %max = arith.maximumf %rm, %x : f32
      scf.yield %min, %max : f32, f32
    }
    %next = arith.addf %sum, %s#0 : f32
    scf.yield %next, %s#1 : f32, f32
  }
  %last = memref.load %counts[%c44, %c0] : memref<45x50xf32>
  %t = tensor.from_elements %r#0, %r#1, %last : tensor<3xf32>
  return %t : tensor<3xf32>
}
