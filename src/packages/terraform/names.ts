import { rcompare, valid } from 'semver'
import { badRequest, Problem } from '../../base/problem.ts'

const partForm = /^[-a-z0-9]{1,64}$/

/** The name of a package that holds a module: `name/system`. */
export function moduleName(name: string, system: string): string {
  return `${name}/${system}`
}

/** Refuses names and versions that no module may have. */
export function assertModule(name: string, system: string, version: string): void {
  if (!partForm.test(name) || !partForm.test(system)) {
    throw new Problem('invalid', 422, { message: 'Validation failed: Name is invalid' })
  }
  if (!isVersion(version)) throw badRequest('version is invalid')
}

/** A version may say how it was built, which `valid` leaves out of what it gives. */
function isVersion(text: string): boolean {
  return text.length <= 255 && /^\d\S*$/.test(text) && valid(text) !== null
}

export function newestFirst<R extends { readonly version: string | null }>(
  rows: readonly R[],
): R[] {
  return rows
    .filter((row) => valid(row.version) !== null)
    .sort((a, b) => rcompare(a.version ?? '', b.version ?? ''))
}
