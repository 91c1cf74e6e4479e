import { invalidText } from '../../base/problem.ts'

const nameForm = /^(?:@[a-zA-Z0-9][\w.-]*\/)?[-+._A-Za-z0-9]+$/

/** The name of a package as a path gives it: whole and encoded, or scope and name in two segments. */
export function npmName(path: Readonly<Record<string, string>>): string {
  const { scope, package_name: name = '' } = path
  return scope === undefined ? name : `${scope}/${name}`
}

/** Whether npm may have a package of this name (docs/contract/C-resolved §3.3). */
export function isNpmName(name: string): boolean {
  const last = name.split('/').at(-1) ?? ''
  return name.length <= 214 && nameForm.test(name) && last !== '.' && last !== '..'
}

/** As `isNpmName`, or 400. */
export function assertNpmName(name: string): void {
  if (!isNpmName(name)) throw invalidText('Validation failed: Name is invalid')
}

/** `@acme` of `@acme/tool`, without the sign. */
export function scopeOf(name: string): string | undefined {
  return /^@([^/]+)\//.exec(name)?.[1]
}

/** The name of the tarball of a version. */
export function tarballName(name: string, version: string): string {
  return `${name}-${version}.tgz`
}

/** The version that the name of a tarball says, with or without the scope before it. */
export function versionInTarball(name: string, fileName: string): string | undefined {
  const last = name.split('/').at(-1) ?? ''
  const begin = [`${name}-`, `${last}-`].find((one) => fileName.startsWith(one))
  if (begin === undefined || !fileName.endsWith('.tgz')) return undefined
  return fileName.slice(begin.length, -'.tgz'.length)
}
