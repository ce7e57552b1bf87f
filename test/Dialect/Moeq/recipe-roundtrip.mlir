// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// A preset's parameters print as its name; those of int8_sym are vllm_group's.
// CHECK: @presets{{.*}} [#moeq.recipe<amax>, #moeq.recipe<deepgemm>, #moeq.recipe<vllm_group>, #moeq.recipe<vllm_token>, #moeq.recipe<te>, #moeq.recipe<te_mx>, #moeq.recipe<torchao>, #moeq.recipe<ocp>, #moeq.recipe<vllm_group>, #moeq.recipe<int8_asym>, #moeq.recipe<awq>, #moeq.recipe<int4_sym>]
func.func private @presets() attributes {r = [
  #moeq.recipe<amax>, #moeq.recipe<deepgemm>, #moeq.recipe<vllm_group>, #moeq.recipe<vllm_token>, #moeq.recipe<te>,
  #moeq.recipe<te_mx>, #moeq.recipe<torchao>, #moeq.recipe<ocp>, #moeq.recipe<int8_sym>, #moeq.recipe<int8_asym>,
  #moeq.recipe<awq>, #moeq.recipe<int4_sym>]}

// CHECK: @parameters{{.*}} [#moeq.recipe<amax_floor = 9.99999975e-05, apply = mul_rcp>, #moeq.recipe<scale = rcp_of_quant, apply = mul_quant>, #moeq.recipe<scale_round = pow2_up, zero_block = min>, #moeq.recipe<compute = f64>, #moeq.recipe<lo = -8, hi = 7, zero_point = affine>, #moeq.recipe<nonfinite = te_fp8>]
func.func private @parameters() attributes {r = [
  #moeq.recipe<amax_floor = 1.0e-04, scale = amax_div_max, apply = mul_rcp, zero_block = one, compute = f32>,
  #moeq.recipe<apply = mul_quant, scale = rcp_of_quant>,
  #moeq.recipe<scale_round = pow2_up, zero_block = min, zero_point = none, nonfinite = propagate>,
  #moeq.recipe<compute = f64>,
  #moeq.recipe<lo = -8, hi = 7, zero_point = affine>,
  #moeq.recipe<nonfinite = te_fp8>]}

// Parameters over a preset's; what spells a preset out is the preset.
// CHECK: @over{{.*}} [#moeq.recipe<amax_floor = 9.99999975e-05, scale_round = e8m0_up, apply = mul_rcp, zero_block = floor>, #moeq.recipe<deepgemm>, #moeq.recipe<te_mx>, #moeq.recipe<ocp>, #moeq.recipe<amax>]
func.func private @over() attributes {r = [
  #moeq.recipe<deepgemm, scale_round = e8m0_up>,
  #moeq.recipe<amax_floor = 1.0e-4, apply = mul_rcp, zero_block = floor, scale_round = none>,
  #moeq.recipe<scale = amax_mul_rcp, scale_round = e8m0_up, apply = mul_rcp, zero_block = min, nonfinite = te_mx>,
  #moeq.recipe<scale_round = e8m0_floor, apply = mul_rcp, zero_block = min>,
  #moeq.recipe<scale_round = none>]}

// Floors print with the digits that bring back their bits.
// CHECK: @floors{{.*}} [#moeq.recipe<amax_floor = 1.40129846e-45>, #moeq.recipe<amax_floor = 3.40282347e+38>, #moeq.recipe<amax_floor = 1.00000001e-01>]
func.func private @floors() attributes {r = [
  #moeq.recipe<amax_floor = 1.0e-45>, #moeq.recipe<amax_floor = 3.40282347e+38>, #moeq.recipe<amax_floor = 0.1>]}
