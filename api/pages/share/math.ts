import { createRequire } from 'node:module'
import type sanitize from 'sanitize-html'

const require = createRequire(import.meta.url)

/**
 * LaTeX as MathML without styles, URLs and ids. Null when Temml does not know the LaTeX, or when the LaTeX defines
 * commands, because a few characters of definitions could grow without bound. The caller must bound the length.
 */
export function mathMl(latex: string, display: 'block' | 'inline'): string | null {
  if (definitions.test(latex)) return null
  try {
    // The first formula loads both libraries.
    const temml: typeof import('temml').default = require('temml')
    const sanitizeHtml: typeof sanitize = require('sanitize-html')
    const html = temml.renderToString(latex, { displayMode: display === 'block', throwOnError: true })
    return sanitizeHtml(html, options)
  } catch {
    // The formula has a mistake or is nested too deep.
    return null
  }
}

const definitions = /\\(?:[egx]?def|let|futurelet|(?:new|renew|provide)command)(?![a-zA-Z@])/

const tokens = ['mi', 'mn', 'mo', 'ms', 'mspace', 'mtext']
const layouts = ['merror', 'mfrac', 'mpadded', 'mphantom', 'mroot', 'mrow', 'msqrt', 'mstyle', 'menclose']
const scripts = ['mmultiscripts', 'mover', 'mprescripts', 'msub', 'msubsup', 'msup', 'munder', 'munderover', 'none']
const sizes = ['width', 'height', 'depth', 'voffset', 'lspace', 'rspace', 'minsize', 'maxsize', 'linethickness']
const traits = ['accent', 'accentunder', 'displaystyle', 'fence', 'form', 'largeop', 'mathvariant', 'movablelimits']

// The elements and attributes that are kept. Styles go, because the Content-Security-Policy of pages would refuse them.
// Classes stay, because only Temml sets classes.
const options: sanitize.IOptions = {
  allowedTags: ['math', 'mtable', 'mtd', 'mtr', ...tokens, ...layouts, ...scripts],
  allowedAttributes: {
    '*': ['class', 'scriptlevel', 'separator', 'stretchy', 'symmetric', 'columnspan', 'rowspan', ...sizes, ...traits],
    math: ['class', 'display'],
    menclose: ['class', 'notation'],
    mstyle: ['mathsize', 'scriptlevel', 'displaystyle'],
  },
  parseStyleAttributes: false,
  transformTags: { '*': withRules },
}

// Lines between cells and around boxes have a meaning, so they become classes that the stylesheet draws. Other styles
// have no meaning.
function withRules(tagName: string, { style = '', class: own = '', ...rest }: sanitize.Attributes): sanitize.Tag {
  const rules = Array.from(
    style.matchAll(/border(?:-(top|bottom|left|right))?:/g),
    ([, side = 'box']) => `rule-${side}`,
  )
  const classes = [own, ...rules].filter((name) => name !== '').join(' ')
  return { tagName, attribs: classes === '' ? rest : { ...rest, class: classes } }
}
