// RUN: moeq-opt %s --pass-pipeline='builtin.module(gpu.module(moeq-small-floats-to-nvvm))' | FileCheck %s

// CHECK-LABEL: llvm.func @encode
// CHECK-SAME: (%[[X:.*]]: vector<4xf32>)
gpu.module @hopper [#nvvm.target<chip = "sm_90a", features = "+ptx80">] {
  llvm.func @encode(%x: vector<4xf32>) -> vector<4xi8> {
    // CHECK: %[[X0:.*]] = vector.extract %[[X]][0]
    // CHECK: %[[X1:.*]] = vector.extract %[[X]][1]
    // CHECK: nvvm.convert.f32x2.to.f8x2 %[[X1]], %[[X0]] {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E4M3FN)
    // CHECK: nvvm.convert.f32x2.to.f8x2
    // CHECK: arith.shli
    // CHECK: %[[WORD:.*]] = vector.from_elements %{{.*}} : vector<1xi32>
    // CHECK: vector.bitcast %[[WORD]] : vector<1xi32> to vector<4xi8>
    %0 = arith.truncf %x : vector<4xf32> to vector<4xf8E4M3FN>
    %1 = arith.bitcast %0 : vector<4xf8E4M3FN> to vector<4xi8>
    llvm.return %1 : vector<4xi8>
  }

  // An odd element is converted with itself.
  // CHECK-LABEL: llvm.func @encode_one
  // CHECK: nvvm.convert.f32x2.to.f8x2 %[[Y:.*]], %[[Y]] {{.*}}(f8E5M2)
  llvm.func @encode_one(%x: f32) -> i8 {
    %0 = arith.truncf %x : f32 to f8E5M2
    %1 = arith.bitcast %0 : f8E5M2 to i8
    llvm.return %1 : i8
  }

  // CHECK-LABEL: llvm.func @decode
  // CHECK: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
  // CHECK: arith.extf %{{.*}} : vector<2xf16> to vector<2xf32>
  llvm.func @decode(%x: vector<2xi8>) -> vector<2xf32> {
    %0 = arith.bitcast %x : vector<2xi8> to vector<2xf8E4M3FN>
    %1 = arith.extf %0 : vector<2xf8E4M3FN> to vector<2xf32>
    llvm.return %1 : vector<2xf32>
  }

  // Conversions that are no fp8 ones stay, and those of long vectors.
  // CHECK-LABEL: llvm.func @others
  // CHECK: arith.truncf %{{.*}} : f32 to f4E2M1FN
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  // CHECK: arith.truncf %{{.*}} : f16 to f8E4M3FN
  // CHECK: arith.truncf %{{.*}} : vector<257xf32> to vector<257xf8E4M3FN>
  llvm.func @others(%x: f32, %y: f16, %z: vector<257xf32>) {
    %0 = arith.truncf %x : f32 to f4E2M1FN
    %1 = arith.truncf %x : f32 to bf16
    %2 = arith.truncf %y : f16 to f8E4M3FN
    %3 = arith.truncf %z : vector<257xf32> to vector<257xf8E4M3FN>
    llvm.return
  }
}

// A chip, or a PTX version, without the instructions.

// CHECK-LABEL: gpu.module @ampere
// CHECK: arith.truncf
gpu.module @ampere [#nvvm.target<chip = "sm_80", features = "+ptx80">] {
  llvm.func @encode(%x: f32) {
    %0 = arith.truncf %x : f32 to f8E4M3FN
    llvm.return
  }
}

// CHECK-LABEL: gpu.module @ada
// CHECK: arith.truncf
gpu.module @ada [#nvvm.target<chip = "sm_89", features = "+ptx80">] {
  llvm.func @encode(%x: f32) {
    %0 = arith.truncf %x : f32 to f8E4M3FN
    llvm.return
  }
}
