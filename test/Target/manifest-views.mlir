// Offsets of views, and each kind of index arithmetic, as expressions.

// RUN: moeq-compile %s -o %t --emit=manifest | FileCheck %s
// RUN: %python -c "import json; [print(p['byte_offset']) for k in json.load(open('%t/manifest.json'))['entries']['views']['kernels'] for p in k['parameters']]" | FileCheck %s --check-prefix=OFFSETS

// CHECK: grid [min(7, (x.0 + 1)), max((y.0 * 4), x.0), (x.0 - (floordiv(x.0, 8) * 8))]
// CHECK: grid [select(lt(x.0, y.0), x.0, y.0), (1 - lt(y.0, x.0)), (1 - (lt(x.0, y.0) + lt(y.0, x.0)))]
// CHECK: grid [(x.0 * 64), y.0, 64]

// Rows 3 and column 8 of 64 columns in bf16; half a byte an element of i4; byte
// 4096 of a workspace; the second row of an expanded shape.
// OFFSETS: 400
// OFFSETS: 16
// OFFSETS: 4096
// OFFSETS: {'args': [{'args': [{'symbol': 'x.0'}, 64], 'op': '*'}, 2], 'op': '*'}

module attributes {gpu.container_module} {
  func.func @views(%x: memref<?x64xbf16> {moeq.name = "x"}, %y: memref<?x32xi4> {moeq.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c4096 = arith.constant 4096 : index
    %rows = memref.dim %x, %c0 : memref<?x64xbf16>
    %others = memref.dim %y, %c0 : memref<?x32xi4>

    %x_part = memref.subview %x[3, 8] [1, 16] [1, 1] : memref<?x64xbf16> to memref<1x16xbf16, strided<[64, 1], offset: 200>>
    %y_part = memref.subview %y[1, 0] [1, 32] [1, 1] : memref<?x32xi4> to memref<32xi4, strided<[1], offset: 32>>
    %workspace = memref.alloc() : memref<8192xi8>
    %bytes = memref.view %workspace[%c4096][%c8] : memref<8192xi8> to memref<?x2xf32>
    %flat = memref.collapse_shape %x [[0, 1]] : memref<?x64xbf16> into memref<?xbf16>
    %flat_size = memref.dim %flat, %c0 : memref<?xbf16>
    %two = memref.expand_shape %flat [[0, 1]] output_shape [2, %flat_size] : memref<?xbf16> into memref<2x?xbf16>
    %second = memref.subview %two[1, 0] [1, 8] [1, 1] : memref<2x?xbf16> to memref<8xbf16, strided<[1], offset: ?>>

    %min = affine.min affine_map<()[s0] -> (s0 + 1, 7)>()[%rows]
    %max = affine.max affine_map<()[s0, s1] -> (s0, 4 * s1)>()[%rows, %others]
    %rem = arith.remui %rows, %c8 : index
    gpu.launch_func @kernels::@kernel blocks in (%min, %max, %rem) threads in (%c1, %c1, %c1)
        args(%x_part : memref<1x16xbf16, strided<[64, 1], offset: 200>>, %y_part : memref<32xi4, strided<[1], offset: 32>>)

    %less = arith.cmpi slt, %rows, %others : index
    %select = arith.select %less, %rows, %others : index
    %not_greater = arith.cmpi ule, %rows, %others : index
    %not_greater_index = arith.index_castui %not_greater : i1 to index
    %equal = arith.cmpi eq, %rows, %others : index
    %equal_index = arith.index_castui %equal : i1 to index
    gpu.launch_func @kernels::@kernel blocks in (%select, %not_greater_index, %equal_index) threads in (%c1, %c1, %c1)
        args(%bytes : memref<?x2xf32>, %second : memref<8xbf16, strided<[1], offset: ?>>)

    %any = memref.cast %y : memref<?x32xi4> to memref<?x?xi4>
    %same = memref.dim %any, %c0 : memref<?x?xi4>
    %sixty_four = memref.dim %x, %c1 : memref<?x64xbf16>
    gpu.launch_func @kernels::@none blocks in (%flat_size, %same, %sixty_four) threads in (%c1, %c1, %c1)
    return
  }

  gpu.module @kernels {
    llvm.func @kernel(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>) attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
    llvm.func @none() attributes {nvvm.kernel, gpu.kernel} {
      llvm.return
    }
  }
}
