import type { BodyNode } from '../../shared/body/document.ts'
import { h, node, p, text } from './build.ts'

const scripts = ['alert(1)', '\nalert(1)', 'alert`1`', '//%0aalert(1)']
// Characters that browsers skip or decode in the scheme of an address, and schemes that could run something.
const schemes = [
  ...['javascript:', 'JaVaScRiPt:', ' javascript:', '\u0001javascript:', 'java\tscript:', 'java\nscript:'],
  ...['java\rscript:', 'javascript\u200b:', '\ufeffjavascript:', 'vbscript:', 'data:text/html,', 'data:image/svg+xml,'],
  ...['feed:javascript:', 'jar:', 'file:', 'blob:'],
]

/** Addresses that would run a script if a renderer let them through. */
export const hostileAddresses: readonly string[] = schemes.flatMap((scheme) => scripts.map((script) => scheme + script))

/** Pieces of HTML that would run a script, or fetch something, if a renderer let them through. */
export const attacks: readonly string[] = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//x></SCRIPT>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<iframe src=javascript:alert(1)></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<object data=javascript:alert(1)>',
  '<embed src=javascript:alert(1)>',
  '<body onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="jav&#x09;ascript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href=javascript&colon;alert(1)>x</a>',
  '<form action=javascript:alert(1)><button>x',
  '<input onfocus=alert(1) autofocus>',
  '<math href=javascript:alert(1)>x',
  '<style>*{background:url(javascript:alert(1))}</style>',
  '<link rel=stylesheet href=//x>',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<base href=//x>',
  '<div style="background:url(javascript:alert(1))">',
  '<div onclick=alert(1)>x</div>',
  '<details ontoggle=alert(1) open>',
  '<video><source onerror=alert(1)></video>',
  '<audio src=x onerror=alert(1)>',
  '<marquee onstart=alert(1)>',
  '<isindex action=javascript:alert(1)>',
  '<template><script>alert(1)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<textarea><img src=x onerror=alert(1)></textarea>',
  '<title><script>alert(1)</script></title>',
  '<xmp><script>alert(1)</script></xmp>',
  '<!--><script>alert(1)</script>-->',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<?xml ><script>alert(1)</script>?>',
  '<img src="data:text/html,<script>alert(1)</script>">',
  '<img src=javascript:alert(1)>',
  '<img srcset="javascript:alert(1) 1x">',
  '<table background=javascript:alert(1)>',
  '<p id=x class=y name=z>x</p>',
  '<span style="color:red;behavior:url(x)">x</span>',
  '<span style="color:expression(alert(1))">x</span>',
  '<button formaction=javascript:alert(1)>x',
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '</code></pre><script>alert(1)</script>',
  '--><script>alert(1)</script>',
  '<svg/onload=alert(1)//',
  '<a\nhref=javascript:alert(1)>x',
  '<svg><animate onbegin=alert(1) attributeName=x></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text y=20>x</text></a></svg>',
  '<svg><set attributeName=onmouseover to=alert(1)></svg>',
  '<svg><use href="data:image/svg+xml,<svg id=x><script>alert(1)</script></svg>#x"/></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=alert(1)&gt;">',
  '<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=alert(1)>',
  '<svg></p><style><a id="</style><img src=x onerror=alert(1)>">',
  '<p><svg><desc><b><noscript>&lt;/noscript>&lt;img src=x onerror=alert(1)></noscript>',
  '<select><template><style><!--</style><a rel="--></style></template></select><img src=x onerror=alert(1)>">',
  '<img src="x` `<script>alert(1)</script>"` `>',
  '<img alt="&quot; onerror=alert(1) x=&quot;" src=x>',
  '<a href="https://x/&quot; onmouseover=alert(1) x=&quot;">x</a>',
  '<a href="//x/" onclick=alert(1)">x</a>',
  '<mark style="background-color:red;background:url(//x)">x</mark>',
  '<span style="color:red}*{background:url(//x)">x</span>',
  '<img src="//x/pixel" srcset="//x/2 2x" loading=eager>',
  '<video poster=//x autoplay src=//x></video>',
  '<object type="text/x-scriptlet" data=//x></object>',
  '<frameset onload=alert(1)><frame src=javascript:alert(1)></frameset>',
  '<a ping=//x href=https://x>x</a>',
  '<q cite=javascript:alert(1)>x</q>',
  '<dialog open onclose=alert(1)>x</dialog>',
  '<p contenteditable onfocus=alert(1) tabindex=1 autofocus>x</p>',
  '<div popover id=p onbeforetoggle=alert(1)>x</div>',
  '<img src=x onerror=&#97;lert(1)>',
  '<IMG """><SCRIPT>alert(1)</SCRIPT>">',
  '<<script>alert(1)//<</script>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<script/x>alert(1)</script/x>',
  '<script>alert(1)',
  '<!-- --!><img src=x onerror=alert(1)> -->',
  '<time datetime="x" onmouseenter=alert(1)>x</time>',
  '<td background=//x>x</td>',
  ...hostileAddresses.flatMap((address) => [`<a href="${address}">x</a>`, `<img src='${address}'>`]),
]

/** Blocks that hold a text in every node and attribute that takes one. */
export function doorsFor(attack: string): BodyNode[] {
  const color = { color: attack }
  const link = { href: `https://x/${attack}`, title: attack, target: attack, rel: attack }
  return [
    p(attack),
    h(1, attack),
    node('codeBlock', { language: attack }, attack),
    node('htmlBlock', { html: attack }),
    p('a', node('htmlInline', { html: attack }), 'b'),
    p(text(attack, 'bold', { type: 'highlight', attrs: color }, { type: 'textStyle', attrs: color })),
    p(text('x', { type: 'link', attrs: link })),
    p(text('x', { type: 'link', attrs: { href: attack } })),
    p(
      node('mention', { id: attack, label: attack }),
      node('inlineMath', { latex: attack }),
      node('footnoteReference', { label: attack }),
    ),
    node('blockMath', { latex: attack }),
    node('image', { src: '/x', alt: attack, title: attack }),
    node('footnoteDefinition', { label: attack }, p(attack)),
    node(
      'details',
      {},
      node('detailsSummary', {}, node('htmlInline', { html: attack })),
      node('detailsContent', {}, p(attack)),
    ),
    node('table', {}, node('tableRow', {}, node('tableCell', {}, p(node('htmlInline', { html: attack }))))),
  ]
}

/** A Markdown text with an attack as text, as a block, as a label and as an address. */
export function markdownFor(attack: string): string {
  const address = attack.replace(/[<>\n\r]/g, '')
  return `x ${attack}\n\n${attack}\n\n[x](<${address}>) ![x](<${address}>) <${address}>\n\n[${attack}](/x)`
}
