// RUN: moeq-opt %s -generate-runtime-verification=verbose-level=0 -canonicalize | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-LABEL: func @grouped_matmul(
// CHECK-SAME: %[[O:[^:]*]]: memref<9xi32>, %[[Y:[^:]*]]: memref<?x32xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: memref.dim %[[Y]]
// CHECK: memref.load %[[O]][%[[C0]]]
// CHECK: %[[OK:.*]] = arith.cmpi sge
// CHECK: cf.assert %[[OK]], "{{.*}}expects offsets from 0 on
// CHECK: scf.for %[[E:.*]] = %[[C0]] to %[[C8]]
// CHECK: memref.load %[[O]][%[[E]]]
// CHECK: memref.load %[[O]]
// CHECK: %[[OK:.*]] = arith.cmpi sle
// CHECK: cf.assert %[[OK]], "{{.*}}expects sorted offsets
// CHECK: memref.load %[[O]][%[[C8]]]
// CHECK: %[[OK:.*]] = arith.cmpi sle
// CHECK: cf.assert %[[OK]], "{{.*}}expects offsets up to the number of rows
// CHECK: moeq.grouped_matmul
func.func @grouped_matmul(%o: memref<9xi32>, %y: memref<?x32xf32>, %a: memref<?x64xbf16>, %w: memref<8x32x64xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<8x32x64xbf16>) offsets(%o : memref<9xi32>) outs(%y : memref<?x32xf32>)
  return
}

// CHECK-LABEL: func @masked(
// CHECK-SAME: %[[N:[^:]*]]: memref<8xi32>, %[[Y:[^:]*]]: memref<8x?x32xf32>
// CHECK: %[[M:.*]] = memref.dim %[[Y]], %c1
// CHECK: scf.for %[[E:.*]] =
// CHECK: memref.load %[[N]][%[[E]]]
// CHECK: %[[OK:.*]] = arith.cmpi ule, %{{.*}}, %[[M]]
// CHECK: cf.assert %[[OK]], "{{.*}}expects counts of at most the rows of an expert
// CHECK: moeq.grouped_matmul
func.func @masked(%n: memref<8xi32>, %y: memref<8x?x32xf32>, %a: memref<8x?x64xbf16>, %w: memref<8x32x64xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<8x?x64xbf16>) rhs(%w : memref<8x32x64xbf16>) counts(%n : memref<8xi32>) outs(%y : memref<8x?x32xf32>)
  return
}

// CHECK-LABEL: func @gathered(
// CHECK-SAME: %[[R:[^:]*]]: memref<?xi32>, %[[A:[^:]*]]: memref<?x64xbf16>
// CHECK: %[[T:.*]] = memref.dim %[[A]], %c0
// CHECK: memref.load %[[R]]
// CHECK: %[[OK:.*]] = arith.cmpi slt, %{{.*}}, %[[T]]
// CHECK: cf.assert %[[OK]], "{{.*}}expects rows of the lhs
// CHECK: moeq.grouped_matmul
func.func @gathered(%r: memref<?xi32>, %a: memref<?x64xbf16>, %o: memref<9xi32>, %y: memref<?x32xf32>, %w: memref<8x32x64xbf16>) {
  moeq.grouped_matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<8x32x64xbf16>) offsets(%o : memref<9xi32>) rows(%r : memref<?xi32>) outs(%y : memref<?x32xf32>)
  return
}

// CHECK-LABEL: func @group(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<?x2xi32>
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[T:.*]] = tensor.dim %[[IDS]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[T]]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[C2]]
// CHECK: %[[ID:.*]] = tensor.extract %[[IDS]][%[[I]], %[[J]]]
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[ID]]
// CHECK: %[[OK:.*]] = arith.cmpi slt, %[[INDEX]], %[[C8]]
// CHECK: cf.assert %[[OK]], "{{.*}}expects ids below the number of experts
// CHECK: moeq.group
func.func @group(%ids: tensor<?x2xi32>, %r: tensor<?xi32>, %s: tensor<?x2xi32>, %o: tensor<9xi32>) -> tensor<9xi32> {
  %0:3 = moeq.group ids(%ids : tensor<?x2xi32>) outs(%r, %s, %o : tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>)
      -> tensor<?xi32>, tensor<?x2xi32>, tensor<9xi32>
  return %0#2 : tensor<9xi32>
}

// Ids are those of the map.
// CHECK-LABEL: func @group_map(
// CHECK-SAME: %[[MAP:[^:]*]]: memref<?xi32>
// CHECK: %[[E:.*]] = memref.dim %[[MAP]]
// CHECK: arith.cmpi slt, %{{.*}}, %[[E]]
func.func @group_map(%map: memref<?xi32>, %ids: memref<?x2xi32>, %r: memref<?xi32>, %s: memref<?x2xi32>, %o: memref<9xi32>) {
  moeq.group ids(%ids : memref<?x2xi32>) expert_map(%map : memref<?xi32>) outs(%r, %s, %o : memref<?xi32>, memref<?x2xi32>, memref<9xi32>)
  return
}

