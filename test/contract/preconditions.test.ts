import fc from 'fast-check'
import {
  type EntityTags,
  entityTagOf,
  mergeGuards,
  parseEntityTags,
  satisfies,
  type VersionForm,
} from '../../api/http/preconditions.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

const version = `sha256:${'0123456789abcdef'.repeat(4)}`
const other = `sha256:${'f'.repeat(64)}`

t.test('a guard is met by the version it names and by nothing else', async (t) => {
  const cases: [string, string, boolean][] = [
    ['*', version, true],
    [' * ', version, true],
    [`"${version}"`, version, true],
    [` "${version}" `, version, true],
    [`"${other}"`, version, false],
    [`"${other}", "${version}"`, version, true],
    [`"${other}","${version}"`, version, true],
    [`"a", "b" , "c"`, 'c', true],
    [`W/"${version}"`, version, false],
    [`W/"${version}", "${version}"`, version, true],
    [version, version, true],
    [`${other}, ${version}`, version, true],
    ['"concept:3"', 'concept:3', true],
    ['"concept:3"', 'concept:30', false],
    ['""', version, false],
    ['"with,comma"', 'with,comma', true],
    ['"*"', version, false],
    [`"x" , , "${version}"`, version, true],
    [` ,, "${version}",\t,`, version, true],
    [`, ${version}`, version, true],
  ]
  for (const [header, current, met] of cases) t.equal(satisfies(parseEntityTags(header) ?? [], current), met, header)
  t.equal(parseEntityTags(undefined), null)
})

t.test('a version without quotes guards the resource it is of, and is a mistake at any other', async (t) => {
  const bare = { digest: version, summary: 'summary:0', concept: 'concept:3', candidate: 'candidate:12' }
  const forms = Object.keys(bare) as VersionForm[]
  for (const form of forms) {
    t.ok(satisfies(parseEntityTags(bare[form], { form }) ?? [], bare[form]))
    t.strictSame(parseEntityTags(`"x", ${bare[form]}`, { form }), ['x', bare[form]])
    for (const wrong of [`${form}:03`, `${form}:`, `${bare[form]} x`, `x${bare[form]}`]) {
      t.throws(() => parseEntityTags(wrong, { form }), { code: 'invalid_precondition' }, wrong)
    }
    for (const other of forms.filter((name) => name !== form)) {
      t.throws(
        () => parseEntityTags(bare[other], { form }),
        { code: 'invalid_precondition' },
        `${bare[other]} at ${form}`,
      )
      t.strictSame(parseEntityTags(`"${bare[other]}"`, { form }), [bare[other]], 'in quotes it is a tag like any other')
    }
  }
})

t.test('a block is guarded by its own hash as well as by the version of its document', async (t) => {
  const guard = parseEntityTags(`"${other}"`) ?? []
  t.ok(satisfies(guard, version, other))
  t.notOk(satisfies(guard, version))
})

t.test('anything but a list of entity tags is refused, whichever header it stands in', async (t) => {
  const malformed = ['', ' ', ',', ' , ,', 'x', '"', '"a', 'a"', '"a" "b"', '*, "a"', '"a", *', 'w/"a"', `${version}0`]
  for (const header of [...malformed, 'sha256:short', `sha256:${'G'.repeat(64)}`, '"a"; q=1', '**']) {
    t.throws(() => parseEntityTags(header), { code: 'invalid_precondition', details: { header: 'If-Match' } }, header)
    t.throws(
      () => parseEntityTags(header, { name: 'If-None-Match' }),
      { code: 'invalid_precondition', details: { header: 'If-None-Match' } },
      header,
    )
  }
})

t.test('a tag that a proxy has weakened still saves a download, but never lets a write pass', async (t) => {
  t.ok(satisfies(parseEntityTags(`W/"${version}"`, { name: 'If-None-Match' }) ?? [], version))
  t.notOk(satisfies(parseEntityTags(`W/"${version}"`, { name: 'If-Match' }) ?? [], version))
  t.strictSame(parseEntityTags(`W/"${version}"`), [`W/"${version}"`], 'a conflict tells what was sent')
})

t.test('guards in header and body must agree', async (t) => {
  const merged = (tags: EntityTags | null, inBody?: string) => mergeGuards({ required: true, tags }, inBody)
  t.same(merged(null), { required: true, tags: null })
  t.same(merged(null, version), { required: true, tags: [version] })
  t.same(merged(null, `"${version}"`).tags, [version])
  t.same(merged([version]).tags, [version])
  t.same(merged([other, version], version).tags, [version])
  t.same(merged('*', version).tags, [version])
  t.throws(() => merged([other], version), { code: 'precondition_mismatch', details: { header: 'If-Match' } })
  t.throws(() => merged([version], 'xx'), { code: 'invalid_precondition' })
})

t.test('whatever version the service hands out comes back as a guard that it meets', async (t) => {
  const tag = fc.stringMatching(/^[\x21\x23-\x7e]{0,40}$/)
  const separator = fc.constantFrom(',', ', ', ' , ', ',\t', ', ,', ',,')
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1, maxLength: 5 }), separator, fc.nat(4), (tags, comma, pick) => {
      const guard = parseEntityTags(tags.map(entityTagOf).join(comma))
      const chosen = tags[pick % tags.length] ?? ''
      return guard !== null && satisfies(guard, chosen) && !satisfies(guard, `${chosen}\u0000`)
    }),
    runsTimes(2),
  )
  t.pass('for every list of tags')
})

t.test('no header value breaks the parser or takes it long', async (t) => {
  const part = fc.constantFrom('"', ',', ' ', 'W/', '*', 'a', '\t', version, 'concept:1', '\u00ff')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(part, { maxLength: 60 }).map((parts) => parts.join('')),
      ),
      (header) => {
        try {
          parseEntityTags(header)
        } catch (error) {
          return (error as { code?: string }).code === 'invalid_precondition'
        }
        return true
      },
    ),
    runsTimes(10),
  )
  t.pass('for every text')
})
