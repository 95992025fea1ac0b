import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { characterCount } from '../../shared/body/body-limits.ts'
import { blockHash, bodyVersion, canonicalJson, documentToLines, linesToDocument } from '../../shared/body/canonical.ts'
import { t } from '../support/tap.ts'
import { doc, p } from './build.ts'
import { anyDocument } from './random.ts'

t.test('a client can verify hashes: the canonical text is that of RFC 8785', async () => {
  fc.assert(fc.property(fc.json(), (json) => canonicalJson(JSON.parse(json)) === canonicalize(JSON.parse(json))))
  fc.assert(fc.property(anyDocument, (document) => canonicalJson(document) === canonicalize(document)))
})

t.test('lines are one block each and give the same document back', async () => {
  const isLossless = (document: Parameters<typeof documentToLines>[0]) => {
    const lines = documentToLines(document)
    const isOneLine = lines.length === document.content.length && lines.every((line) => !line.includes('\n'))
    return isOneLine && JSON.stringify(linesToDocument(lines)) === JSON.stringify(document)
  }
  fc.assert(fc.property(anyDocument, isLossless))
})

t.test('versions and hashes have the published form and follow the content', async (t) => {
  const document = doc(p('a'), p('b'))
  const version = bodyVersion(documentToLines(document))
  t.match(version, /^sha256:[0-9a-f]{64}$/)
  t.equal(bodyVersion(documentToLines(structuredClone(document))), version)
  t.not(blockHash(document.content[0] as never), blockHash(document.content[1] as never))
  t.equal(characterCount(doc(p('👍a'))), 2)
})
