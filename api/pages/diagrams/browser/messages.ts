/** What the editor sends to the frame: a diagram in the language of Mermaid. The answer has the same number. */
export type Question = { number: number; source: string; isDark: boolean }

/** What the frame answers: an SVG with its size in pixels, or why there is none. */
export type Answer =
  | { number: number; svg: string; width: number; height: number; error?: never }
  | { number: number; error: string; svg?: never }
