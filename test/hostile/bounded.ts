/**
 * What could not be made linear, by the code in which it grows, with the bound that stands in its place. The harness
 * lets growth pass only there.
 */
export const bounded: readonly { code: string; bound: string }[] = []
