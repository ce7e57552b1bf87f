// RUN: moeq-opt %s -split-input-file -moeq-fuse | FileCheck %s
// RUN: moeq-opt %s -split-input-file -moeq-fuse --remarks-filter=moeq-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#scalar = affine_map<(d0, d1) -> ()>

// Bias by column, scale by row, residual, a scalar, row and column.

// CHECK-LABEL: func @matmul(
// CHECK-SAME:      %[[A:[^:]*]]: tensor<?x64xbf16>, %[[B:[^:]*]]: tensor<128x64xbf16>, %[[BIAS:[^:]*]]: tensor<128xf32>, %[[SCALE:[^:]*]]: tensor<?xf32>, %[[RES:[^:]*]]: tensor<?x128xbf16>, %[[FACTOR:[^:]*]]: f32, %{{[^:]*}}: tensor<?x128xf32>, %[[OUT:[^:]*]]: tensor<?x128xbf16>
// CHECK-NEXT:  %[[C:.*]] = moeq.matmul lhs(%[[A]] : {{.*}}) rhs(%[[B]] : {{.*}}) outs(%[[OUT]] : {{.*}}) accumulate(<fast>) config(<tile = [128, 256]{{.*}}) epilogue(%[[BIAS]], %[[SCALE]], %[[RES]] : {{.*}}) maps [column, row, row_column] {
// CHECK-NEXT:  ^bb0(%[[ACC:.*]]: f32, %[[ROW:.*]]: index, %[[COL:.*]]: index, %[[X:.*]]: f32, %[[S:.*]]: f32, %[[R:.*]]: bf16):
// CHECK-NEXT:    %[[V0:.*]] = arith.addf %[[ACC]], %[[X]]
// CHECK-NEXT:    %[[V1:.*]] = arith.mulf %[[V0]], %[[S]]
// CHECK-NEXT:    %[[V2:.*]] = arith.mulf %[[V1]], %[[FACTOR]]
// CHECK-NEXT:    %[[V3:.*]] = arith.cmpi ult, %[[ROW]], %[[COL]]
// CHECK-NEXT:    %[[V4:.*]] = arith.select %[[V3]], %[[V2]], %[[V0]]
// CHECK-NEXT:    %[[V5:.*]] = arith.extf %[[R]]
// CHECK-NEXT:    %[[V6:.*]] = arith.addf %[[V4]], %[[V5]]
// CHECK-NEXT:    %[[V7:.*]] = arith.truncf %[[V6]]
// CHECK-NEXT:    moeq.yield %[[V7]] : bf16
// CHECK-NEXT:  } -> tensor<?x128xbf16>
// CHECK-NEXT:  return %[[C]]
// REMARK: [Passed] epilogue | Category:moeq-fuse
func.func @matmul(%a: tensor<?x64xbf16>, %b: tensor<128x64xbf16>, %bias: tensor<128xf32>,
                  %scale: tensor<?xf32>, %res: tensor<?x128xbf16>, %factor: f32,
                  %init: tensor<?x128xf32>, %out: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %c = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%b : tensor<128x64xbf16>)
      outs(%init : tensor<?x128xf32>) accumulate(<fast>) config(<tile = [128, 256]>)
      -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#column, #id, #row, #scalar, #id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%bias, %c, %scale, %factor, %res
          : tensor<128xf32>, tensor<?x128xf32>, tensor<?xf32>, f32, tensor<?x128xbf16>)
      outs(%out : tensor<?x128xbf16>) {
    ^bb0(%x: f32, %acc: f32, %s: f32, %f: f32, %r: bf16, %o: bf16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %0 = arith.addf %acc, %x : f32
      %1 = arith.mulf %0, %s : f32
      %2 = arith.mulf %1, %f : f32
      %3 = arith.cmpi ult, %i, %j : index
      %4 = arith.select %3, %2, %0 : f32
      %5 = arith.extf %r : bf16 to f32
      %6 = arith.addf %4, %5 : f32
      %7 = arith.truncf %6 : f32 to bf16
      linalg.yield %7 : bf16
  } -> tensor<?x128xbf16>
  return %d : tensor<?x128xbf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A chain goes into one epilogue, behind the rounding to the matmul's type. The
// generic in the middle works in place.

// CHECK-LABEL: func @grouped_chain(
// CHECK:       %[[C:.*]] = moeq.grouped_matmul {{.*}} outs(%{{.*}} : tensor<?x128xf16>) epilogue(%{{.*}} : tensor<?xf32>) maps [row] {
// CHECK-NEXT:  ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[W:.*]]: f32):
// CHECK-NEXT:    %[[V0:.*]] = arith.truncf %[[ACC]] : f32 to bf16
// CHECK-NEXT:    %[[V1:.*]] = arith.maximumf %[[V0]], %{{.*}} : bf16
// CHECK-NEXT:    %[[V2:.*]] = arith.extf %[[V1]] : bf16 to f32
// CHECK-NEXT:    %[[V3:.*]] = arith.mulf %[[V2]], %[[W]]
// CHECK-NEXT:    %[[V4:.*]] = arith.truncf %[[V3]] : f32 to f16
// CHECK-NEXT:    moeq.yield %[[V4]] : f16
// CHECK-NEXT:  } -> tensor<?x128xf16>
// CHECK-NEXT:  return %[[C]]
func.func @grouped_chain(%a: tensor<?x64xbf16>, %b: tensor<8x128x64xbf16>, %offsets: tensor<9xi32>,
                         %w: tensor<?xf32>, %out: tensor<?x128xf16>, %s: index)
    -> tensor<?x128xf16> {
  %zero = arith.constant 0.0 : bf16
  %init = tensor.empty(%s) : tensor<?x128xbf16>
  %c = moeq.grouped_matmul lhs(%a : tensor<?x64xbf16>) rhs(%b : tensor<8x128x64xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%init : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  %d = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      outs(%c : tensor<?x128xbf16>) {
    ^bb0(%x: bf16):
      %0 = arith.maximumf %x, %zero : bf16
      linalg.yield %0 : bf16
  } -> tensor<?x128xbf16>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %w : tensor<?x128xbf16>, tensor<?xf32>) outs(%out : tensor<?x128xf16>) {
    ^bb0(%x: bf16, %y: f32, %o: f16):
      %0 = arith.extf %x : bf16 to f32
      %1 = arith.mulf %0, %y : f32
      %2 = arith.truncf %1 : f32 to f16
      linalg.yield %2 : f16
  } -> tensor<?x128xf16>
  return %e : tensor<?x128xf16>
}

// An epilogue that is there comes first.

// CHECK-LABEL: func @behind_epilogue(
// CHECK:       moeq.matmul {{.*}} epilogue(%{{.*}}, %{{.*}} : tensor<128xf32>, tensor<?xf32>) maps [column, row] {
// CHECK-NEXT:  ^bb0(%[[ACC:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %[[B:.*]]: f32, %[[W:.*]]: f32):
// CHECK-NEXT:    %[[V0:.*]] = arith.addf %[[ACC]], %[[B]]
// CHECK-NEXT:    %[[V1:.*]] = arith.mulf %[[V0]], %[[W]]
// CHECK-NEXT:    moeq.yield %[[V1]] : f32
func.func @behind_epilogue(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %bias: tensor<128xf32>,
                           %w: tensor<?xf32>, %init: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) epilogue(%bias : tensor<128xf32>) maps [column] {
    ^bb0(%acc: f32, %i: index, %j: index, %x: f32):
      %0 = arith.addf %acc, %x : f32
      moeq.yield %0 : f32
  } -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %w : tensor<?x128xf32>, tensor<?xf32>) outs(%c : tensor<?x128xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.mulf %o, %y : f32
      linalg.yield %0 : f32
  } -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What stays apart: rows outside the groups that somebody may read,

