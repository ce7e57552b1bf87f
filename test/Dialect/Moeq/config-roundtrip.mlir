// RUN: moeq-opt %s | FileCheck %s
// RUN: moeq-opt %s --mlir-print-op-generic | moeq-opt | FileCheck %s
// RUN: moeq-opt %s --emit-bytecode | moeq-opt | FileCheck %s

// CHECK: @configs{{.*}} [#moeq.config<tile = [128, 256], stages = 4, consumers = 2, schedule = persistent, swap_ab = false, split_k = 1, raster = 16>, #moeq.config<tile = [64, 8], stages = 7, consumers = 1, schedule = simple, swap_ab = true, split_k = 4, raster = 1>, #moeq.config<tile = [128, 128], stages = 5, consumers = 2, schedule = ping_pong, swap_ab = false, split_k = 1, raster = 16>, #moeq.config<tile = [128, 256], stages = 4, consumers = 2, schedule = dynamic, swap_ab = false, split_k = 1, raster = 16>, #moeq.config<tile = [160, 256], stages = 4, consumers = 2, schedule = persistent, swap_ab = true, split_k = 1, raster = 16, cluster = 2>, #moeq.config<tile = [32, 128], stages = 5, consumers = 2, schedule = dynamic, swap_ab = true, split_k = 1, raster = 16, ctas = 2>]
func.func private @configs() attributes {c = [
  #moeq.config<tile = [128, 256]>,
  #moeq.config<tile = [64, 8], stages = 7, consumers = 1, schedule = simple, swap_ab = true, split_k = 4, raster = 1>,
  #moeq.config<schedule = ping_pong, stages = 5, tile = [128, 128], swap_ab = false>,
  #moeq.config<tile = [128, 256], schedule = dynamic>,
  #moeq.config<tile = [160, 256], swap_ab = true, cluster = 2>,
  #moeq.config<tile = [32, 128], stages = 5, schedule = dynamic, swap_ab = true, ctas = 2>]}

// CHECK: @accumulate{{.*}} [#moeq.accumulate<fast>, #moeq.accumulate<promote<128>>, #moeq.accumulate<promote<32>>]
func.func private @accumulate() attributes {a = [
  #moeq.accumulate<fast>, #moeq.accumulate<promote<128>>, #moeq.accumulate<promote<32>>]}
