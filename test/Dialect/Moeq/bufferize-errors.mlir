// RUN: moeq-opt %s -one-shot-bufferize -verify-diagnostics -split-input-file

!a = !moeq.scaled<f8E4M3FN, block = [*], scale = f32>

func.func @scaled(%x: tensor<4x64xbf16>, %q: tensor<4x64x!a>) -> tensor<4x64x!a> {
  // expected-error@+2 {{failed to bufferize op}}
  // expected-error@+1 {{'moeq.quantize' op expects components to bufferize, got 'tensor<4x64x!moeq.scaled<f8E4M3FN, block = [*], scale = f32>>': run moeq-unpack-scaled first}}
  %0 = moeq.quantize input(%x : tensor<4x64xbf16>) outs(%q : tensor<4x64x!a>) recipe(<vllm_token>) -> tensor<4x64x!a>
  return %0 : tensor<4x64x!a>
}
