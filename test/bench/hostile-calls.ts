import type { Client } from '../support/client.ts'

/** One call of the hostile user. */
export type HostileCall = { name: string; method: string; path: string; body?: unknown; anonymous?: boolean }

/** The bodies that are stored once and then read in every way, as JSON. */
const bodies: Readonly<Record<string, () => object[]>> = {
  'raw HTML of list markers': () => [html('1) '.repeat(8000))],
  'raw HTML of emphasis': () => [html('*_'.repeat(8000))],
  'raw HTML of setext headings': () => [html('a\n=\n'.repeat(4000))],
  'raw HTML of instructions': () => [html('<<?<?'.repeat(4000))],
  'raw HTML of comments': () => [html('<<!--<!--'.repeat(4000))],
  'raw HTML of line feeds': () => [html('\n'.repeat(40_000))],
  'raw HTML in a line': () => [
    paragraph([{ type: 'text', text: 'a' }, inlineHtml('~a'.repeat(4000)), inlineHtml('<*_'.repeat(4000))]),
  ],
  'nested div': () => [html('<div>'.repeat(80_000))],
  'many headings': () => times(4000, (index) => heading(2, `heading ${index}`)),
  'a long heading above many': () => [heading(1, 'a'.repeat(8000)), ...times(4000, () => heading(2, 'b'))],
  'empty paragraphs': () => times(15_000, () => paragraph([])),
  'lines with six marks': () => [
    paragraph(
      times(10_000, (index) => (index % 2 === 0 ? { type: 'hardBreak', marks } : { type: 'text', text: 'a', marks })),
    ),
  ],
  'combining marks': () => [paragraph([{ type: 'text', text: `a${'\u0301\u0323'.repeat(20_000)}` }])],
  'many links': () => [
    paragraph(
      times(10_000, (index) => ({
        type: 'text',
        text: `link ${index} `,
        marks: [{ type: 'link', attrs: { href: `svc://doc/doc_${index}` } }],
      })),
    ),
  ],
  'tiny paragraphs': () => times(15_000, () => paragraph([{ type: 'text', text: 'a' }])),
}

/** Markdown that is written again and again. */
const texts: Readonly<Record<string, string>> = {
  'reference links': `${'[a][x] '.repeat(3000)}\n\n[x]: ${'b'.repeat(100_000)}`,
  emphasis: '*_'.repeat(20_000),
  'list markers': '1) '.repeat(8000),
  'setext headings': 'a\n=\n'.repeat(10_000),
  strikethrough: '~a'.repeat(20_000),
  brackets: '['.repeat(50_000),
  comments: '<<!--<!--'.repeat(10_000),
  'tiny paragraphs': 'a\n\n'.repeat(15_000),
}

const queries = [
  'a',
  `a${'\u0301\u0323'.repeat(95)}`,
  '"a b" '.repeat(33),
  'a_'.repeat(100),
  'heading link word a b c d e f g h i j k l',
]

/** Stores the hostile bodies, and returns the calls that replay all attacks. Refused bodies are left out. */
export async function hostileCalls(client: Client): Promise<HostileCall[]> {
  const base = await client.post('/knowledge-bases', { name: 'Hostile' })
  const knowledgeBaseId: number = base.body.data.id
  const calls: HostileCall[] = [
    { name: 'export', method: 'GET', path: `/knowledge-bases/${knowledgeBaseId}/export` },
    { name: 'summary of all', method: 'GET', path: `/knowledge-bases/${knowledgeBaseId}/summary?query=a%20heading` },
    ...queries.flatMap((query) => {
      const q = encodeURIComponent(query)
      return [
        { name: 'search', method: 'GET', path: `/search/v2?q=${q}&limit=100` },
        { name: 'exhaustive search', method: 'GET', path: `/search/v2?q=${q}&mode=exhaustive&limit=100` },
      ]
    }),
    { name: 'wrong elements', method: 'POST', path: '/auth/device/code', body: wrongElements(), anonymous: true },
  ]
  for (const [name, content] of Object.entries(bodies)) {
    const document = await created(client, {
      title: name,
      knowledge_base_id: knowledgeBaseId,
      content: { format: 'tiptap-json', document: { type: 'doc', content: content() } },
    })
    if (document !== null) {
      calls.push(...callsAbout(document, { title: name, knowledgeBaseId }))
      calls.push(...(await editsOf(client, document)), ...(await translationOf(client, document)))
    }
    const share = document && (await client.post(`/documents/${document.id}/public-share`, {}))
    const url: unknown = share?.body?.data?.url
    if (typeof url === 'string') {
      calls.push({ name: 'shared page', method: 'GET', path: `/${new URL(url).pathname}`, anonymous: true })
    }
  }
  const target = await created(client, { title: 'target', knowledge_base_id: knowledgeBaseId })
  for (const text of Object.values(texts)) {
    const content = { format: 'markdown', content: text }
    calls.push({
      name: 'new Markdown',
      method: 'POST',
      path: '/documents',
      body: { title: 'a', knowledge_base_id: knowledgeBaseId, content },
    })
    if (target === null) continue
    calls.push({ name: 'write Markdown', method: 'PUT', path: `/documents/${target.id}/content`, body: content })
  }
  return calls
}

