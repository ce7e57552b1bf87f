// RUN: moeq-opt %s -moeq-tile="tile-m=64 tile-n=128" -split-input-file | FileCheck %s
// RUN: moeq-opt %s -moeq-tile="tile-m=64 tile-n=128 fuse" -split-input-file | FileCheck %s --check-prefix=FUSE
// RUN: moeq-opt %s -moeq-tile="tile-m=64 tile-n=128 fuse" -moeq-unpack-scaled -split-input-file \
// RUN:   -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   -canonicalize -cse -canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: moeq-opt %s -moeq-tile="tile-m=64 tile-n=128 fuse" -split-input-file --remarks-filter=moeq-tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!a = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!w = !moeq.scaled<f8E4M3FN, block = [128, 128], scale = f32>

// CHECK-LABEL: func @matmul(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x256xbf16>, %[[W:[^:]*]]: tensor<512x256x!{{[^>]*}}>, %[[BIAS:[^:]*]]: tensor<512xf32>, %[[INIT:[^:]*]]: tensor<?x512xbf16>
// CHECK: %[[Q:.*]] = moeq.quantize
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (%{{.*}}, 512) step (64, 128) shared_outs(%[[OUT:.*]] = %[[INIT]])
// CHECK: %[[MS:.*]] = affine.min
// CHECK: %[[A:.*]] = tensor.extract_slice %[[Q]][%[[M]], 0] [%[[MS]], 256]
// CHECK: %[[B:.*]] = tensor.extract_slice %[[W]][%[[N]], 0] [128, 256]
// CHECK: %[[C:.*]] = tensor.extract_slice %[[BIAS]][%[[N]]] [128]
// CHECK: %[[D:.*]] = tensor.extract_slice %[[OUT]][%[[M]], %[[N]]] [%[[MS]], 128]
// CHECK: %[[TILE:.*]] = moeq.matmul lhs(%[[A]] : {{.*}}) rhs(%[[B]] : {{.*}}) outs(%[[D]] : tensor<?x128xbf16>) accumulate(<promote<128>>)
// CHECK-SAME: epilogue(%[[C]] : tensor<128xf32>) maps [column]
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[ROW:.*]]: index, %[[COL:.*]]: index, %{{.*}}: f32):
// CHECK-NEXT: %[[R:.*]] = arith.addi %[[ROW]], %[[M]]
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[COL]], %[[N]]
// CHECK-NEXT: arith.cmpi eq, %[[R]], %[[S]]
// CHECK: tensor.parallel_insert_slice %[[TILE]] into %[[OUT]][%[[M]], %[[N]]] [%[[MS]], 128]

// REMARK: [Passed] fuse | Category:moeq-tile
// FUSE-LABEL: func @matmul(
// FUSE-NOT: moeq.quantize
// FUSE: scf.forall
// FUSE: moeq.quantize
// FUSE-NEXT: tensor.extract_slice
// FUSE: moeq.matmul

