/** Whether a value of JSON is nested deeper than so many levels. The work is linear and does not recurse. */
export function isDeeperThan(limit: number, value: object): boolean {
  let level = [value]
  for (let depth = 0; depth < limit && level.length > 0; depth += 1) {
    level = level.flatMap((parent) =>
      Object.values(parent).filter((child) => typeof child === 'object' && child !== null),
    )
  }
  return level.length > 0
}
