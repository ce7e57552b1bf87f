// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!row = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4, groups = 8>

// CHECK-LABEL: @both
// CHECK: moeq.act_quant_grad grad(%{{.*}} : tensor<?x128xbf16>) input(%{{.*}} : tensor<?x256xbf16>) row_weight(%{{.*}} : tensor<?xf32>) offsets(%{{.*}} : tensor<9xi32>) outs(%{{.*}} : tensor<?x256x!{{.*}}>) columnwise(%{{.*}} : tensor<256x?x!{{.*}}>) function(swiglu) gate_layout(interleaved) intermediate_round(bf16) recipe(<te_mx>) -> tensor<?x256x!{{.*}}>, tensor<256x?x!{{.*}}>
func.func @both(%d: tensor<?x128xbf16>, %x: tensor<?x256xbf16>, %w: tensor<?xf32>, %o: tensor<9xi32>, %q: tensor<?x256x!row>,
                %t: tensor<256x?x!mx>) -> (tensor<?x256x!row>, tensor<256x?x!mx>) {
  %0:2 = moeq.act_quant_grad grad(%d : tensor<?x128xbf16>) input(%x : tensor<?x256xbf16>) row_weight(%w : tensor<?xf32>)
      offsets(%o : tensor<9xi32>) outs(%q : tensor<?x256x!row>) columnwise(%t : tensor<256x?x!mx>) function(swiglu)
      gate_layout(interleaved) intermediate_round(bf16) recipe(<te_mx>) -> tensor<?x256x!row>, tensor<256x?x!mx>
  return %0#0, %0#1 : tensor<?x256x!row>, tensor<256x?x!mx>
}

// CHECK-LABEL: @rowwise
// CHECK: moeq.act_quant_grad grad(%{{.*}} : memref<4x64xf16>) input(%{{.*}} : memref<4x64xf32>) outs(%{{.*}}, %{{.*}} : memref<4x64xf8E4M3FN>, memref<4x2xf8E8M0FNU> as !{{.*}}) function(srelu) recipe(<te_mx>)
func.func @rowwise(%d: memref<4x64xf16>, %x: memref<4x64xf32>, %q: memref<4x64xf8E4M3FN>, %s: memref<4x2xf8E8M0FNU>) {
  moeq.act_quant_grad grad(%d : memref<4x64xf16>) input(%x : memref<4x64xf32>)
      outs(%q, %s : memref<4x64xf8E4M3FN>, memref<4x2xf8E8M0FNU> as !mx) function(srelu) recipe(<te_mx>)
  return
}

// CHECK-LABEL: @bias
// CHECK: moeq.act_quant_grad {{.*}} outs(%{{.*}} : tensor<?x128x!{{.*}}>) bias_grad(%{{.*}} : tensor<8x128xf32>) function(swiglu) recipe(<te_mx>) -> tensor<?x128x!{{.*}}>, tensor<8x128xf32>
func.func @bias(%d: tensor<?x64xbf16>, %x: tensor<?x128xbf16>, %o: tensor<9xi32>, %q: tensor<?x128x!mx>,
                %b: tensor<8x128xf32>) -> (tensor<?x128x!mx>, tensor<8x128xf32>) {
  %0:2 = moeq.act_quant_grad grad(%d : tensor<?x64xbf16>) input(%x : tensor<?x128xbf16>) offsets(%o : tensor<9xi32>)
      outs(%q : tensor<?x128x!mx>) bias_grad(%b : tensor<8x128xf32>) function(swiglu) recipe(<te_mx>)
      -> tensor<?x128x!mx>, tensor<8x128xf32>
  return %0#0, %0#1 : tensor<?x128x!mx>, tensor<8x128xf32>
}
