// RUN: moeq-opt %s --moeq-outline-kernels --canonicalize --cse | FileCheck %s

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>

// One kernel, which computes the gradient of a column of gate and of up once.
// CHECK-LABEL: llvm.func @gradient_act_quant_grad(
// CHECK:         nvvm.shfl.sync bfly
// CHECK-LABEL: func.func @gradient
// CHECK-SAME:      %[[D:[^:]*]]: memref<?x64xbf16>, %[[X:[^:]*]]: memref<?x128xbf16>, %[[Q:[^:]*]]: memref<?x128xf8E4M3FN>
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch_func @gradient_kernels::@gradient_act_quant_grad{{.*}}%[[X]]
// CHECK-NOT:     gpu.launch_func
func.func @gradient(%d: memref<?x64xbf16>, %x: memref<?x128xbf16>, %q: memref<?x128xf8E4M3FN>, %s: memref<?x4xf8E8M0FNU>) {
  moeq.act_quant_grad grad(%d : memref<?x64xbf16>) input(%x : memref<?x128xbf16>)
      outs(%q, %s : memref<?x128xf8E4M3FN>, memref<?x4xf8E8M0FNU> as !mx) function(swiglu)
      intermediate_round(f16) recipe(<te_mx>)
  return
}

// Two operands of MXFP8 become bf16 before the matmul.
// CHECK-LABEL: func.func @forward
// CHECK-SAME:      %[[A:[^:]*]]: memref<?x64xf8E4M3FN>
// CHECK:         %[[ROWS:.*]] = memref.dim %[[A]], %c0
// CHECK:         %[[WIDE_A:.*]] = memref.alloc(%[[ROWS]]) : memref<?x64xbf16>
// CHECK:         %[[WIDE_W:.*]] = memref.alloc() : memref<8x128x64xbf16>
// CHECK:         gpu.launch_func @forward_kernels::@forward_dequantize{{.*}}%[[WIDE_A]]
// CHECK:         gpu.launch_func @forward_kernels::@forward_dequantize{{.*}}%[[WIDE_W]]
// CHECK-DAG:     moeq_gpu.encode_tensor_map %[[WIDE_A]]
// CHECK-DAG:     moeq_gpu.encode_tensor_map %[[WIDE_W]]
// CHECK:         gpu.launch_func @forward_kernels::@forward_grouped_matmul
// CHECK:         memref.dealloc %[[WIDE_A]]
// CHECK:         memref.dealloc %[[WIDE_W]]
func.func @forward(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x2xf8E8M0FNU>, %w: memref<8x128x64xf8E4M3FN>,
                   %sw: memref<8x128x2xf8E8M0FNU>, %o: memref<9xi32>, %c: memref<?x128xbf16>) {
  moeq.grouped_matmul lhs(%a, %sa : memref<?x64xf8E4M3FN>, memref<?x2xf8E8M0FNU> as !mx)
      rhs(%w, %sw : memref<8x128x64xf8E4M3FN>, memref<8x128x2xf8E8M0FNU> as !mx)
      offsets(%o : memref<9xi32>) outs(%c : memref<?x128xbf16>)
  return
}

// Sums of blocks of 32 padded rows, then those of a group: (rows / 128 + 8) * 4 blocks at most.
// CHECK-LABEL: func.func @bias
// CHECK-SAME:      %[[D:[^:]*]]: memref<?x64xbf16>, {{.*}}, %[[SUMS:[^:]*]]: memref<8x128xf32>
// CHECK:         %[[PARTIAL:.*]] = memref.alloc(%{{.*}}) : memref<?x128xf32>
// CHECK:         gpu.launch_func @bias_kernels::@bias_act_quant_grad blocks{{.*}}%[[PARTIAL]]
// CHECK:         gpu.launch_func @bias_kernels::@bias_act_quant_grad_sums blocks in (%c8, {{.*}}args({{.*}}%[[SUMS]]
// CHECK:         memref.dealloc %[[PARTIAL]]
func.func @bias(%d: memref<?x64xbf16>, %x: memref<?x128xbf16>, %o: memref<9xi32>, %q: memref<?x128xf8E4M3FN>,
                %s: memref<?x4xf8E8M0FNU>, %b: memref<8x128xf32>) {
  moeq.act_quant_grad grad(%d : memref<?x64xbf16>) input(%x : memref<?x128xbf16>) offsets(%o : memref<9xi32>)
      outs(%q, %s : memref<?x128xf8E4M3FN>, memref<?x4xf8E8M0FNU> as !mx) bias_grad(%b : memref<8x128xf32>)
      function(swiglu) recipe(<te_mx>)
  return
}
