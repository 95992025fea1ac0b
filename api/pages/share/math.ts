import sanitize from 'sanitize-html'
import temml from 'temml'

/**
 * LaTeX as MathML without styles, addresses and ids. Null when it cannot be shown as such: it is no LaTeX that Temml
 * knows, or defines commands, by which a few characters could grow without bound. The caller bounds the length.
 */
export function mathMl(latex: string, display: 'block' | 'inline'): string | null {
  if (definitions.test(latex)) return null
  try {
    const html = temml.renderToString(latex, { displayMode: display === 'block', throwOnError: true })
    return sanitize(html, options)
  } catch {
    // A mistake in the formula, or one that nests too deep.
    return null
  }
}

const definitions = /\\(?:[egx]?def|let|futurelet|(?:new|renew|provide)command)(?![a-zA-Z@])/

const tokens = ['mi', 'mn', 'mo', 'ms', 'mspace', 'mtext']
const layouts = ['merror', 'mfrac', 'mpadded', 'mphantom', 'mroot', 'mrow', 'msqrt', 'mstyle', 'menclose']
const scripts = ['mmultiscripts', 'mover', 'mprescripts', 'msub', 'msubsup', 'msup', 'munder', 'munderover', 'none']
const sizes = ['width', 'height', 'depth', 'voffset', 'lspace', 'rspace', 'minsize', 'maxsize', 'linethickness']
const traits = ['accent', 'accentunder', 'displaystyle', 'fence', 'form', 'largeop', 'mathvariant', 'movablelimits']

// What the policy of pages would refuse, such as styles, is left out; classes are those of Temml alone.
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

// Lines between cells and boxes have a meaning, so the stylesheet draws them; other styles are matters of taste.
function withRules(tagName: string, { style = '', class: own = '', ...rest }: sanitize.Attributes): sanitize.Tag {
  const rules = Array.from(
    style.matchAll(/border(?:-(top|bottom|left|right))?:/g),
    ([, side = 'box']) => `rule-${side}`,
  )
  const classes = [own, ...rules].filter((name) => name !== '').join(' ')
  return { tagName, attribs: classes === '' ? rest : { ...rest, class: classes } }
}
