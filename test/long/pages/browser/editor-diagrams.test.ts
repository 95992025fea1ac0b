import { node, p, text } from '../../../document/build.ts'
import { violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { make } from '../../../support/documents.ts'
import { until } from '../../../support/site.ts'
import { t } from '../../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

/*
 * Diagrams in the language of Mermaid, which the editor draws in a frame that cannot reach the session.
 */

const mermaid = (source: string) => node('codeBlock', { language: 'mermaid' }, text(source))

t.test('diagrams', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const { origin } = service
  const ada = await service.signUp({ email: 'ada@example.test' })
  const browser = await startChromium(t)
  const reader = await signedInBrowser(browser, { service, userId: ada.user_id })
  const drawn = 'Array.from(document.querySelectorAll(".diagram img"), (one) => one.naturalWidth > 0 && one.complete)'

  t.test('a diagram is drawn, follows its source, and says in words what is wrong with it', async (t) => {
    const { id } = await make(ada, [
      p('Water'),
      mermaid('graph LR\n  River --> Trunk'),
      mermaid('graph LR\n  River --'),
      p('End'),
    ])
    const one = await WrittenPage.open(reader, { origin, id })
    await one.state.getByText('Saved').waitFor()
    await until(async () => String(await one.page.evaluate(drawn)) === 'true')
    await one.page.getByText('The diagram is not drawn: Parse error on line').waitFor()
    await one.type({ block: 2 }, '> Mouth')
    await until(async () => String(await one.page.evaluate(drawn)) === 'true,true')
    t.strictSame(await violationsOf(one.page), [])
    await one.page.emulateMedia({ colorScheme: 'dark' })
    await one.page.locator('.diagram img[data-theme="dark"]').nth(1).waitFor()
    if (process.env['SCREENSHOTS']) {
      await one.page.screenshot({ path: `${process.env['SCREENSHOTS']}/diagrams.png`, fullPage: true })
    }
    await one.page.close()
  })

  t.test('a printed page has the diagrams that nobody has scrolled to', async (t) => {
    const far = Array.from({ length: 80 }, (_, index) => p(`Elephant ${index}`))
    const { id } = await make(ada, [mermaid('graph LR\n  River --> Trunk'), ...far, mermaid('graph LR\n  Sea --> Sky')])
    const one = await WrittenPage.open(reader, { origin, id })
    await until(async () => String(await one.page.evaluate(drawn)) === 'true,true')
    t.equal(await one.page.evaluate('scrollY'), 0)
    await one.page.close()
  })

  t.test('a hostile diagram reaches neither the page nor another host', async (t) => {
    const hostile = [
      'graph LR\n  A["<img src=https://elsewhere.example/x.png onerror=parent.noteIncident(1)>"] --> B',
      'graph LR\n  A --> B\n  click A "javascript:parent.noteIncident(2)"\n  click B href "https://elsewhere.example/"',
      '%%{init: {"securityLevel": "loose", "themeCSS": "@import url(https://elsewhere.example/x.css)"}}%%\ngraph LR\n  A --> B',
      'graph LR\n  A["</text></svg><script>parent.noteIncident(3)</script>"] --> B',
      'graph LR\n  A@{ img: "https://elsewhere.example/x.png", label: "x", pos: "t", w: 60, h: 60 }',
    ]
    const { id } = await make(ada, hostile.map(mermaid))
    const options = { viewport: { width: 1000, height: 2500 } }
    const { context, incidents } = await signedInBrowser(browser, { service, userId: ada.user_id, options })
    const answered: string[] = []
    context.on('requestfinished', (request) => answered.push(new URL(request.url()).hostname))
    const one = await WrittenPage.open({ context, incidents }, { origin, id })
    const words = async () => String(await one.page.locator('.diagram').allTextContents())
    await until(async () => !(await words()).includes('being drawn'))
    const frame = one.page.frames().find((each) => each.url().endsWith('/editor/diagrams'))
    t.equal(await frame?.evaluate('origin'), 'null', 'the frame has no origin')
    t.equal(await frame?.evaluate('fetch("/api/v1/me").then(() => "answered", () => "refused")'), 'refused')
    t.notOk(answered.includes('elsewhere.example'))
    t.strictSame(
      incidents.filter((incident) => !/^(policy|request https:\/\/elsewhere)/.test(incident)),
      [],
    )
    await context.close()
  })

  t.test('a document without a diagram loads nothing for diagrams', async (t) => {
    const { id } = await make(ada, [p('Water'), node('codeBlock', { language: 'ts' }, text('const x = 1'))])
    const one = await WrittenPage.open(reader, { origin, id })
    await one.state.getByText('Saved').waitFor()
    t.equal(await one.page.locator('iframe').count(), 0)
    await one.page.close()
  })

  t.test('nothing went wrong in any page, and no page asked another host', async (t) => {
    t.strictSame(reader.incidents, [])
  })
})
