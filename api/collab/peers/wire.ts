import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

/** What one collab process tells others. A message between two processes is a sequence of frames. */
export type Frame =
  /** The heartbeat of the process. */
  | { kind: 'alive' }
  /** The process has opened these documents; with `all`, it holds no other documents. */
  | { kind: 'joined'; all: boolean; documentIds: string[] }
  /** The process has closed these documents. */
  | { kind: 'left'; documentIds: string[] }
  /** The process holds the document, too. With `answer`, it wants a greeting in return. */
  | { kind: 'greeting'; documentId: string; answer: boolean }
  /**
   * A Yjs update (encoding v1) with everything that was typed up to `number` since the update before. `typist` is the
   * id of the user who typed last.
   */
  | { kind: 'update'; documentId: string; number: number; typist: string; update: Uint8Array }
  /** An awareness update of y-protocols. */
  | { kind: 'awareness'; documentId: string; update: Uint8Array }
  /** The process has stored its updates up to the number `upTo`. */
  | { kind: 'stored'; documentId: string; upTo: number }

const kinds = [
  'alive',
  'joined',
  'left',
  'greeting',
  'update',
  'awareness',
  'stored',
] as const satisfies Frame['kind'][]

/** Encodes a frame. A message is the concatenation of its encoded frames. */
export function encodeFrame(frame: Frame): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeUint8(encoder, kinds.indexOf(frame.kind))
    switch (frame.kind) {
      case 'alive':
        return
      case 'joined':
        encoding.writeUint8(encoder, Number(frame.all))
        return writeIds(encoder, frame.documentIds)
      case 'left':
        return writeIds(encoder, frame.documentIds)
      case 'greeting':
        encoding.writeVarString(encoder, frame.documentId)
        return encoding.writeUint8(encoder, Number(frame.answer))
      case 'update':
        encoding.writeVarString(encoder, frame.documentId)
        encoding.writeVarUint(encoder, frame.number)
        encoding.writeVarString(encoder, frame.typist)
        return encoding.writeVarUint8Array(encoder, frame.update)
      case 'awareness':
        encoding.writeVarString(encoder, frame.documentId)
        return encoding.writeVarUint8Array(encoder, frame.update)
      case 'stored':
        encoding.writeVarString(encoder, frame.documentId)
        return encoding.writeVarUint(encoder, frame.upTo)
    }
  })
}

/** Decodes the frames of a message. Throws when the message is malformed. */
export function decodeFrames(message: Uint8Array): Frame[] {
  const decoder = decoding.createDecoder(message)
  const frames: Frame[] = []
  while (decoding.hasContent(decoder)) frames.push(readFrame(decoder))
  return frames
}

function readFrame(decoder: decoding.Decoder): Frame {
  const kind = kinds[decoding.readUint8(decoder)]
  switch (kind) {
    case 'alive':
      return { kind }
    case 'joined':
      return { kind, all: readFlag(decoder), documentIds: readIds(decoder) }
    case 'left':
      return { kind, documentIds: readIds(decoder) }
    case 'greeting':
      return { kind, documentId: readText(decoder), answer: readFlag(decoder) }
    case 'update':
      return { kind, documentId: readText(decoder), number: readNumber(decoder), ...readTyped(decoder) }
    case 'awareness':
      return { kind, documentId: readText(decoder), update: readBytes(decoder) }
    case 'stored':
      return { kind, documentId: readText(decoder), upTo: readNumber(decoder) }
    default:
      throw new Error('A message of another collab process has a frame of an unknown kind')
  }
}

function readTyped(decoder: decoding.Decoder) {
  return { typist: readText(decoder), update: readBytes(decoder) }
}

function writeIds(encoder: encoding.Encoder, ids: readonly string[]): void {
  encoding.writeVarUint(encoder, ids.length)
  for (const id of ids) encoding.writeVarString(encoder, id)
}

// Each id takes at least one byte, so a wrong length fails at the end of the message.
function readIds(decoder: decoding.Decoder): string[] {
  const ids: string[] = []
  for (let left = readNumber(decoder); left > 0; left -= 1) ids.push(readText(decoder))
  return ids
}

const readText = (decoder: decoding.Decoder): string => decoding.readVarString(decoder)
const readNumber = (decoder: decoding.Decoder): number => decoding.readVarUint(decoder)
const readFlag = (decoder: decoding.Decoder): boolean => decoding.readUint8(decoder) === 1
// The bytes are copied, since an update may be kept long after the message that contains it.
const readBytes = (decoder: decoding.Decoder): Uint8Array => decoding.readVarUint8Array(decoder).slice()
