import * as encoding from 'lib0/encoding'

/** A struct of an update: its content, and what is around it. Without neighbours it stands in the root. */
export type UpdateStruct = { content: Content; origin?: Id; rightOrigin?: Id; parent?: Id | string; key?: string }
type Id = readonly [client: number, clock: number]
type Content =
  | { text: string }
  | { element: string }
  | { type: number }
  | { any: unknown[] }
  | { format: [name: string, value: string] }
  | { deleted: number }
  | { binary: Uint8Array }
  | { embed: string }
  | { document: string }

/** A family of updates. `make(size)` returns an update with about `size` structs or deletions. */
export type UpdateFamily = (size: number) => Uint8Array

/** Updates that a client makes up, all of which are let in. */
export const updateFamilies: Readonly<Record<string, UpdateFamily>> = {
  'elements side by side': (size) => updateOf(structs(size, () => ({ content: { element: 'paragraph' } }))),
  'a letter after the other': (size) =>
    updateOf(structs(size, (clock) => ({ content: { text: 'a' }, ...(clock > 0 && { origin: [1, clock - 1] }) }))),
  'a letter before the other': (size) =>
    updateOf(structs(size, (clock) => ({ content: { text: 'a' }, ...(clock > 0 && { rightOrigin: [1, clock - 1] }) }))),
  'elements in each other': (size) =>
    updateOf(
      structs(size, (clock) => ({
        content: { element: 'blockquote' },
        ...(clock % 190 > 0 && { parent: [1, clock - 1] }),
      })),
    ),
  'values with many members': (size) =>
    updateOf(
      structs(size / 8, (clock) => ({
        content: { any: [{ a: 1, b: [2, 3], c: { d: 4 } }] },
        key: `k${clock}`,
        parent: [2, 0],
      })),
      { before: [{ client: 2, structs: [{ content: { element: 'paragraph' } }] }] },
    ),
  'marks that begin and end': (size) =>
    updateOf([
      { content: { element: 'paragraph' } },
      { content: { type: 6 }, parent: [1, 0] },
      ...structs(
        size,
        (index): UpdateStruct => ({
          content: index % 2 === 0 ? { format: ['bold', index % 4 === 0 ? '{}' : 'null'] } : { text: 'a' },
          ...(index === 0 ? { parent: [1, 1] } : { origin: [1, index + 1] }),
        }),
      ),
    ]),
  'clients of one struct': (size) =>
    encoded(
      structs(Math.min(size, 1000), (client) => ({
        client: 1 + client,
        clock: 0,
        structs: [{ content: { element: 'paragraph' } }],
      })),
      [],
    ),
  deletions: (size) =>
    encoded(
      [],
      structs(size, (index) => [1 + (index % 7), index * 2, 1]),
    ),
  'text that waits': (size) =>
    encoded([{ client: 9, clock: 5, structs: structs(Math.min(size, 3000), () => ({ content: { text: 'a' } })) }], []),
}

/** Updates that are let in by their content, and that could take Yjs much longer than their size tells. */
export const costlyUpdates: Readonly<Record<string, () => Uint8Array>> = {
  'letters between one place and each letter of a text': () =>
    encoded(
      [
        { client: 1, structs: [{ content: { text: 'a'.repeat(20_000) } }] },
        { client: 2, structs: structs(20_000, (clock) => ({ content: { text: 'b' }, rightOrigin: [1, clock] })) },
      ],
      [],
    ),
  'text that two clients put before the same place, again and again': () =>
    encoded(
      [1, 2].map((client) => ({
        client,
        structs: structs(5000, (clock) => ({
          content: { text: 'a' },
          ...(clock > 0 && { rightOrigin: [client, clock - 1] as const }),
        })),
      })),
      [],
    ),
  'letters in a text from its end to its start, which is split at each letter': () =>
    encoded(
      [
        { client: 1, structs: [{ content: { text: 'a'.repeat(100_000) } }] },
        {
          client: 2,
          structs: structs(50_000, (index) => ({
            content: { text: 'b' },
            origin: [1, 99_997 - index],
            rightOrigin: [1, 99_998 - index],
          })),
        },
      ],
      [],
    ),
  'one attribute that is set for the first time again and again': () =>
    updateOf([
      { content: { element: 'paragraph' } },
      ...structs(5000, (): UpdateStruct => ({ content: { any: [1] }, key: 'level', parent: [1, 0] })),
    ]),
}

