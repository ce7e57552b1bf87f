// REQUIRES: ptxas
// RUN: moeq-opt %s --moeq-outline-kernels --moeq-to-ptx=format=bin | FileCheck %s

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

// CHECK-DAG: gpu.binary @dispatch_kernels_dispatch_group_padded
// CHECK-DAG: gpu.binary @dispatch_kernels_dispatch_group 
// CHECK-DAG: gpu.binary @dispatch_kernels_dispatch_plan
// CHECK-DAG: gpu.binary @dispatch_kernels_dispatch_gather
// CHECK-DAG: gpu.binary @dispatch_kernels_dispatch_combine
func.func @dispatch(%ids: memref<?x2xi32>, %map: memref<16xi32>, %w: memref<?x2xf32>,
    %x: memref<?x4096xbf16>, %y: memref<?x4096xbf16>,
    %q: memref<?x4096xf8E4M3FN>, %s: memref<?x1xf32>, %qo: memref<?x4096xf8E4M3FN>, %so: memref<?x1xf32>,
    %rows: memref<?xi32>, %slots: memref<?x2xi32>, %offsets: memref<9xi32>, %padded: memref<9xi32>,
    %sorted: memref<?xf32>, %table: memref<9x4xi32>, %n: index) {
  moeq.group ids(%ids : memref<?x2xi32>) expert_map(%map : memref<16xi32>)
      weights(%w : memref<?x2xf32>)
      outs(%rows, %slots, %offsets : memref<?xi32>, memref<?x2xi32>, memref<9xi32>)
      padded_offsets(%padded : memref<9xi32>) sorted_weights(%sorted : memref<?xf32>)
  moeq.plan offsets(%offsets : memref<9xi32>) columns(%n) outs(%table : memref<9x4xi32>)
      tile_columns(256) max_width(160) ctas(132)
  moeq.gather input(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !a)
      rows(%rows : memref<?xi32>) outs(%qo, %so : memref<?x4096xf8E4M3FN>, memref<?x1xf32> as !a)
  moeq.combine input(%x : memref<?x4096xbf16>) slots(%slots : memref<?x2xi32>)
      weights(%w : memref<?x2xf32>) outs(%y : memref<?x4096xbf16>)
  return
}

// CHECK-DAG: gpu.binary @rows_kernels_rows_route
// CHECK-DAG: gpu.binary @rows_kernels_rows_activate
func.func @rows(%l: memref<?x256xf32>, %b : memref<256xf32>, %i: memref<?x8xi32>, %w: memref<?x8xf32>,
    %h: memref<?x8192xbf16>, %a: memref<?x4096xbf16>) {
  moeq.route logits(%l : memref<?x256xf32>) bias(%b : memref<256xf32>)
      outs(%i, %w : memref<?x8xi32>, memref<?x8xf32>) score(sigmoid) renormalize scale(2.5)
      n_group(8) topk_group(4) group_score(top2_sum)
  moeq.activate input(%h : memref<?x8192xbf16>) outs(%a : memref<?x4096xbf16>) function(swiglu)
  return
}

!b = !moeq.scaled<f8E4M3FN, block = [128], scale = f32>
!t = !moeq.scaled<f8E4M3FN, block = [*, *], scale = f32>

// CHECK-DAG: gpu.binary @quantized_kernels_quantized_quantize 
// CHECK-DAG: gpu.binary @quantized_kernels_quantized_quantize_amax
// CHECK-DAG: gpu.binary @quantized_kernels_quantized_act_quant
func.func @quantized(%x: memref<?x4096xbf16>, %rows: memref<?xi32>, %h: memref<?x28672xbf16>,
    %q: memref<?x4096xf8E4M3FN>, %s: memref<?x32xf32>, %st: memref<1x1xf32>,
    %a: memref<?x14336xf8E4M3FN>, %sa: memref<?x1xf32>) {
  moeq.quantize input(%x : memref<?x4096xbf16>) rows(%rows : memref<?xi32>)
      outs(%q, %s : memref<?x4096xf8E4M3FN>, memref<?x32xf32> as !b) recipe(<deepgemm>)
  moeq.quantize input(%x : memref<?x4096xbf16>)
      outs(%q, %st : memref<?x4096xf8E4M3FN>, memref<1x1xf32> as !t) recipe(<te>)
  moeq.act_quant input(%h : memref<?x28672xbf16>)
      outs(%a, %sa : memref<?x14336xf8E4M3FN>, memref<?x1xf32> as !a)
      function(swiglu) intermediate_round(bf16) recipe(<vllm_token>)
  return
}
