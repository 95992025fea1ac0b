/*
 * What the command line uses of Node 22 and later, for a Node 20 that does not have it. The service itself runs under a
 * Node of its own and needs none of it.
 */

Map.groupBy ??= function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  let index = 0
  for (const item of items) {
    const key = keyOf(item, index)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
    index += 1
  }
  return groups
}

URL.parse ??= (url, base) => (URL.canParse(url, base) ? new URL(url, base) : null)

Array.fromAsync ??= async function fromAsync<T>(items: AsyncIterable<T> | Iterable<T | PromiseLike<T>>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
} as typeof Array.fromAsync
