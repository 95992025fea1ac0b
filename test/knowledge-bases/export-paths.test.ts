import fc from 'fast-check'
import { attachmentName, markdownPath } from '../../shared/export/names.ts'
import { directoriesOf } from '../../shared/export/paths.ts'
import { anyCharacter } from '../support/any-character.ts'
import { t } from '../support/tap.ts'

t.test('whatever folders and titles are called, no two paths fall together and all can be unpacked', async (t) => {
  fc.assert(
    fc.property(tree(), ({ folders, titles }) => {
      const directories = directoriesOf(folders)
      const paths = titles.map((title, index) => {
        const directory = directories.get(folders[index % Math.max(1, folders.length)]?.id ?? 0) ?? 'markdown'
        return markdownPath({ directory, title, id: `doc_${index}`, mark: '' })
      })
      requireDistinct([...directories.values(), ...paths])
      for (const path of [...directories.values(), ...paths]) requirePortable(path)
    }),
  )
  t.pass()
})

t.test('a folder deep below others still has a place', async (t) => {
  const folders = Array.from({ length: 500 }, (_, index) => ({
    id: index + 1,
    parent_id: index === 0 ? null : index,
    name: 'a name of some length',
  }))
  const directories = directoriesOf(folders)
  requireDistinct([...directories.values()])
  for (const directory of directories.values()) requirePortable(directory)
  t.equal(directories.get(2), 'markdown/a name of some length/a name of some length', 'as it is while it fits')
})

t.test('what is written does not depend on the order in which folders are read', async (t) => {
  fc.assert(
    fc.property(tree(), fc.nat(), ({ folders }, seed) => {
      const shuffled = [...folders].sort((a, b) => ((a.id * 7919 + seed) % 101) - ((b.id * 7919 + seed) % 101))
      const [one, other] = [directoriesOf(folders), directoriesOf(shuffled)]
      for (const [id, directory] of one) if (other.get(id) !== directory) throw new Error(`${id} moved`)
    }),
  )
  t.pass()
})

t.test('a file keeps its extension, whatever its name', async (t) => {
  t.equal(attachmentName('report.pdf'), 'report.pdf')
  t.equal(attachmentName(`${'x'.repeat(300)}.pdf`), `${'x'.repeat(76)}.pdf`)
  t.equal(attachmentName('..'), '__')
  t.equal(attachmentName('nul.png'), '_nul.png')
  t.equal(attachmentName('a<b>:c.png'), 'a_b__c.png')
  fc.assert(fc.property(hostileName(), (name) => requirePortable(`attachments/att_1/${attachmentName(name)}`)))
})

function hostileName() {
  const nasty = [
    ...['..', '.', ' ', 'con', 'NUL', 'com1.x', 'a. ', '/', '\\', 'c:', '\u202e', '\u0000', '\n', 'é', 'e\u0301', 'A'],
    ...['a'],
  ]
  const part = fc.oneof(
    fc.constantFrom(...nasty, 'T--doc_1.md', '日本語', '🐘'.repeat(50)),
    fc.string({ unit: anyCharacter }),
  )
  return fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('') || '_')
}

function tree() {
  const folder = fc.record({ name: hostileName(), parent: fc.nat() })
  return fc
    .record({ folders: fc.array(folder, { maxLength: 12 }), titles: fc.array(hostileName(), { maxLength: 6 }) })
    .map(({ folders, titles }) => ({
      titles,
      // The parent of a folder is an earlier folder or the root.
      folders: folders.map(({ name, parent }, index) => ({
        id: index + 1,
        parent_id: parent % (index + 1) === 0 ? null : parent % (index + 1),
        name,
      })),
    }))
}

function requireDistinct(paths: string[]): void {
  const keys = paths.map((path) => path.normalize('NFC').toUpperCase().toLowerCase())
  if (new Set(keys).size !== keys.length) throw new Error(`two of these fall together: ${paths.join(', ')}`)
}

function requirePortable(path: string): void {
  const device = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)[ .]*(\.|$)/i
  if (path.length > 240) throw new Error(`too long: ${path}`)
  if (/[\\:*?"<>|\p{Cc}\u202e]/u.test(path)) throw new Error(`unsafe: ${JSON.stringify(path)}`)
  for (const name of path.split('/')) {
    if (name === '' || /[. ]$/.test(name) || device.test(name)) throw new Error(`no name: ${JSON.stringify(name)}`)
    if (Buffer.byteLength(name) > 255 || !name.isWellFormed()) throw new Error(`no file system takes ${name}`)
  }
}
