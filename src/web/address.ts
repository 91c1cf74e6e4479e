/** The names in an address of a page: `/*project/-/issues/:iid` has `project` and `iid`. */
export type NamesIn<P extends string> = P extends `${infer Segment}/${infer Rest}`
  ? NameOf<Segment> | NamesIn<Rest>
  : NameOf<P>

type NameOf<S extends string> = S extends `*${infer Name}`
  ? Name
  : S extends `:${infer Name}`
    ? Name extends `${infer Bare}.${string}`
      ? Bare
      : Name
    : never

export function namesIn(address: string): string[] {
  return address
    .split('/')
    .filter((segment) => /^[*:]/.test(segment))
    .map((segment) => segment.slice(1).split('.')[0] ?? '')
}

/** A path made of texts: each `/` within one is kept, everything else that means something in an address is encoded. */
export function pathOf(...parts: readonly (string | number)[]): string {
  return `/${parts.map((part) => String(part).split('/').map(encodeURIComponent).join('/')).join('/')}`
}

/** The path of the project that an address is of: `/ana/demo/-/issues/1`, below the external URL, is of `ana/demo`. */
export function projectIn(address: string): string | undefined {
  const [, path] = /^\/([^?]+?)\/-\//.exec(address) ?? []
  return path === undefined ? undefined : decodeURIComponent(path)
}

/** The address of something of a project in the API, below `/api/v4`; a `/` within a part is one of its name. */
export function apiPath(project: string, ...parts: readonly (string | number)[]): string {
  const all = ['projects', project, ...parts]
  return `/${all.map((part) => encodeURIComponent(part)).join('/')}`
}

/** A path with a query; values that are undefined, null or empty are left out. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>,
): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null || value === '') return []
    if (typeof value === 'object') return value.map((one) => [`${name}[]`, one])
    return [[name, String(value)]]
  })
  const text = new URLSearchParams(pairs).toString()
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`
}