// Tiles write in place.
// BUFFER-LABEL: func @matmul(
// BUFFER-NOT: memref.copy
// BUFFER: return
func.func @matmul(%x: tensor<?x256xbf16>, %w: tensor<512x256x!w>, %bias: tensor<512xf32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x256x!a>
  %q = moeq.quantize input(%x : tensor<?x256xbf16>) outs(%e : tensor<?x256x!a>) recipe(<deepgemm>) -> tensor<?x256x!a>
  %0 = moeq.matmul lhs(%q : tensor<?x256x!a>) rhs(%w : tensor<512x256x!w>) outs(%init : tensor<?x512xbf16>)
      accumulate(<promote<128>>) epilogue(%bias : tensor<512xf32>) maps [column] {
    ^bb0(%acc: f32, %row: index, %col: index, %b: f32):
      %c = arith.cmpi eq, %row, %col : index
      %s = arith.select %c, %acc, %b : f32
      %r = arith.truncf %s : f32 to bf16
      moeq.yield %r : bf16
  } -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// Each row tile finds its expert by the offsets; rows are clamped to it.
// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0] -> (s0 floordiv 64 + 8, (s0 ceildiv 64) * 8)>
// CHECK-LABEL: func @grouped_matmul(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x256x!{{[^>]*}}>, %[[W:[^:]*]]: tensor<8x512x256x!{{[^>]*}}>, %[[O:[^:]*]]: tensor<9xi32>, %[[RW:[^:]*]]: tensor<?xf32>, %[[BIAS:[^:]*]]: tensor<8x512xf32>, %[[RES:[^:]*]]: tensor<?x512xbf16>, %[[INIT:[^:]*]]: tensor<?x512xbf16>
// CHECK: %[[T:.*]] = affine.min #[[TILES]]()[%{{.*}}]
// CHECK: scf.forall (%[[I:.*]], %[[N:.*]]) = (0, 0) to (%[[T]], 512) step (1, 128) shared_outs(%[[OUT:.*]] = %[[INIT]])
// CHECK: %[[F:.*]]:4 = scf.for
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[ROWS:.*]] = arith.maxsi
// CHECK: tensor.extract_slice %[[A]][%[[R:.*]], 0] [%[[ROWS]], 256]
// CHECK: tensor.extract_slice %[[W]][%[[F]]#1, %[[N]], 0] [1, 128, 256] [1, 1, 1] : {{.*}} to tensor<128x256x!
// CHECK: tensor.extract_slice %[[RW]][%[[R]]] [%[[ROWS]]]
// CHECK: tensor.extract_slice %[[BIAS]][%[[F]]#1, %[[N]]] [1, 128] [1, 1] : tensor<8x512xf32> to tensor<128xf32>
// CHECK: tensor.extract_slice %[[RES]][%[[R]], %[[N]]] [%[[ROWS]], 128]
// CHECK: tensor.extract_slice %[[OUT]][%[[R]], %[[N]]] [%[[ROWS]], 128]
// CHECK: %[[TILE:.*]] = moeq.matmul
// CHECK-SAME: maps [row, column, row_column]
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[ROW:.*]]: index, %{{.*}}: index
// CHECK-NEXT: arith.addi %[[ROW]], %[[R]]
// CHECK: tensor.parallel_insert_slice %[[TILE]] into %[[OUT]][%[[R]], %[[N]]] [%[[ROWS]], 128]
// CHECK-NOT: moeq.config

// BUFFER-LABEL: func @grouped_matmul(
// BUFFER-NOT: memref.alloc
// BUFFER-NOT: memref.copy
// BUFFER: return
func.func @grouped_matmul(%a: tensor<?x256x!a>, %w: tensor<8x512x256x!a>, %o: tensor<9xi32>, %rw: tensor<?xf32>,
    %bias: tensor<8x512xf32>, %res: tensor<?x512xbf16>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x512x256x!a>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<?x512xbf16>)
      epilogue(%rw, %bias, %res : tensor<?xf32>, tensor<8x512xf32>, tensor<?x512xbf16>) maps [row, column, row_column] {
    ^bb0(%acc: f32, %row: index, %col: index, %w0: f32, %b0: f32, %r0: bf16):
      %i = arith.index_cast %row : index to i32
      %f = arith.sitofp %i : i32 to f32
      %s = arith.addf %acc, %f : f32
      %r = arith.truncf %s : f32 to bf16
      moeq.yield %r : bf16
  } -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// The config wins, and moves to the loop.