// CHECK-LABEL: func @gather(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x64xbf16>
// CHECK: %[[T:.*]] = memref.dim %[[X]]
// CHECK: %[[OK:.*]] = arith.cmpi slt, %{{.*}}, %[[T]]
// CHECK: cf.assert %[[OK]], "{{.*}}expects rows of the input
// CHECK: moeq.gather
func.func @gather(%x: memref<?x64xbf16>, %rows: memref<?xi32>, %y: memref<?x64xbf16>) {
  moeq.gather input(%x : memref<?x64xbf16>) rows(%rows : memref<?xi32>) outs(%y : memref<?x64xbf16>)
  return
}

// CHECK-LABEL: func @quantize_rows(
// CHECK: cf.assert %{{.*}}, "{{.*}}expects rows of the input
// CHECK: moeq.quantize
func.func @quantize_rows(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>, %q: tensor<?x64x!a>) -> tensor<?x64x!a> {
  %0 = moeq.quantize input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>) outs(%q : tensor<?x64x!a>) recipe(<vllm_token>) -> tensor<?x64x!a>
  return %0 : tensor<?x64x!a>
}

// CHECK-LABEL: func @quantize(
// CHECK-NOT: cf.assert
// CHECK: moeq.quantize
func.func @quantize(%x: tensor<?x64xbf16>, %q: tensor<?x64x!a>) -> tensor<?x64x!a> {
  %0 = moeq.quantize input(%x : tensor<?x64xbf16>) outs(%q : tensor<?x64x!a>) recipe(<vllm_token>) -> tensor<?x64x!a>
  return %0 : tensor<?x64x!a>
}

// CHECK-LABEL: func @quantize_groups(
// CHECK: cf.assert %{{.*}}, "{{.*}}expects offsets from 0 on
// CHECK: cf.assert %{{.*}}, "{{.*}}expects sorted offsets
// CHECK: cf.assert %{{.*}}, "{{.*}}expects offsets up to the number of rows
// CHECK: moeq.quantize
// CHECK: cf.assert %{{.*}}, "{{.*}}expects offsets from 0 on
// CHECK: moeq.act_quant
func.func @quantize_groups(%x: memref<?x64xbf16>, %o: memref<9xi32>, %q: memref<?x64xf8E4M3FN>, %s: memref<?x1xf32>) {
  moeq.quantize input(%x : memref<?x64xbf16>) offsets(%o : memref<9xi32>)
      outs(%q, %s : memref<?x64xf8E4M3FN>, memref<?x1xf32> as !a) recipe(<vllm_token>)
  moeq.act_quant input(%x : memref<?x64xbf16>) offsets(%o : memref<9xi32>)
      outs(%q, %s : memref<?x64xf8E4M3FN>, memref<?x1xf32> as !a) function(silu) recipe(<vllm_token>)
  return
}

// CHECK-LABEL: func @combine(
// CHECK: cf.assert %{{.*}}, "{{.*}}expects slots of the input
// CHECK: moeq.combine
func.func @combine(%x: memref<?x64xbf16>, %slots: memref<?x2xi32>, %y: memref<?x64xbf16>) {
  moeq.combine input(%x : memref<?x64xbf16>) slots(%slots : memref<?x2xi32>) outs(%y : memref<?x64xbf16>)
  return
}

// CHECK-LABEL: func @plan(
// CHECK-SAME: %[[O:[^:]*]]: memref<?xi32>
// CHECK: %[[SIZE:.*]] = memref.dim %[[O]]
// CHECK: %[[OK:.*]] = arith.cmpi sle, %[[SIZE]], %c1025
// CHECK: cf.assert %[[OK]], "{{.*}}expects experts that a kernel can plan for
// CHECK: moeq.plan
func.func @plan(%o: memref<?xi32>, %n: index, %t: memref<?x4xi32>) {
  moeq.plan offsets(%o : memref<?xi32>) columns(%n) outs(%t : memref<?x4xi32>)
      tile_columns(256) max_width(160) ctas(132)
  return
}

// Offsets into transposed operands are at padded rows, and end with the columns.
// CHECK-LABEL: func @contract_rows(
// CHECK-SAME: %[[O:[^:]*]]: memref<9xi32>, %[[A:[^:]*]]: memref<64x?xf8E4M3FN>
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %[[C128]]
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[REST]]
// CHECK: cf.assert %[[OK]], "{{.*}}expects offsets that are multiples of 128
// CHECK: %[[P:.*]] = memref.dim %[[A]], %c1
// CHECK: %[[OK:.*]] = arith.cmpi sle, %{{.*}}, %[[P]]
// CHECK: cf.assert %[[OK]], "{{.*}}expects offsets up to the number of rows
func.func @contract_rows(%o: memref<9xi32>, %a: memref<64x?xf8E4M3FN>, %s: memref<64x?xf8E8M0FNU>, %y: memref<8x64x64xf32>) {
  moeq.grouped_matmul lhs(%a, %s : memref<64x?xf8E4M3FN>, memref<64x?xf8E8M0FNU> as !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>)
      rhs(%a, %s : memref<64x?xf8E4M3FN>, memref<64x?xf8E8M0FNU> as !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>)
      offsets(%o : memref<9xi32>) outs(%y : memref<8x64x64xf32>) contract(rows)
  return
}
