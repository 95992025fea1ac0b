/** What the server has written into the page for the editor. */
export type PageData = {
  documentId: string
  userId: string
  csrfToken: string
  collaborationUrl: string
  /** Whether the user's role allowed writing when the page was made. */
  mayWrite: boolean
}

/** Reads the data of the page from the element in whose place the editor comes. */
export function readPageData({ dataset }: HTMLElement): PageData {
  return {
    documentId: dataset['documentId'] ?? '',
    userId: dataset['userId'] ?? '',
    csrfToken: dataset['csrfToken'] ?? '',
    collaborationUrl: dataset['collaborationUrl'] ?? '',
    mayWrite: dataset['mayWrite'] === 'true',
  }
}
