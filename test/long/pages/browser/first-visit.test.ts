import { createSignInLink } from '../../../../shared/auth/sign-in-links.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { until } from '../../../support/site.ts'
import { t } from '../../../support/tap.ts'
import { startWrittenService } from '../../../support/written-page.ts'

t.test(
  'an owner gets from the link of the first start to an open editor in two clicks, and types',
  { skip: noChromium },
  async (t) => {
    const service = await startWrittenService(t)
    const owner = await service.signUp({ email: 'owner@example.test' })
    const { database: db, config, origin } = service
    const made = await createSignInLink({ db, config }, 'owner@example.test')
    const page = await (await (await startChromium(t)).newContext()).newPage()
    page.setDefaultTimeout(60_000)
    await page.goto((made?.sign_in_link ?? '').replace(config.PUBLIC_ORIGIN, origin))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Write the first document' }).click()
    await page.locator('.ProseMirror[contenteditable="true"]').click()
    await page.keyboard.type('Water is wet')
    const [, id = ''] = /\/d\/(doc_\w+)/.exec(page.url()) ?? []
    await until(async () => (await owner.get(`/documents/${id}/content`)).text.includes('Water is wet'))
  },
)