// CHECK-LABEL: func @defined_rows(
// CHECK:       moeq.grouped_matmul
// CHECK-NOT:   epilogue
// CHECK:       linalg.generic
func.func @defined_rows(%a: tensor<?x64xf32>, %b: tensor<8x128x64xf32>, %offsets: tensor<9xi32>,
                        %init: tensor<?x128xf32>, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c = moeq.grouped_matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<8x128x64xf32>)
      offsets(%offsets : tensor<9xi32>) outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x128xf32>) outs(%out : tensor<?x128xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %x, %x : f32
      linalg.yield %0 : f32
  } -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

// a column operand that is not by expert,

// CHECK-LABEL: func @grouped_column(
// CHECK:       moeq.grouped_matmul
// CHECK:       linalg.generic
func.func @grouped_column(%a: tensor<?x64xf32>, %b: tensor<8x128x64xf32>, %offsets: tensor<9xi32>,
                          %bias: tensor<128xf32>, %out: tensor<?x128xf32>, %s: index)
    -> tensor<?x128xf32> {
  %init = tensor.empty(%s) : tensor<?x128xf32>
  %c = moeq.grouped_matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<8x128x64xf32>)
      offsets(%offsets : tensor<9xi32>) outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : tensor<?x128xf32>, tensor<128xf32>) outs(%out : tensor<?x128xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.addf %x, %y : f32
      linalg.yield %0 : f32
  } -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

