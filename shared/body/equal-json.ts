/**
 * True if two JSON values are equal. A member that is null or undefined counts as absent, since Y documents keep
 * neither. Comparing an object with itself costs nothing. So callers let both bodies share the objects of unchanged
 * blocks.
 */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return (a ?? null) === (b ?? null)
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let index = 0; index < a.length; index++) if (!equalJson(a[index], b[index])) return false
    return true
  }
  return !Array.isArray(b) && equalMembers(a as Members, b as Members)
}

type Members = { [name: string]: unknown }

function equalMembers(a: Members, b: Members): boolean {
  for (const name in a) if (!equalJson(a[name], b[name])) return false
  for (const name in b) if (a[name] === undefined && (b[name] ?? null) !== null) return false
  return true
}
