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
  if (version.length > 255 || valid(version) !== version) throw badRequest('version is invalid')
}

export function newestFirst<R extends { readonly version: string | null }>(
  rows: readonly R[],
): R[] {
  return rows
    .filter((row) => valid(row.version) !== null)
    .sort((a, b) => rcompare(a.version ?? '', b.version ?? ''))
}
