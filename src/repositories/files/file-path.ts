import { fault, parameter } from '../../http/params.ts'

/** A file's path inside the repository; what escapes it or is absolute is refused (docs/contract/B-resolved §3). */
export function filePath(options: { readonly leadingSlash?: boolean } = {}) {
  return parameter({ type: 'string', minLength: 1 }, (raw) => {
    if (typeof raw !== 'string' || raw.includes('\0') || raw === '') return fault.invalid
    const path = options.leadingSlash ? raw.replace(/^\/+/, '') : raw
    const escapes = path.startsWith('/') || path.split(/[/\\]/).includes('..')
    return escapes ? fault.says('should be a valid file path') : path
  })
}
