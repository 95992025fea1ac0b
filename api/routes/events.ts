import Type from 'typebox'
import { canonicalLocale } from '../../shared/locales/locale.ts'
import { Text } from '../../shared/schema/strings.ts'
import { route } from '../http/route.ts'

const member = (name: string) => `\`${name}\``
const documentMembers = [
  'id',
  'title',
  'document_type',
  'knowledge_base_id',
  'folder_id',
  'document_set_id',
  'locale',
  'variant_role',
  'version',
  'updated_at',
]

/** The route of the event stream. See `api/guide/events.md#streams`. */
export const eventRoutes = [
  route({
    method: 'GET',
    path: '/events',
    operationId: 'streamEvents',
    tag: 'Events',
    summary: 'Follow the changes to documents as they happen',
    description: [
      'Server-Sent Events: `document.created`, `document.metadata.updated`, `document.content.updated` and `document.deleted`, of all workspaces that the caller can see at the time. The ids grow in the order in which the changes became visible, so nothing is ever skipped. `data` is one line of JSON with `event_id` (the same as the id), `workspace_id`, `document_id`, `created_at` and `document`, the state after the change or the last one before a deletion: ' +
        `${documentMembers.map(member).join(', ')}.`,
      'Without `Last-Event-ID` the stream begins with what happens after it was opened; with it, after that event. `sync.required` comes first when the cursor is older than what is retained, or not one of this service: catch up with `GET /documents?updated_since=…&sort=updated_at`; the same stream goes on after its `resume_from`. `auth.revoked` comes last, when the token was revoked or has expired (`reason`). A comment `: hb` is sent as a heartbeat. A client that stops reading is cut off and resumes with its last id.',
      'Browsers cannot send the token through `EventSource`; use a client that is based on fetch.',
    ].join('\n\n'),
    scopes: ['documents:read'],
    query: Type.Object({
      document_set_id: Type.Optional(Text({ description: 'only documents of this set' })),
      locale: Type.Optional(Type.String({ description: 'only documents in this language' })),
    }),
    stream: true,
    success: { status: 200, description: 'The stream', data: null, media: 'text/event-stream' },
    errors: ['invalid_last_event_id', 'invalid_locale', 'too_many_streams'],
    async handle({ service, caller, query, lastEventId }) {
      const { document_set_id: documentSetId, locale: tag } = query
      const locale = tag === undefined ? undefined : canonicalLocale(tag, { status: 400, field: 'locale' })
      const request = { caller, documentSetId, locale, lastEventId }
      const write = await service.eventStreams.open(request)
      return { headers: { 'X-Accel-Buffering': 'no', Connection: 'close' }, write }
    },
  }),
]
