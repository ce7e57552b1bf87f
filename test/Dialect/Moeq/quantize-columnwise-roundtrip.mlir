// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

!mx = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU>
!row = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4, groups = 8>
!column = !moeq.scaled<f8E4M3FN, block = [32, 1], scale = f8E8M0FNU, groups = 8>

// Of 64 rows in 8 groups: 8 tiles of 128 padded rows.
// CHECK-LABEL: @both
// CHECK: moeq.quantize input(%{{.*}} : tensor<64x256xbf16>) rows(%{{.*}} : tensor<64xi32>) offsets(%{{.*}} : tensor<9xi32>) outs(%{{.*}} : tensor<64x256x!{{.*}}>) columnwise(%{{.*}} : tensor<256x1024x!{{.*}}>) recipe(<te_mx>) -> tensor<64x256x!{{.*}}>, tensor<256x1024x!{{.*}}>
func.func @both(%x: tensor<64x256xbf16>, %rows: tensor<64xi32>, %o: tensor<9xi32>, %q: tensor<64x256x!row>,
                %t: tensor<256x1024x!mx>) -> (tensor<64x256x!row>, tensor<256x1024x!mx>) {
  %0:2 = moeq.quantize input(%x : tensor<64x256xbf16>) rows(%rows : tensor<64xi32>) offsets(%o : tensor<9xi32>)
      outs(%q : tensor<64x256x!row>) columnwise(%t : tensor<256x1024x!mx>) recipe(<te_mx>)
      -> tensor<64x256x!row>, tensor<256x1024x!mx>
  return %0#0, %0#1 : tensor<64x256x!row>, tensor<256x1024x!mx>
}

// CHECK-LABEL: @columnwise
// CHECK: moeq.quantize input(%{{.*}} : memref<?x256xbf16>) offsets(%{{.*}} : memref<9xi32>) columnwise(%{{.*}}, %{{.*}} : memref<?x256xf8E4M3FN>, memref<?x256xf8E8M0FNU> as !{{.*}}) recipe(<te_mx>)
func.func @columnwise(%x: memref<?x256xbf16>, %o: memref<9xi32>, %q: memref<?x256xf8E4M3FN>, %s: memref<?x256xf8E8M0FNU>) {
  moeq.quantize input(%x : memref<?x256xbf16>) offsets(%o : memref<9xi32>)
      columnwise(%q, %s : memref<?x256xf8E4M3FN>, memref<?x256xf8E8M0FNU> as !column) recipe(<te_mx>)
  return
}

// CHECK-LABEL: @act_quant
// CHECK: moeq.act_quant input(%{{.*}} : tensor<?x512xbf16>) row_weight(%{{.*}} : tensor<?xf32>) offsets(%{{.*}} : tensor<9xi32>) outs(%{{.*}} : tensor<?x256x!{{.*}}>) columnwise(%{{.*}} : tensor<?x256x!{{.*}}>) function(swiglu) intermediate_round(bf16) recipe(<te_mx>)
func.func @act_quant(%x: tensor<?x512xbf16>, %w: tensor<?xf32>, %o: tensor<9xi32>, %q: tensor<?x256x!row>,
                     %t: tensor<?x256x!column>) -> (tensor<?x256x!row>, tensor<?x256x!column>) {
  %0:2 = moeq.act_quant input(%x : tensor<?x512xbf16>) row_weight(%w : tensor<?xf32>) offsets(%o : tensor<9xi32>)
      outs(%q : tensor<?x256x!row>) columnwise(%t : tensor<?x256x!column>) function(swiglu)
      intermediate_round(bf16) recipe(<te_mx>) -> tensor<?x256x!row>, tensor<?x256x!column>
  return %0#0, %0#1 : tensor<?x256x!row>, tensor<?x256x!column>
}
