// RUN: moeq-opt %s -moeq-unpack-scaled -cse -split-input-file | FileCheck %s

!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// An expert of a stack: the scales are sliced by blocks, ranks are reduced alike.
// CHECK-LABEL: func @extract_expert(
// CHECK-SAME: %[[V:[^:]*]]: tensor<8x256x512xf8E4M3FN> {moeq.name = "arg0"}, %[[S:[^:]*]]: tensor<8x2x4xf32> {moeq.name = "arg0.scale"}, %[[E:[^:]*]]: index {moeq.name = "arg1"}
// CHECK: %[[PV:.*]] = tensor.extract_slice %[[V]][%[[E]], 128, 0] [1, 128, 512] [1, 1, 1] : tensor<8x256x512xf8E4M3FN> to tensor<128x512xf8E4M3FN>
// CHECK: %[[PS:.*]] = tensor.extract_slice %[[S]][%[[E]], 1, 0] [1, 1, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<1x4xf32>
// CHECK: return %[[PV]], %[[PS]]
func.func @extract_expert(%w: tensor<8x256x512x!w>, %e: index) -> tensor<128x512x!w> {
  %0 = tensor.extract_slice %w[%e, 128, 0] [1, 128, 512] [1, 1, 1] : tensor<8x256x512x!w> to tensor<128x512x!w>
  return %0 : tensor<128x512x!w>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// Offsets are multiples by the loop's step; the last tile reaches the end.
// CHECK-LABEL: func @tiles(
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[V:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (tensor<?x?xf8E4M3FN>, tensor<?x?xf32>)
// CHECK: %[[N:.*]] = affine.min
// CHECK: %[[C:.*]] = affine.apply #{{.*}}()[%[[N]]]
// CHECK: %[[O:.*]] = affine.apply #{{.*}}()[%[[I]]]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[O]]] [%{{.*}}, %[[C]]] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[V]][0, %[[I]]]
// CHECK: tensor.insert_slice %{{.*}} into %[[S]][0, %[[O]]] [%{{.*}}, %[[C]]]
func.func @tiles(%a: tensor<?x?x!a>, %init: tensor<?x?x!a>) -> tensor<?x?x!a> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %m = tensor.dim %init, %c0 : tensor<?x?x!a>
  %k = tensor.dim %init, %c1 : tensor<?x?x!a>
  %0 = scf.for %i = %c0 to %k step %c256 iter_args(%acc = %init) -> tensor<?x?x!a> {
    %n = affine.min affine_map<(d0)[s0] -> (256, s0 - d0)>(%i)[%k]
    %t = tensor.extract_slice %a[0, %i] [%m, %n] [1, 1] : tensor<?x?x!a> to tensor<?x?x!a>
    %r = tensor.insert_slice %t into %acc[0, %i] [%m, %n] [1, 1] : tensor<?x?x!a> into tensor<?x?x!a>
    scf.yield %r : tensor<?x?x!a>
  }
  return %0 : tensor<?x?x!a>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// Tiles that divide the block lie inside one.
// CHECK-LABEL: func @inside_block(
// CHECK: scf.forall (%[[I:.*]]) = (0) to (256) step (32)
// CHECK: %[[O:.*]] = affine.apply #{{.*}}()[%[[I]]]
// CHECK: tensor.extract_slice %{{.*}}[0, %[[O]]] [4, 1] [1, 1] : tensor<4x2xf32> to tensor<4x1xf32>
func.func @inside_block(%a: tensor<4x256x!a>, %init: tensor<4x256xf32>) -> tensor<4x256xf32> {
  %0 = scf.forall (%i) = (0) to (256) step (32) shared_outs(%acc = %init) -> tensor<4x256xf32> {
    %t = tensor.extract_slice %a[0, %i] [4, 32] [1, 1] : tensor<4x256x!a> to tensor<4x32x!a>
    %o = tensor.extract_slice %acc[0, %i] [4, 32] [1, 1] : tensor<4x256xf32> to tensor<4x32xf32>
    %d = moeq.dequantize input(%t : tensor<4x32x!a>) outs(%o : tensor<4x32xf32>) -> tensor<4x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %acc[0, %i] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<4x256xf32>
    }
  }
  return %0 : tensor<4x256xf32>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// A whole-extent block may be cut for reading: its scale is kept.
// CHECK-LABEL: func @whole_extent(
// CHECK: tensor.extract_slice %{{.*}}[%[[R:.*]], %[[K:.*]]] [8, 64] [1, 1] : tensor<?x256xf8E4M3FN>
// CHECK: tensor.extract_slice %{{.*}}[%[[R]], 0] [8, 1] [1, 1] : tensor<?x1xf32> to tensor<8x1xf32>
func.func @whole_extent(%a: tensor<?x256x!a>, %r: index, %k: index) -> tensor<8x64x!a> {
  %0 = tensor.extract_slice %a[%r, %k] [8, 64] [1, 1] : tensor<?x256x!a> to tensor<8x64x!a>
  return %0 : tensor<8x64x!a>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @forall(
// CHECK: %[[R:.*]]:2 = scf.forall (%[[I:.*]]) in (%{{.*}}) shared_outs(%[[V:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
// CHECK: %[[Q:.*]]:2 = moeq.quantize input(%{{.*}} : tensor<1x256xbf16>) outs(%{{.*}}, %{{.*}} : tensor<1x256xf8E4M3FN>, tensor<1x2xf32> as !scaled) recipe(<deepgemm>)
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %[[Q]]#0 into %[[V]][%[[I]], 0] [1, 256]
// CHECK-NEXT: tensor.parallel_insert_slice %[[Q]]#1 into %[[S]][%[[I]], 0] [1, 2]
// CHECK: {marked}
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @forall(%x: tensor<?x256xbf16>, %init: tensor<?x256x!a>) -> tensor<?x256x!a> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %0 = scf.forall (%i) in (%m) shared_outs(%acc = %init) -> tensor<?x256x!a> {
    %t = tensor.extract_slice %x[%i, 0] [1, 256] [1, 1] : tensor<?x256xbf16> to tensor<1x256xbf16>
    %o = tensor.extract_slice %acc[%i, 0] [1, 256] [1, 1] : tensor<?x256x!a> to tensor<1x256x!a>
    %q = moeq.quantize input(%t : tensor<1x256xbf16>) outs(%o : tensor<1x256x!a>) recipe(<deepgemm>) -> tensor<1x256x!a>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %acc[%i, 0] [1, 256] [1, 1] : tensor<1x256x!a> into tensor<?x256x!a>
    }
  } {marked}
  return %0 : tensor<?x256x!a>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>
!w = !moeq.scaled<ui4, block = [128], scale = bf16, zero = i8>

// Every group of an op, its segments and its region.
// CHECK-LABEL: func @grouped_matmul(
// CHECK-SAME: tensor<?x256xbf16> {moeq.name = "x"}, %{{[^:]*}}: tensor<8x64x128xi8> {moeq.name = "w", moeq.other = 1 : i64}, %{{[^:]*}}: tensor<8x64x2xbf16> {moeq.name = "w.scale"}, %{{[^:]*}}: tensor<8x64x2xi8> {moeq.name = "w.zero"}, %{{[^:]*}}: tensor<9xi32> {moeq.name = "arg2"}
// CHECK: moeq.grouped_matmul lhs(%{{[^,]*}} : tensor<?x256xbf16>) rhs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x64x128xi8>, tensor<8x64x2xbf16>, tensor<8x64x2xi8> as !scaled)
// CHECK-SAME: offsets(%{{[^,]*}} : tensor<9xi32>) outs(%{{[^,]*}} : tensor<?x64xbf16>) epilogue(%{{[^,]*}} : tensor<8x64xf32>) maps [column] {
// CHECK: moeq.yield
func.func @grouped_matmul(%x: tensor<?x256xbf16> {moeq.name = "x"}, %w: tensor<8x64x256x!w> {moeq.name = "w", moeq.other = 1},
    %o: tensor<9xi32>, %bias: tensor<8x64xf32>, %init: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %0 = moeq.grouped_matmul lhs(%x : tensor<?x256xbf16>) rhs(%w : tensor<8x64x256x!w>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<?x64xbf16>) epilogue(%bias : tensor<8x64xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f32):
      %s = arith.addf %acc, %b : f32
      %r = arith.truncf %s : f32 to bf16
      moeq.yield %r : bf16
  } -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @gather(
// CHECK-SAME: -> (tensor<?x64xf8E4M3FN> {moeq.name = "y"}, tensor<?x1xf32> {moeq.name = "y.scale"}, tensor<?xi32> {moeq.name = "result1"})
// CHECK: %{{.*}}:2 = moeq.gather input(%{{.*}}, %{{.*}} : tensor<?x64xf8E4M3FN>, tensor<?x1xf32> as !scaled) rows(%{{.*}} : tensor<?xi32>) outs(%{{.*}}, %{{.*}} : tensor<?x64xf8E4M3FN>, tensor<?x1xf32> as !scaled)
func.func @gather(%a: tensor<?x64x!a>, %rows: tensor<?xi32>, %init: tensor<?x64x!a>) -> (tensor<?x64x!a> {moeq.name = "y"}, tensor<?xi32>) {
  %0 = moeq.gather input(%a : tensor<?x64x!a>) rows(%rows : tensor<?xi32>) outs(%init : tensor<?x64x!a>) -> tensor<?x64x!a>
  return %0, %rows : tensor<?x64x!a>, tensor<?xi32>
}

// -----

!p = !moeq.scaled<i4, block = [32], scale = f32>

// Packed values are cut between bytes; the last extent is that of the type.
// CHECK-LABEL: func @packed(
// CHECK-SAME: %[[V:[^:]*]]: tensor<?x32xi8> {{{.*}}}, %[[S:[^:]*]]: tensor<?x2xf32>
// CHECK: tensor.extract_slice %[[V]][0, 16] [4, 16] [1, 1] : tensor<?x32xi8> to tensor<4x16xi8>
// CHECK: tensor.extract_slice %[[S]][0, 1] [4, 1] [1, 1] : tensor<?x2xf32> to tensor<4x1xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[V]], %[[I:.*]] : tensor<?x32xi8>
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: arith.select %{{.*}}, %[[C64]], %[[D]]
func.func @packed(%p: tensor<?x64x!p>, %i: index) -> (tensor<4x32x!p>, index) {
  %0 = tensor.extract_slice %p[0, 32] [4, 32] [1, 1] : tensor<?x64x!p> to tensor<4x32x!p>
  %1 = tensor.dim %p, %i : tensor<?x64x!p>
  return %0, %1 : tensor<4x32x!p>, index
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// CHECK-LABEL: func @shapes(
// CHECK: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf8E4M3FN>
// CHECK: %[[N:.*]] = affine.apply #{{.*}}()[%{{.*}}]
// CHECK: tensor.empty(%{{.*}}, %[[N]]) : tensor<?x?xf32>
// CHECK: tensor.cast %{{.*}} : tensor<?x?xf8E4M3FN> to tensor<8x256xf8E4M3FN>
// CHECK: tensor.cast %{{.*}} : tensor<?x?xf32> to tensor<8x2xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [2, 4, 256] : tensor<8x256xf8E4M3FN> into tensor<2x4x256xf8E4M3FN>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [2, 4, 2] : tensor<8x2xf32> into tensor<2x4x2xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<2x4x256xf8E4M3FN> into tensor<2x1024xf8E4M3FN>
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<2x4x2xf32> into tensor<2x8xf32>
func.func @shapes(%m: index, %k: index) -> tensor<2x1024x!a> {
  %0 = tensor.empty(%m, %k) : tensor<?x?x!a>
  %1 = tensor.cast %0 : tensor<?x?x!a> to tensor<8x256x!a>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [2, 4, 256] : tensor<8x256x!a> into tensor<2x4x256x!a>
  %3 = tensor.collapse_shape %2 [[0], [1, 2]] : tensor<2x4x256x!a> into tensor<2x1024x!a>
  return %3 : tensor<2x1024x!a>
}

// -----

!s = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>
!m = !moeq.scaled<f8E4M3FN, block = [128], scale = f32, layout = mn_major>

// Scales of a whole laid-out tensor are padded, or stand on end; experts of it
// can be taken.
// CHECK-LABEL: func @layouts(
// CHECK-SAME: tensor<8x100x320xf8E4M3FN> {{{.*}}}, %{{[^:]*}}: tensor<8x128x12xf8E8M0FNU>
// CHECK: tensor.empty(%{{.*}}) : tensor<3x?xf32>
// CHECK: tensor.extract_slice %{{.*}}[%[[E:.*]], 0, 0] [1, 128, 12] [1, 1, 1] : tensor<8x128x12xf8E8M0FNU> to tensor<128x12xf8E8M0FNU>
func.func @layouts(%w: tensor<8x100x320x!s>, %e: index, %n: index) -> (tensor<?x384x!m>, tensor<100x320x!s>) {
  %0 = tensor.empty(%n) : tensor<?x384x!m>
  %1 = tensor.extract_slice %w[%e, 0, 0] [1, 100, 320] [1, 1, 1] : tensor<8x100x320x!s> to tensor<100x320x!s>
  return %0, %1 : tensor<?x384x!m>, tensor<100x320x!s>
}

// -----

!g = !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f8E8M0FNU, groups = 8>
!s = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4, groups = 8>

// Rows of groups are padded to 128 for each: (rows floordiv 128 + 8) * 128.
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<()[s0] -> ((s0 floordiv 128) * 4 + 32)>
// CHECK-LABEL: func @groups(
// CHECK-SAME: tensor<300x256xf8E4M3FN> {{{.*}}}, %{{[^:]*}}: tensor<1280x8xf8E8M0FNU>
// CHECK: affine.apply
// CHECK: tensor.empty(%{{.*}}) : tensor<?x256xf8E8M0FNU>
func.func @groups(%x: tensor<300x256x!s>, %n: index) -> (tensor<?x256x!g>, tensor<300x256x!s>) {
  %0 = tensor.empty(%n) : tensor<?x256x!g>
  return %0, %x : tensor<?x256x!g>, tensor<300x256x!s>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func private @callee(tensor<4x64xf8E4M3FN> {moeq.name = "arg0"}, tensor<4x1xf32> {moeq.name = "arg0.scale"}) -> (tensor<4x64xf8E4M3FN> {moeq.name = "result0"}, tensor<4x1xf32> {moeq.name = "result0.scale"})
func.func private @callee(tensor<4x64x!a>) -> tensor<4x64x!a>

// CHECK-LABEL: func @control_flow(
// CHECK: %[[CALL:.*]]:2 = call @callee(%{{.*}}, %{{.*}}) {moeq.marked}
// CHECK: %[[IF:.*]]:2 = scf.if
// CHECK: scf.yield %[[CALL]]#0, %[[CALL]]#1
// CHECK: %[[WHILE:.*]]:2 = scf.while (%{{.*}} = %[[IF]]#0, %{{.*}} = %[[IF]]#1)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : tensor<4x64xf8E4M3FN>, tensor<4x1xf32>
// CHECK: scf.index_switch %{{.*}} -> tensor<4x64xf8E4M3FN>, tensor<4x1xf32>
// CHECK: arith.select %{{.*}} : tensor<4x64xf8E4M3FN>
// CHECK: arith.select %{{.*}} : tensor<4x1xf32>
// CHECK: cf.cond_br %{{.*}}, ^bb1(%{{.*}}, %{{.*}} : tensor<4x64xf8E4M3FN>, tensor<4x1xf32>), ^bb2
// CHECK: ^bb1(%{{.*}}: tensor<4x64xf8E4M3FN>, %{{.*}}: tensor<4x1xf32>)
// CHECK: cf.br ^bb3(%{{.*}}, %{{.*}} : tensor<4x64xf8E4M3FN>, tensor<4x1xf32>)
func.func @control_flow(%c: i1, %i: index, %a: tensor<4x64x!a>) -> tensor<4x64x!a> {
  %0 = func.call @callee(%a) {moeq.marked} : (tensor<4x64x!a>) -> tensor<4x64x!a>
  %1 = scf.if %c -> tensor<4x64x!a> {
    scf.yield %0 : tensor<4x64x!a>
  } else {
    scf.yield %a : tensor<4x64x!a>
  }
  %2 = scf.while (%x = %1) : (tensor<4x64x!a>) -> tensor<4x64x!a> {
    scf.condition(%c) %x : tensor<4x64x!a>
  } do {
  ^bb0(%x: tensor<4x64x!a>):
    scf.yield %x : tensor<4x64x!a>
  }
  %3 = scf.index_switch %i -> tensor<4x64x!a>
  case 0 {
    scf.yield %2 : tensor<4x64x!a>
  }
  default {
    scf.yield %a : tensor<4x64x!a>
  }
  %4 = arith.select %c, %3, %a : tensor<4x64x!a>
  cf.cond_br %c, ^bb1(%4 : tensor<4x64x!a>), ^bb2
^bb1(%x: tensor<4x64x!a>):
  cf.br ^bb3(%x : tensor<4x64x!a>)
^bb2:
  cf.br ^bb3(%4 : tensor<4x64x!a>)
^bb3(%y: tensor<4x64x!a>):
  return %y : tensor<4x64x!a>
}

// -----

!a = !moeq.scaled<i8, block = [*], scale = f32, zero = i8>

// What bufferization reads holds for each component.
// CHECK-LABEL: func @writable(
// CHECK-SAME: tensor<4x64xi8> {bufferization.writable = false, moeq.name = "x", moeq.other = 1 : i64}
// CHECK-SAME: tensor<4x1xf32> {bufferization.writable = false, moeq.name = "x.scale"}
// CHECK-SAME: tensor<4x1xi8> {bufferization.writable = false, moeq.name = "x.zero"}
func.func @writable(%a: tensor<4x64x!a> {bufferization.writable = false, moeq.name = "x", moeq.other = 1}) -> tensor<4x64x!a> {
  return %a : tensor<4x64x!a>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @pack_unpack(
// CHECK-SAME: %[[V:[^:]*]]: tensor<4x64xf8E4M3FN>, %[[S:[^:]*]]: tensor<4x1xf32>
// CHECK-NEXT: return %[[V]], %[[S]]
func.func @pack_unpack(%v: tensor<4x64xf8E4M3FN>, %s: tensor<4x1xf32>) -> (tensor<4x64xf8E4M3FN>, tensor<4x1xf32>) {
  %0 = moeq.pack %v, %s : tensor<4x64xf8E4M3FN>, tensor<4x1xf32> -> tensor<4x64x!a>
  %1:2 = moeq.unpack %0 : tensor<4x64x!a> -> tensor<4x64xf8E4M3FN>, tensor<4x1xf32>
  return %1#0, %1#1 : tensor<4x64xf8E4M3FN>, tensor<4x1xf32>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @unreachable(
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @unreachable(%x: tensor<4x64x!a>) -> tensor<4x64x!a> {
  return %x : tensor<4x64x!a>
^bb1(%y: tensor<4x64x!a>):
  return %y : tensor<4x64x!a>
}

// -----

// Without scaled tensors nothing changes.
// CHECK-LABEL: func @plain(
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {moeq.name = "x"}) -> tensor<4xf32>
func.func @plain(%x: tensor<4xf32> {moeq.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

!w = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>

// A size that is a constant value is dynamic in the type.
// CHECK-LABEL: func @constant_size
// CHECK:       tensor.extract_slice %{{.*}} : tensor<?x?xf8E4M3FN> to tensor<4x?xf8E4M3FN>
// CHECK:       tensor.insert_slice %{{.*}} : tensor<4x?xf8E4M3FN> into tensor<?x?xf8E4M3FN>
func.func @constant_size(%a: tensor<?x?x!w>, %b: tensor<?x?x!w>) -> tensor<?x?x!w> {
  %c256 = arith.constant 256 : index
  %0 = tensor.extract_slice %a[0, 0] [4, %c256] [1, 1] : tensor<?x?x!w> to tensor<4x?x!w>
  %1 = tensor.insert_slice %0 into %b[0, 0] [4, %c256] [1, 1] : tensor<4x?x!w> into tensor<?x?x!w>
  return %1 : tensor<?x?x!w>
}
