import { accountPage } from '../account-page.ts'
import { pageHeaders } from '../headers.ts'
import { view } from '../render.ts'
import { scriptPath } from '../scripts/bundle.ts'
import { type Answer, answerTo } from './answer.ts'
import { keptParameters } from './asked.ts'
import { type SearchForm, searchFormOf } from './form.ts'

const searchView = view<{ answer: Answer; form: SearchForm; script: string }>('search')
const resultsView = view<{ answer: Answer }>('search-results')

/**
 * The search of the workspace (api/guide/search.md). The address has the parameters of `GET /search/v2`, and the query
 * has operators. A script that searches while a person types asks for the results alone by the header `X-Fragment`.
 */
export const searchPage = accountPage({
  path: '/search',
  bucket: ({ query }) => (query.has('q') ? 'search' : 'read'),
  async get(call) {
    const { service, request, response, query, account, caller } = call
    const kept = keptParameters(query)
    const { status, answer } = await answerTo({ service, caller }, kept)
    response.vary('X-Fragment')
    if (request.get('x-fragment') === 'true') return { status, html: resultsView({ title: '', answer }) }
    const [form, script] = await Promise.all([
      searchFormOf({ db: service.database, caller }, kept),
      scriptPath('search'),
    ])
    const title = form.q === '' ? 'Search' : `${form.q} – Search`
    return {
      status,
      html: searchView({ title, account, answer, form, script }),
      headers: pageHeaders({ 'script-src': "'self'", 'connect-src': "'self'" }),
    }
  },
})
