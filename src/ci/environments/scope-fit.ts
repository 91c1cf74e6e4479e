/** How closely a scope such as `review/*` names an environment; undefined when it does not. */
export function scopeFit(scope: string, environment: string | undefined): number | undefined {
  if (scope === '*') return 0
  if (environment === undefined) return undefined
  if (scope === environment) return Number.MAX_SAFE_INTEGER
  const parts = scope.split('*')
  const [first = '', ...rest] = parts
  if (rest.length === 0 || !environment.startsWith(first)) return undefined
  let at = first.length
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1
    const found = isLast ? environment.length - part.length : environment.indexOf(part, at)
    if (found < at || !environment.startsWith(part, found)) return undefined
    at = found + part.length
  }
  return scope.length
}
