import { badRequest } from '../../base/problem.ts'

const packageName = /^[A-Za-z0-9._+-]{1,255}$/
const versionForm = /^[A-Za-z0-9_+.-]{1,255}$/
const fileForm = /^(?![~@])[A-Za-z0-9._+~@-]{1,255}(?<![~@])$/

/** Name, version and file of a generic package, checked (docs/contract/C-resolved §3.2). */
export interface GenericNames {
  readonly name: string
  readonly version: string
  /** As it is stored: folders are kept in it, `dir%2Ffile`. */
  readonly file: string
  /** Its last part, under which it is saved. */
  readonly saveAs: string
}

/** Checks what the path of a request names; `..` is refused wherever it stands. */
export function readGenericNames(params: {
  readonly package_name: string
  readonly package_version: string
  readonly file: string
}): GenericNames {
  const { package_name: name, package_version: version } = params
  if (!packageName.test(name) || name.includes('..')) throw badRequest('package_name is invalid')
  if (!versionForm.test(version) || version.includes('..')) {
    throw badRequest('package_version is invalid')
  }
  const parts = params.file.split('/')
  const isWrong = parts.some((part) => !fileForm.test(part) || part.includes('..') || part === '.')
  if (isWrong || params.file.length > 1000) throw badRequest('file_name is invalid')
  return { name, version, file: parts.join('%2F'), saveAs: parts.at(-1) ?? '' }
}
