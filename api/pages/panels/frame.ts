import { errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import { type ErrorCode, Refusal } from '../../../shared/errors/errors.ts'
import { accountPage, type BucketOf } from '../account-page.ts'
import { type DocumentCall, documentCallOf } from '../document-call.ts'
import { FormRefusal } from '../form-refusal.ts'
import { pageHeaders } from '../headers.ts'
import type { Form, Page, PageAnswer } from '../page.ts'
import { view } from '../render.ts'
import { scriptPath } from '../scripts/bundle.ts'

// The panels of a document by the last part of their paths, with their titles, in the order in which pages list them.
const titles = {
  summary: 'Summary',
  relations: 'Relations',
  concepts: 'Concepts',
  translations: 'Translations',
} as const

type PanelName = keyof typeof titles

/** The input of a panel. */
export type PanelCall = DocumentCall

/** A form of a panel that was refused: what the person has sent, and the reason in words for the person. */
export type RefusedForm = { submitted: Form; problem: string }

/**
 * The content of a panel as HTML. It begins with an `<h2>`. `isPending` says that something is being derived that the
 * panel shows, so that the panel is soon another.
 */
export type PanelContent = { html: string; isPending: boolean }

/** The link to a panel. */
export type PanelLink = { name: string; title: string; href: string; isCurrent: boolean }

const panelView = view<{
  isFragment: boolean
  name: PanelName
  documentId: string
  documentTitle: string
  links: PanelLink[]
  content: PanelContent
  script: string
}>('panel')

/**
 * Declares a panel: a page about what is derived from a document, at `/d/{documentId}/<name>`. The page works alone,
 * and the page of the document shows the same content beside the text. A script asks for the content alone by the
 * header `X-Fragment: true`.
 *
 * `show` makes the content. `write` does what a form of the content asks for, and returns the path to go to. When
 * `write` refuses, the panel is shown again with the reason: the sentence of a FormRefusal or of `reasons`, or else of
 * the error catalogue.
 * A refusal with 404 that `reasons` does not know is answered with the page for addresses without a page.
 */
export function panelPage(panel: {
  name: PanelName
  show: (call: PanelCall, refused: RefusedForm | null) => Promise<PanelContent>
  write?: (call: PanelCall, submitted: Form) => Promise<string>
  reasons?: { [code in ErrorCode]?: string }
  bucket?: BucketOf
}): Page {
  const { name, show, write, reasons = {}, bucket } = panel
  return accountPage({
    path: `/d/{documentId}/${name}`,
    ...(bucket && { bucket }),
    async get(call) {
      const panelCall = await documentCallOf(call)
      return answer(panelCall, { name, content: await show(panelCall, null) })
    },
    ...(write && {
      async post(call) {
        const panelCall = await documentCallOf(call)
        const { submitted } = call
        try {
          return { location: await write(panelCall, submitted) }
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          const reason = error instanceof FormRefusal ? error.message : reasons[error.code]
          if (reason === undefined && error.status === 404) throw error
          const problem = reason ?? errorCatalogue[error.code].message
          const content = await show(panelCall, { submitted, problem })
          return answer(panelCall, { name, content, status: error.status })
        }
      },
    }),
  })
}

/** What the page of a document needs to show its panels beside the text. */
export async function panelsBeside(documentId: string): Promise<{ links: PanelLink[]; script: string }> {
  return { links: linksOf(documentId, null), script: await scriptPath('panels') }
}

async function answer(
  { request, document, account }: PanelCall,
  panel: { name: PanelName; content: PanelContent; status?: number },
): Promise<PageAnswer> {
  const { name, content, status = 200 } = panel
  const isFragment = request.get('x-fragment') === 'true'
  const html = panelView({
    title: `${titles[name]} · ${document.title}`,
    account,
    isFragment,
    name,
    documentId: document.id,
    documentTitle: document.title,
    links: linksOf(document.id, name),
    content,
    script: await scriptPath('panels'),
  })
  return { status, html, headers: pageHeaders({ 'script-src': "'self'", 'connect-src': "'self'" }) }
}

function linksOf(documentId: string, current: PanelName | null): PanelLink[] {
  return Object.entries(titles).map(([name, title]) => ({
    name,
    title,
    href: `/d/${documentId}/${name}`,
    isCurrent: name === current,
  }))
}