// a second use,

// CHECK-LABEL: func @used_twice(
// CHECK:       moeq.matmul
// CHECK:       linalg.generic
func.func @used_twice(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                      %out: tensor<?x128xf32>) -> (tensor<?x128xf32>, tensor<?x128xf32>) {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x128xf32>) outs(%out : tensor<?x128xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %x, %x : f32
      linalg.yield %0 : f32
  } -> tensor<?x128xf32>
  return %c, %d : tensor<?x128xf32>, tensor<?x128xf32>
}

// a transposed use,

// CHECK-LABEL: func @transposed(
// CHECK:       moeq.matmul
// CHECK:       linalg.generic
func.func @transposed(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                      %out: tensor<128x?xf32>) -> tensor<128x?xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x128xf32>) outs(%out : tensor<128x?xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %x, %x : f32
      linalg.yield %0 : f32
  } -> tensor<128x?xf32>
  return %d : tensor<128x?xf32>
}

// a reduction,

// CHECK-LABEL: func @reduction(
// CHECK:       moeq.matmul
// CHECK:       linalg.generic
func.func @reduction(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                     %out: tensor<?xf32>) -> tensor<?xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<?x128xf32>) outs(%out : tensor<?xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %x, %o : f32
      linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// a body that reads another init,

// CHECK-LABEL: func @reads_init(
// CHECK:       moeq.matmul
// CHECK:       linalg.generic
func.func @reads_init(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                      %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x128xf32>) outs(%out : tensor<?x128xf32>) {
    ^bb0(%x: f32, %o: f32):
      %0 = arith.addf %x, %o : f32
      linalg.yield %0 : f32
  } -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

// a body that reads a tensor,

// CHECK-LABEL: func @reads_tensor(
// CHECK:       moeq.matmul
// CHECK:       linalg.generic
func.func @reads_tensor(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                        %table: tensor<128xf32>, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x128xf32>) outs(%out : tensor<?x128xf32>) {
    ^bb0(%x: f32, %o: f32):
      %j = linalg.index 1 : index
      %t = tensor.extract %table[%j] : tensor<128xf32>
      %0 = arith.addf %x, %t : f32
      linalg.yield %0 : f32
  } -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

// a result that a matmul cannot store,

// CHECK-LABEL: func @integers(
// CHECK:       moeq.matmul
// CHECK:       linalg.generic
func.func @integers(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                    %out: tensor<?x128xi32>) -> tensor<?x128xi32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x128xf32>) outs(%out : tensor<?x128xi32>) {
    ^bb0(%x: f32, %o: i32):
      %0 = arith.fptosi %x : f32 to i32
      linalg.yield %0 : i32
  } -> tensor<?x128xi32>
  return %d : tensor<?x128xi32>
}

// operands of bits,

// CHECK-LABEL: func @mask(
// CHECK:       moeq.matmul
// CHECK:       linalg.generic
func.func @mask(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                %mask: tensor<?xi1>, %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %zero = arith.constant 0.0 : f32
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %mask : tensor<?x128xf32>, tensor<?xi1>) outs(%out : tensor<?x128xf32>) {
    ^bb0(%x: f32, %m: i1, %o: f32):
      %0 = arith.select %m, %x, %zero : f32
      linalg.yield %0 : f32
  } -> tensor<?x128xf32>
  return %d : tensor<?x128xf32>
}

// and a consumer in a loop, which would repeat the matmul.

// CHECK-LABEL: func @in_loop(
// CHECK:       moeq.matmul
// CHECK:       scf.for
// CHECK:       linalg.generic
func.func @in_loop(%a: tensor<?x64xf32>, %b: tensor<128x64xf32>, %init: tensor<?x128xf32>,
                   %out: tensor<?x128xf32>, %n: index) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = moeq.matmul lhs(%a : tensor<?x64xf32>) rhs(%b : tensor<128x64xf32>)
      outs(%init : tensor<?x128xf32>) -> tensor<?x128xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %out) -> (tensor<?x128xf32>) {
    %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%c, %acc : tensor<?x128xf32>, tensor<?x128xf32>) outs(%out : tensor<?x128xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %0 = arith.addf %x, %y : f32
        linalg.yield %0 : f32
    } -> tensor<?x128xf32>
    scf.yield %d : tensor<?x128xf32>
  }
  return %r : tensor<?x128xf32>
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!mx2 = !moeq.scaled<f8E5M2, block = [64], scale = f8E8M0FNU>

// A bf16 matmul of two dequantized MX operands is what a matmul of MX operands
// is defined as.