type Stored = { id: string }

function callsAbout({ id }: Stored, of: { title: string; knowledgeBaseId: number }): HostileCall[] {
  const get = (name: string, path: string) => ({ name, method: 'GET', path: `/documents/${id}/${path}` })
  const document = { type: 'doc', content: bodies[of.title]?.() }
  return [
    get('Markdown with anchors', 'content?format=markdown&annotate=anchors'),
    get('Markdown', 'content?format=markdown'),
    get('HTML', 'content?format=html'),
    get('read', 'read?view=markdown&max_tokens=20000'),
    get('outline', 'outline'),
    get('blocks', 'blocks'),
    get('all blocks', 'blocks?recursive=true'),
    get('changes', 'changes'),
    get('summary of a query', 'summary?query=a%20heading'),
    { name: 'candidates', method: 'POST', path: '/concept-candidates/extract', body: { document_id: id } },
    // The body is new each time, so that everything derived from it is derived again.
    {
      name: 'new JSON',
      method: 'POST',
      path: '/documents',
      body: { title: of.title, knowledge_base_id: of.knowledgeBaseId, content: { format: 'tiptap-json', document } },
    },
    {
      name: 'wrong batch',
      method: 'POST',
      path: `/documents/${id}/batch`,
      body: { operations: wrongElements().client_name },
    },
  ]
}

/** Writes like an editor: it changes a block, and replaces the body by itself as annotated Markdown. */
async function editsOf(client: Client, { id }: Stored): Promise<HostileCall[]> {
  const { body: listed } = await client.get(`/documents/${id}/blocks?limit=1`)
  const blockId: unknown = listed?.data?.[0]?.block_id
  const { body: read } = await client.get(`/documents/${id}/content?format=markdown&annotate=anchors`)
  const content: unknown = read?.data?.content
  return [
    {
      name: 'changed block',
      method: 'PATCH',
      path: `/documents/${id}/blocks/${blockId}`,
      body: { node: paragraph([{ type: 'text', text: 'a' }]) },
    },
    {
      name: 'Markdown over a hostile body',
      method: 'PUT',
      path: `/documents/${id}/content?annotate=anchors`,
      body: { format: 'markdown', content },
    },
  ]
}

/** Makes a translation with the structure of the body, and reads its units. No model is asked. */
async function translationOf(client: Client, { id }: Stored): Promise<HostileCall[]> {
  const set = { source_locale: 'en', target_locales: ['de'], create_mode: 'copy_structure' }
  await client.post(`/documents/${id}/translation/activate`, set)
  const { body } = await client.get(`/documents/${id}/translations`)
  const targets: { id: string; locale: string }[] = body?.data?.variants ?? []
  const target = targets.find(({ locale }) => locale === 'de')
  return [
    { name: 'translation units', method: 'GET', path: `/documents/${id}/translation-units?locale=de` },
    ...(target === undefined
      ? []
      : [
          {
            name: 'prepared translation',
            method: 'POST',
            path: `/documents/${id}/translations/${target.id}/prepare`,
            body: {},
          },
        ]),
  ]
}

async function created(client: Client, body: object): Promise<Stored | null> {
  const { status, body: answer } = await client.post('/documents', body)
  return status === 201 ? { id: answer.data.id } : null
}

function wrongElements() {
  return { client_name: Array.from({ length: 500_000 }, () => ({ a: 1 })) }
}

const marks = ['bold', 'italic', 'strike', 'underline', 'subscript', 'highlight'].map((type) => ({ type }))

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

function html(text: string): object {
  return { type: 'htmlBlock', attrs: { html: text } }
}

function inlineHtml(text: string): object {
  return { type: 'htmlInline', attrs: { html: text } }
}

function paragraph(content: object[]): object {
  return { type: 'paragraph', content }
}

function heading(level: number, text: string): object {
  return { type: 'heading', attrs: { level }, content: [{ type: 'text', text }] }
}
