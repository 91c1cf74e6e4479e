import type { Service } from '../advertisements.ts'

/** What a URL of git's HTTP protocol asks for. */
export type GitRoute =
  | { readonly kind: 'info'; readonly path: string; readonly service: Service }
  | { readonly kind: 'rpc'; readonly path: string; readonly service: Service }
  /** `info/refs` without `.git`: to be redirected there. */
  | { readonly kind: 'bare'; readonly location: string }
  /** The old protocol that reads files, or a service that we do not offer. */
  | { readonly kind: 'refused' }
  /** `/group/project.git` in a browser. */
  | { readonly kind: 'page'; readonly location: string }

const services: Readonly<Record<string, Service>> = {
  'git-upload-pack': 'upload-pack',
  'git-receive-pack': 'receive-pack',
}

// One group for the repository's path, one for what git asks below it. Only wikis of groups have a path of one part.
const form =
  /^\/((?:[^/]+\/)+[^/]+?|[^/]+\.wiki)(\.git)?\/(info\/refs|git-upload-pack|git-receive-pack|HEAD|objects\/.+)$/
const page = /^\/((?:[^/]+\/)+[^/]+)\.git\/?$/

/** A URL in its two parts, as they came. */
export function splitUrl(url: string): { readonly rawPath: string; readonly rawQuery: string } {
  const [rawPath = '', ...rest] = url.split('?')
  return { rawPath, rawQuery: rest.join('?') }
}

/**
 * Reads a raw URL (docs/contract/D §3.1), or gives undefined when it is none of git's. Without `.git` only
 * the requests that no page or API can mean are taken.
 */
export function readRoute(rawPath: string, rawQuery: string): GitRoute | undefined {
  const project = page.exec(rawPath)
  if (project) return { kind: 'page', location: `/${project[1]}` }
  const [, path, suffix, rest] = form.exec(rawPath) ?? []
  if (path === undefined || rest === undefined) return undefined
  const nothing: GitRoute | undefined = suffix === undefined ? undefined : { kind: 'refused' }
  const decoded = decodePath(path)
  if (decoded === undefined) return nothing
  const posted = services[rest]
  if (posted) return { kind: 'rpc', path: decoded, service: posted }
  const asked = new URLSearchParams(rawQuery).get('service') ?? ''
  const service = rest === 'info/refs' ? services[asked] : undefined
  if (!service) return nothing
  if (suffix !== undefined) return { kind: 'info', path: decoded, service }
  return { kind: 'bare', location: `/${path}.git/info/refs?${rawQuery}` }
}

/** A path as it was before it was encoded; undefined for one that can't be of ours. */
export function decodePath(path: string): string | undefined {
  try {
    // An encoded slash or NUL would make another path of it than the one that was routed.
    return /%2f|%00/i.test(path) ? undefined : decodeURIComponent(path)
  } catch {
    return undefined
  }
}
