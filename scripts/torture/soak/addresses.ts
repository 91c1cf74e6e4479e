/** Where somebody looks; `host` are pages, which are read by strangers here and lead to the sign-in. */
export interface ReadAddress {
  readonly path: string
  readonly host?: true
}

const projects = ['root%2Fone', 'root%2Ftwo', 'root%2Fone-b', 'root%2Ftwo-b']

const ofProject = [
  '',
  '/repository/branches',
  '/repository/tags',
  '/repository/tree?recursive=true',
  '/repository/commits?per_page=50',
  '/repository/commits?with_stats=true',
  '/repository/contributors',
  '/issues',
  '/issues?search=1&order_by=updated_at',
  '/merge_requests?state=all',
  '/wikis',
  '/pipelines',
  '/events',
  '/members/all',
]

/** What readers ask for by turns. */
export const readAddresses: readonly ReadAddress[] = [
  ...projects.flatMap((project) =>
    ofProject.map((rest) => ({ path: `/projects/${project}${rest}` })),
  ),
  { path: '/projects?statistics=true' },
  { path: '/user' },
  { path: '/events' },
  { path: '/search?scope=projects&search=one' },
  { path: '/users/sign_in', host: true },
  { path: '/explore', host: true },
  { path: '/-/readiness', host: true },
]