// CHECK-LABEL: func @config(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (%{{.*}}, 512) step (1, 256)
// CHECK: moeq.matmul
// CHECK-NOT: config(
// CHECK: } {moeq.config = #moeq.config<tile = [128, 256]
func.func @config(%a: tensor<?x256x!a>, %w: tensor<8x512x256x!a>, %o: tensor<9xi32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x256x!a>) rhs(%w : tensor<8x512x256x!a>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<?x512xbf16>) config(<tile = [128, 256]>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// Rows that are gathered, activated and quantized tile by tile.
// FUSE-LABEL: func @fuse_act_quant(
// FUSE-NOT: moeq.act_quant
// FUSE: scf.forall
// FUSE: moeq.act_quant input(%{{.*}} : tensor<?x512xbf16>) outs(%{{.*}} : tensor<?x256x!{{.*}}>) function(swiglu) recipe(<vllm_token>)
// FUSE: moeq.matmul
func.func @fuse_act_quant(%x: tensor<?x512xbf16>, %w: tensor<8x512x256x!a>, %o: tensor<9xi32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %e = tensor.empty(%m) : tensor<?x256x!a>
  %q = moeq.act_quant input(%x : tensor<?x512xbf16>) outs(%e : tensor<?x256x!a>) function(swiglu) recipe(<vllm_token>) -> tensor<?x256x!a>
  %0 = moeq.grouped_matmul lhs(%q : tensor<?x256x!a>) rhs(%w : tensor<8x512x256x!a>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// FUSE-LABEL: func @fuse_gathered_rows(
// FUSE-SAME: %[[X:[^:]*]]: tensor<?x256xbf16>, %[[ROWS:[^:]*]]: tensor<?xi32>
// FUSE: scf.forall
// FUSE: %[[R:.*]] = tensor.extract_slice %[[ROWS]]
// FUSE: moeq.quantize input(%[[X]] : tensor<?x256xbf16>) rows(%[[R]] : tensor<?xi32>)
// FUSE: moeq.matmul

// Another use keeps the quantize too.
// FUSE-LABEL: func @fuse_used(
// FUSE: moeq.quantize
// FUSE: scf.forall
// FUSE: moeq.quantize

// Under one scale of all rows no tile can be quantized apart.
// REMARK: [Missed] fuse | Category:moeq-tile | {{.*}}stays outside the loop: its scales span rows
// REMARK: [Missed] fuse | Category:moeq-tile | {{.*}}stays outside the loop: its rows have groups or a columnwise result
// FUSE-LABEL: func @no_fuse_per_tensor(
// FUSE: moeq.quantize
// FUSE: scf.forall
// FUSE-NOT: moeq.quantize
// FUSE: return
func.func @fuse_gathered_rows(%x: tensor<?x256xbf16>, %rows: tensor<?xi32>, %w: tensor<8x512x256x!a>, %o: tensor<9xi32>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %rows, %c0 : tensor<?xi32>
  %e = tensor.empty(%m) : tensor<?x256x!a>
  %q = moeq.quantize input(%x : tensor<?x256xbf16>) rows(%rows : tensor<?xi32>) outs(%e : tensor<?x256x!a>) recipe(<vllm_token>) -> tensor<?x256x!a>
  %0 = moeq.grouped_matmul lhs(%q : tensor<?x256x!a>) rhs(%w : tensor<8x512x256x!a>) offsets(%o : tensor<9xi32>)
      outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

func.func @fuse_used(%x: tensor<?x256xbf16>, %w: tensor<512x256x!a>, %e: tensor<?x256x!a>, %init: tensor<?x512xbf16>) -> (tensor<?x512xbf16>, tensor<?x256x!a>) {
  %q = moeq.quantize input(%x : tensor<?x256xbf16>) outs(%e : tensor<?x256x!a>) recipe(<vllm_token>) -> tensor<?x256x!a>
  %0 = moeq.matmul lhs(%q : tensor<?x256x!a>) rhs(%w : tensor<512x256x!a>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0, %q : tensor<?x512xbf16>, tensor<?x256x!a>
}

!t = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>
func.func @no_fuse_per_tensor(%x: tensor<?x256xbf16>, %w: tensor<512x256x!t>, %e: tensor<?x256x!t>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %q = moeq.quantize input(%x : tensor<?x256xbf16>) outs(%e : tensor<?x256x!t>) recipe(<amax>) -> tensor<?x256x!t>
  %0 = moeq.matmul lhs(%q : tensor<?x256x!t>) rhs(%w : tensor<512x256x!t>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

func.func @no_fuse_groups(%x: tensor<?x256xbf16>, %w: tensor<8x512x256x!a>, %o: tensor<9xi32>, %e: tensor<?x256x!a>, %init: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %q = moeq.quantize input(%x : tensor<?x256xbf16>) offsets(%o : tensor<9xi32>) outs(%e : tensor<?x256x!a>) recipe(<amax>) -> tensor<?x256x!a>
  %0 = moeq.grouped_matmul lhs(%q : tensor<?x256x!a>) rhs(%w : tensor<8x512x256x!a>) offsets(%o : tensor<9xi32>) outs(%init : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

// Plain operands, and every size dynamic.
// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0, s1] -> (s0 floordiv 64 + s1, (s0 ceildiv 64) * s1)>
// CHECK-LABEL: func @dynamic(
// CHECK: affine.min #[[TILES]]()[%{{.*}}, %{{.*}}]
// CHECK: scf.forall
// CHECK: moeq.matmul lhs(%{{.*}} : tensor<?x?xbf16>) rhs(%{{.*}} : tensor<?x?xbf16>)

// BUFFER-LABEL: func @dynamic(
// BUFFER-NOT: memref.copy
// BUFFER: return
func.func @dynamic(%a: tensor<?x?xbf16>, %w: tensor<?x?x?xbf16>, %o: tensor<?xi32>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x?xbf16>) rhs(%w : tensor<?x?x?xbf16>) offsets(%o : tensor<?xi32>)
      outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func @empty(
// CHECK-NEXT: moeq.grouped_matmul
func.func @empty(%a: tensor<?x0xbf16>, %w: tensor<4x32x0xbf16>, %o: tensor<5xi32>, %init: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = moeq.grouped_matmul lhs(%a : tensor<?x0xbf16>) rhs(%w : tensor<4x32x0xbf16>) offsets(%o : tensor<5xi32>)
      outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
