/**
 * The sections of the OpenAPI description and the reference, in their order, with a sentence on each. A route names its
 * section in the option `tag`.
 */
export const tags = {
  'Auth and identity': 'Who calls, with what rights, in which workspaces.',
  Events: 'A stream of changes to documents.',
  Search: 'Full-text search over blocks, with proof of how fresh the index is.',
  Relations: 'Links between documents and blocks, written by hand or found in bodies.',
  Concepts: 'A controlled vocabulary with evidence, and candidates for it.',
  Summaries: 'Summaries of documents, folders and knowledge bases.',
  'Knowledge bases': 'Knowledge bases, their tree and their export.',
  Folders: 'Folders of a knowledge base.',
  Documents: 'Documents: what is known about them besides their bodies.',
  Content: 'Bodies as Markdown, tiptap-json or HTML, their outline, and reading in parts.',
  Versions: 'Snapshots of bodies, and the way back to one.',
  Blocks: 'Single blocks of a body, and batches of changes to them.',
  Changes: 'What has changed in a document since a watermark.',
  Localization: 'Document sets, translations, their units and jobs.',
  Attachments: 'Files of documents.',
  Trash: 'What was deleted, and the way back.',
  Audit: 'Who wrote what through which program, for owners.',
} as const satisfies Record<string, string>

/** The chapter of the guide that explains a section: `writes` is `api/guide/writes.md`, served as `/guide/writes`. */
export const guideChapters: Record<RouteTag, string> = {
  'Auth and identity': 'authentication',
  Events: 'events',
  Search: 'search',
  Relations: 'relations',
  Concepts: 'concepts',
  Summaries: 'summaries',
  'Knowledge bases': 'documents',
  Folders: 'documents',
  Documents: 'documents',
  Content: 'blocks',
  Versions: 'blocks',
  Blocks: 'blocks',
  Changes: 'changes',
  Localization: 'translation',
  Attachments: 'attachments',
  Trash: 'trash',
  Audit: 'authentication',
}

/** Name of a section. */
export type RouteTag = keyof typeof tags