type Client = { client: number; clock?: number; structs: readonly UpdateStruct[] }
type Deletion = [client: number, clock: number, length: number]

/** An update of client 1 from clock 0 on, as bytes. */
export function updateOf(
  own: readonly UpdateStruct[],
  { before = [] }: { before?: readonly Client[] } = {},
): Uint8Array {
  return encoded([...before, { client: 1, clock: 0, structs: own }], [])
}

/** An update in the encoding v1 of Yjs. */
export function encoded(clients: readonly Client[], deletions: readonly Deletion[]): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, clients.length)
  for (const { client, clock = 0, structs } of clients) {
    for (const number of [structs.length, client, clock]) encoding.writeVarUint(encoder, number)
    for (const struct of structs) writeStruct(encoder, struct)
  }
  const byClient = Map.groupBy(deletions, ([client]) => client)
  encoding.writeVarUint(encoder, byClient.size)
  for (const [client, ranges] of byClient) {
    for (const number of [client, ranges.length]) encoding.writeVarUint(encoder, number)
    for (const [, clock, length] of ranges) {
      encoding.writeVarUint(encoder, clock)
      encoding.writeVarUint(encoder, length)
    }
  }
  return encoding.toUint8Array(encoder)
}

function writeStruct(
  encoder: encoding.Encoder,
  { content, origin, rightOrigin, parent = 'default', key }: UpdateStruct,
): void {
  const hasNeighbour = origin !== undefined || rightOrigin !== undefined
  const bits = (origin ? 0x80 : 0) | (rightOrigin ? 0x40 : 0) | (key !== undefined ? 0x20 : 0)
  encoding.writeUint8(encoder, numberOf(content) | bits)
  for (const id of [origin, rightOrigin]) if (id) writeId(encoder, id)
  if (!hasNeighbour) {
    encoding.writeVarUint(encoder, typeof parent === 'string' ? 1 : 0)
    if (typeof parent === 'string') encoding.writeVarString(encoder, parent)
    else writeId(encoder, parent)
    if (key !== undefined) encoding.writeVarString(encoder, key)
  }
  writeContent(encoder, content)
}

function writeContent(encoder: encoding.Encoder, content: Content): void {
  if ('text' in content) encoding.writeVarString(encoder, content.text)
  else if ('element' in content) {
    encoding.writeVarUint(encoder, 3)
    encoding.writeVarString(encoder, content.element)
  } else if ('type' in content) {
    encoding.writeVarUint(encoder, content.type)
    if (content.type === 5) encoding.writeVarString(encoder, 'hook')
  } else if ('any' in content) {
    encoding.writeVarUint(encoder, content.any.length)
    for (const value of content.any) encoding.writeAny(encoder, value as Parameters<typeof encoding.writeAny>[1])
  } else if ('format' in content) for (const part of content.format) encoding.writeVarString(encoder, part)
  else if ('deleted' in content) encoding.writeVarUint(encoder, content.deleted)
  else if ('binary' in content) encoding.writeVarUint8Array(encoder, content.binary)
  else if ('embed' in content) encoding.writeVarString(encoder, content.embed)
  else {
    encoding.writeVarString(encoder, content.document)
    encoding.writeAny(encoder, {})
  }
}

function numberOf(content: Content): number {
  if ('deleted' in content) return 1
  if ('binary' in content) return 3
  if ('text' in content) return 4
  if ('embed' in content) return 5
  if ('format' in content) return 6
  if ('any' in content) return 8
  return 'document' in content ? 9 : 7
}

function writeId(encoder: encoding.Encoder, [client, clock]: Id): void {
  encoding.writeVarUint(encoder, client)
  encoding.writeVarUint(encoder, clock)
}

function structs<T>(size: number, make: (index: number) => T): T[] {
  return Array.from({ length: Math.max(1, Math.round(size)) }, (_, index) => make(index))
}
