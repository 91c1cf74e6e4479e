const NOTIFY = /^\/(.+?)\/(prometheus\/)?alerts\/notify(?:\/([^/]+)\/([^/]+?))?\.json$/

/**
 * The path under which the endpoints of deliveries know a raw path of the host, or undefined for any other: the path of
 * a project comes in several segments, and the endpoints have one for it.
 */
export function hostAlertPath(rawPath: string): string | undefined {
  if (!rawPath.endsWith('.json') || !rawPath.includes('/alerts/notify')) return undefined
  const [, project, prometheus, slug, identifier] = NOTIFY.exec(rawPath) ?? []
  if (project === undefined) return undefined
  const segments = project.split('/').join('%2F')
  if (identifier !== undefined) return `/-/alerts/${segments}/notify/${slug}/${identifier}`
  return `/-/alerts/${segments}/${prometheus ? 'prometheus/' : ''}notify`
}
