import type { Answer, Api, Input, Operation, Path } from './api.ts'

/** The paths of lists that come in pages. */
export type ListPath = {
  [P in Path<'get'>]: Answer<Operation<'get', P>> extends { data: readonly unknown[]; page: unknown } ? P : never
}[Path<'get'>]

/** A page of a list: the items as `data`, and `page` with the cursor of the next one. */
export type ListPage<P extends ListPath> = Answer<Operation<'get', P>>

/** An item of a list. */
export type ListItem<P extends ListPath> = ListPage<P> extends { data: readonly (infer T)[] } ? T : never

/** The input of the call that reads a list. */
export type ListInput<P extends ListPath> = Input<Operation<'get', P>>

/** Reads the pages of a list, from the cursor in `input` or from the beginning, each when the caller asks for it. */
export async function* pagesOf<P extends ListPath>(
  api: Api,
  path: P,
  input: ListInput<P> | undefined,
): AsyncGenerator<ListPage<P>, void, undefined> {
  const { params, ...options } = (input ?? {}) as UntypedInput
  const get = api.GET as unknown as (path: string, input: UntypedInput) => Promise<UntypedPage>
  for (let cursor = params?.query?.cursor; ; ) {
    const query = { ...params?.query, ...(cursor !== undefined && { cursor }) }
    const answer = await get(path, { ...options, params: { ...params, query } })
    yield answer as unknown as ListPage<P>
    const { has_more, next_cursor } = answer.page
    if (!has_more || next_cursor === null) return
    cursor = next_cursor
  }
}

// A list that is still to be chosen has the members that all lists have.
type UntypedInput = { params?: { query?: { cursor?: string } } }
type UntypedPage = { page: { has_more: boolean; next_cursor: string | null } }
