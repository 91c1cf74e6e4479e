import type { Endpoint } from './endpoint.ts'
import { DEFAULT_PER_PAGE } from './paging.ts'
import type { Input } from './read-input.ts'
import type { ApiRequest } from './request.ts'

/** A project that is no longer where a request looked for it. */
interface Moved {
  readonly id: number
  readonly full_path: string
}

/**
 * Makes the address of a request with the place of a project in one parameter of its path: its id, or its path where that
 * is written with slashes, in the addresses that people share.
 */
export function urlMaker(
  baseUrl: string,
  endpoint: Pick<Endpoint, 'path'>,
  request: Pick<ApiRequest, 'rawPath' | 'rawQuery'>,
  params: Readonly<Record<string, string>>,
) {
  return (param: string, { id, full_path }: Moved): string => {
    const raw = request.rawPath.split('/')
    const at = endpoint.path.split('/').findIndex((name) => name.slice(1) === param)
    const isWhole = (end: number) =>
      decodeURIComponent(raw.slice(at, end).join('/')) === params[param]
    let end = at + 1
    while (!isWhole(end) && end < raw.length) end += 1
    raw.splice(at, end - at, endpoint.path.split('/')[at] === `*${param}` ? full_path : String(id))
    const query = request.rawQuery === '' ? '' : `?${request.rawQuery}`
    return baseUrl + raw.join('/') + query
  }
}

/** Makes the addresses of other pages of a list: those of its request, without credentials, with these parameters put in. */
export function linkMaker(baseUrl: string, request: Pick<ApiRequest, 'rawPath'>, given: Input) {
  const input = { ...given, per_page: given.per_page || DEFAULT_PER_PAGE }
  return (changes: Readonly<Record<string, string>>): string => {
    const pairs: [string, string][] = []
    for (const [key, value] of Object.entries({ ...input, ...changes })) flatten(pairs, key, value)
    const kept = pairs.filter(
      ([key]) => key !== 'private_token' && key !== 'job_token' && key !== 'access_token',
    )
    kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    return `${baseUrl}${request.rawPath}?${new URLSearchParams(kept)}`
  }
}

function flatten(pairs: [string, string][], key: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) flatten(pairs, `${key}[]`, item)
  else if (typeof value === 'object' && value !== null) {
    for (const [inner, item] of Object.entries(value)) flatten(pairs, `${key}[${inner}]`, item)
  } else if (value !== undefined) pairs.push([key, value === null ? '' : String(value)])
}
