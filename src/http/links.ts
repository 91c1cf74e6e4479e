import type { Endpoint } from './endpoint.ts'
import { DEFAULT_PER_PAGE } from './paging.ts'
import type { Input } from './read-input.ts'
import type { ApiRequest } from './request.ts'

/** Makes the address of a request with another value for one parameter of its path. */
export function urlMaker(
  baseUrl: string,
  endpoint: Pick<Endpoint, 'path'>,
  request: Pick<ApiRequest, 'rawPath' | 'rawQuery'>,
) {
  return (param: string, value: string): string => {
    const names = endpoint.path.split('/')
    const raw = request.rawPath.split('/')
    const path = raw.map((segment, index) =>
      names[index] === `:${param}` ? encodeURIComponent(value) : segment,
    )
    const query = request.rawQuery === '' ? '' : `?${request.rawQuery}`
    return baseUrl + path.join('/') + query
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