// CHECK-LABEL: func @dequantize(
// CHECK-SAME:      %[[A:[^:]*]]: tensor<?x64x!scaled>, %[[B:[^:]*]]: tensor<8x128x64x!scaled1>
// CHECK:       moeq.grouped_matmul lhs(%[[A]] : tensor<?x64x!scaled>) rhs(%[[B]] : tensor<8x128x64x!scaled1>)
// CHECK-SAME:      epilogue(%{{.*}} : tensor<?xf32>) maps [row]
// REMARK: [Passed] dequantize | Category:moeq-fuse
func.func @dequantize(%a: tensor<?x64x!mx>, %b: tensor<8x128x64x!mx2>, %offsets: tensor<9xi32>,
                      %w: tensor<?xf32>, %ia: tensor<?x64xbf16>, %ib: tensor<8x128x64xbf16>,
                      %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %da = moeq.dequantize input(%a : tensor<?x64x!mx>) outs(%ia : tensor<?x64xbf16>)
      -> tensor<?x64xbf16>
  %db = moeq.dequantize input(%b : tensor<8x128x64x!mx2>) outs(%ib : tensor<8x128x64xbf16>)
      -> tensor<8x128x64xbf16>
  %c = moeq.grouped_matmul lhs(%da : tensor<?x64xbf16>) rhs(%db : tensor<8x128x64xbf16>)
      offsets(%offsets : tensor<9xi32>) outs(%out : tensor<?x128xf32>)
      epilogue(%w : tensor<?xf32>) maps [row] {
    ^bb0(%acc: f32, %i: index, %j: index, %x: f32):
      %0 = arith.mulf %acc, %x : f32
      moeq.yield %0 : f32
  } -> tensor<?x128xf32>
  return %c : tensor<?x128xf32>
}

// With f32 numbers the products would be others.

// CHECK-LABEL: func @dequantize_to_f32(
// CHECK:       moeq.dequantize
// CHECK:       moeq.dequantize
// CHECK:       moeq.matmul lhs(%{{.*}} : tensor<?x64xf32>)
func.func @dequantize_to_f32(%a: tensor<?x64x!mx>, %b: tensor<128x64x!mx>, %ia: tensor<?x64xf32>,
                             %ib: tensor<128x64xf32>, %out: tensor<?x128xf32>)
    -> tensor<?x128xf32> {
  %da = moeq.dequantize input(%a : tensor<?x64x!mx>) outs(%ia : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  %db = moeq.dequantize input(%b : tensor<128x64x!mx>) outs(%ib : tensor<128x64xf32>)
      -> tensor<128x64xf32>
  %c = moeq.matmul lhs(%da : tensor<?x64xf32>) rhs(%db : tensor<128x64xf32>)
      outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %c : tensor<?x128xf32>
}

// -----

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!mx48 = !moeq.scaled<f8E4M3FN, block = [48], scale = f8E8M0FNU>
!weight = !moeq.scaled<i8, block = [*], scale = f32>

// A weight-only scale is applied to the accumulator, so it is not the same sum.

// CHECK-LABEL: func @dequantized_weight(
// CHECK:       moeq.dequantize
// CHECK:       moeq.matmul lhs(%{{.*}} : tensor<?x64xbf16>) rhs(%{{.*}} : tensor<128x64xbf16>)
func.func @dequantized_weight(%a: tensor<?x64xbf16>, %b: tensor<128x64x!weight>,
                              %ib: tensor<128x64xbf16>, %out: tensor<?x128xf32>)
    -> tensor<?x128xf32> {
  %db = moeq.dequantize input(%b : tensor<128x64x!weight>) outs(%ib : tensor<128x64xbf16>)
      -> tensor<128x64xbf16>
  %c = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%db : tensor<128x64xbf16>)
      outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %c : tensor<?x128xf32>
}

// Blocks that do not divide one another.

// CHECK-LABEL: func @blocks_do_not_nest(
// CHECK:       moeq.matmul lhs(%{{.*}} : tensor<?x96xbf16>)
func.func @blocks_do_not_nest(%a: tensor<?x96x!mx>, %b: tensor<128x96x!mx48>,
                              %ia: tensor<?x96xbf16>, %ib: tensor<128x96xbf16>,
                              %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %da = moeq.dequantize input(%a : tensor<?x96x!mx>) outs(%ia : tensor<?x96xbf16>)
      -> tensor<?x96xbf16>
  %db = moeq.dequantize input(%b : tensor<128x96x!mx48>) outs(%ib : tensor<128x96xbf16>)
      -> tensor<128x96xbf16>
  %c = moeq.matmul lhs(%da : tensor<?x96xbf16>) rhs(%db : tensor<128x96xbf16>)
      outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %c : tensor<?x128xf32>
}
