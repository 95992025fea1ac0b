import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { bodyLimits } from '../../../shared/body/body-limits.ts'
import { linesToDocument } from '../../../shared/body/canonical.ts'
import { writeContent } from '../../../shared/body/content.ts'
import { computingAhead } from '../../../shared/computations/ahead.ts'
import { computation } from '../../../shared/computations/computation.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { accountPage } from '../account-page.ts'
import { mathMl } from '../share/math.ts'
import { readJson } from './json-body.ts'

// The most characters of one formula, and of all formulas of one request.
const longestFormula = 2000
const mostFormulas = 30_000

const Markdown = Compile(Type.Object({ markdown: Type.String() }))
const Formula = Type.Object({
  latex: Type.String(),
  display: Type.Union([Type.Literal('block'), Type.Literal('inline')]),
})
const Formulas = Compile(Type.Object({ formulas: Type.Array(Formula, { maxItems: 1000 }) }))

/** Turns Markdown that a person pastes into blocks, by the rules of the API (api/guide/markdown.md). */
export const markdownPage = accountPage({
  path: '/editor/markdown',
  bucket: () => 'read',
  async receive(call) {
    const { service, response } = call
    const { markdown: content } = await readJson(call, Markdown)
    const source = { input: { format: 'markdown' as const, content }, stored: null, ...bodyLimits(service.config) }
    const { text } = await computingAhead((ahead) => writeContent(ahead, source))
    response.json({ blocks: linesToDocument(text.split('\n')).content })
    return undefined
  },
})

/** Formulas as MathML, in the order of the request. A formula that cannot be shown is null. */
export const formulasPage = accountPage({
  path: '/editor/formulas',
  bucket: () => 'read',
  async receive(call) {
    const { response } = call
    const { formulas } = await readJson(call, Formulas)
    response.json({ formulas: await compute(rendering, formulas) })
    return undefined
  },
})

type Shown = { latex: string; display: 'block' | 'inline' }

/** Renders formulas within the limits of a page. A thread imports this function by its name. @public */
export function renderFormulas(formulas: Shown[]): (string | null)[] {
  let left = mostFormulas
  return formulas.map(({ latex, display }) => {
    if (latex.length > longestFormula || latex.length > left) return null
    left -= latex.length
    return mathMl(latex, display)
  })
}

const rendering = computation({
  module: import.meta.url,
  run: renderFormulas,
  isSmall: (formulas) => formulas.reduce((sum, { latex }) => sum + latex.length, 0) < 500,
  cpuMs: () => 5000,
})
