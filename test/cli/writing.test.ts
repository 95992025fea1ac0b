import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../support/command-line.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const service = await sharedService()

t.test('a script makes, fills, moves, tags, shares, deletes and restores documents', async (t) => {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const { run, json, directory } = commandLine(t, { origin: service.origin, token: ada.token })
  const birds = await json(['new', 'Zoo', 'Birds', '--folder'])
  t.match(birds, { name: 'Birds', knowledge_base_id: base })
  const { id } = await json(['new', 'Zoo', 'Owls', '-'], { input: 'They see *well*.\n' })
  const textOf = async () => (await ada.get(`/documents/${id}/content?format=markdown`)).body.data
  t.equal((await textOf()).content, 'They see *well*.\n')

  const { version } = await textOf()
  const unguarded = await run(['put', 'Zoo/Owls', '--json'], { input: 'New.\n' })
  t.match([unguarded.code, JSON.parse(unguarded.err)], [2, { error: { code: 'guard_missing' } }])
  const rehearsed = await run(['put', 'Zoo/Owls', '--dry-run'], { input: 'They hear well.\n' })
  t.match(rehearsed, { code: 0, out: '- They see well.\n+ They hear well.\n' })
  t.equal((await textOf()).version, version, 'a dry run writes nothing')
  writeFileSync(join(directory, 'owls.md'), 'They hear well.\n')
  t.match(await run(['put', id, 'owls.md', '--if-match', version]), { code: 0, out: `Stored: ${id}, version sha256:` })
  const outdated = await run(['put', id, 'owls.md', '--if-match', version])
  t.match(outdated, { code: 3, out: '' }, 'somebody else has written since')
  await json(['append', `svc://doc/${id}`], { input: 'They fly *silently*.\n' })
  t.equal((await textOf()).content, 'They hear well.\n\nThey fly *silently*.\n')
  t.match(await run(['mv', id, '--to', 'Zoo/Birds', '--name', 'Night owls', '--dry-run']), {
    out: `Would be moved: "Owls" (${id}) to folders/${birds.id} as "Night owls"\n`,
  })
  t.match(await json(['mv', 'Zoo/Owls', '--to', 'Zoo/Birds', '--name', 'Night owls']), {
    title: 'Night owls',
    folder_id: birds.id,
  })
  t.match(await json(['tag', 'Zoo/Birds/Night owls', 'night', 'draft']), { tags: ['night', 'draft'] })
  t.match(await run(['tag', id, '--remove', 'draft']), { code: 0, out: 'night\n' })

  const shared = await run(['share', id, '--expires', '2999-12-31', '--with-password'], { input: 'hoot hoot\n' })
  t.match(shared, { code: 0, out: /^http\S+\n$/ })
  t.match(await json(['share', id]), { has_password: true, url: shared.out.trim() }, 'the link stays')
  t.match(await run(['share', id, '--stop']), { code: 0 })

  t.match(await run(['rm', id, 'Zoo/Birds']), { code: 2, err: /--recursive/ })
  t.match(await run(['rm', id, '--if-match', version]), { code: 3 })
  t.match(await run(['rm', '-r', 'Zoo/Birds']), { out: `Moved to the trash: "Birds" (folders/${birds.id})\n` })
  t.equal((await ada.get(`/documents/${id}`)).status, 404)
  t.match(await run(['trash', 'list']), { out: new RegExp(`^ID +DELETED.*\nfolders/${birds.id} .*  Zoo / Birds\n$`) })
  t.match(await json(['trash', 'restore', `folders/${birds.id}`]), { id: birds.id })
  t.match(await ada.get(`/documents/${id}`), { status: 200 })
})
