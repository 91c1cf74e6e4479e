import type { Endpoint, Method } from '../http/endpoint.ts'
import { text } from '../http/params.ts'
import { apiEndpoints } from './endpoints.ts'

/**
 * Published lists of this API print some endpoints under contracted paths (`…/notes`, `notes/:note_id` becomes
 * `…/notes/notes/:note_id`). They answer there too; their own paths are what clients should use.
 */
const contracted: readonly (readonly [Method, path: string, of: string])[] = [
  ['GET', '/groups/:id/-/search', '/groups/:id/search'],
  ['GET', '/projects/:id/-/search', '/projects/:id/search'],
  ['POST', '/applications/applications/:id/renew-secret', '/applications/:id/renew-secret'],
  ['POST', '/personal_access_tokens/:id/self/rotate', '/personal_access_tokens/:id/rotate'],
  [
    'POST',
    '/projects/:id/access_tokens/:same/:token_id/rotate',
    '/projects/:id/access_tokens/:token_id/rotate',
  ],
  [
    'POST',
    '/projects/:id/access_tokens/:same/:token_id/rotate/self/rotate',
    '/projects/:id/access_tokens/:token_id/rotate',
  ],
  ...(['PUT', 'DELETE'] as const).map(
    (method) =>
      [
        method,
        '/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/notes/:note_id',
        '/projects/:id/merge_requests/:merge_request_iid/discussions/:discussion_id/notes/:note_id',
      ] as const,
  ),
  [
    'PUT',
    '/projects/:id/merge_requests/:merge_request_iid/draft_notes/:same/:draft_note_id/publish',
    '/projects/:id/merge_requests/:merge_request_iid/draft_notes/:draft_note_id/publish',
  ],
  ...['milestone', 'state', 'weight', 'iteration'].map(
    (kind, index, kinds) =>
      [
        'GET',
        `/projects/:id/issues/:issue_iid/resource_label_events_${kinds
          .slice(0, index + 1)
          .map((one) => `${one}_events`)
          .join('_')}`,
        `/projects/:id/issues/:issue_iid/resource_${kind}_events`,
      ] as const,
  ),
]

/** Notes of whatever one encoded segment names: `/projects/1/issues%2F7/notes` (spec D §1.11, `:noteable`). */
const noteable: readonly (readonly [Method, tail: string])[] = [
  ['GET', '/notes'],
  ['POST', '/notes'],
  ['GET', '/notes/:note_id'],
  ['PUT', '/notes/:note_id'],
  ['DELETE', '/notes/:note_id'],
]

/** Other paths of endpoints: routed and described, and in no other list. */
export const apiAliases: readonly Endpoint[] = [
  ...contracted.map(([method, path, of]) => ({ ...find(method, of), path, alias: true as const })),
  ...noteable.map(([method, tail]) => noteableAlias(method, tail)),
]

function find(method: Method, path: string): Endpoint {
  const found = apiEndpoints.find((one) => one.method === method && one.path === path)
  if (!found) throw new Error(`no endpoint at ${method} ${path} for an alias`)
  return found
}

function noteableAlias(method: Method, tail: string): Endpoint {
  const { issue_iid: _, ...params } = find(method, `/projects/:id/issues/:issue_iid${tail}`).params
  return {
    ...find(method, `/projects/:id/issues/:issue_iid${tail}`),
    path: `/projects/:id/:noteable${tail}`,
    params: { ...params, noteable: text() },
    alias: true,
    forward: ({ id = '', noteable = '', note_id }) =>
      [
        '/projects',
        id,
        ...noteable.split('/'),
        'notes',
        ...(note_id === undefined ? [] : [note_id]),
      ]
        .map((segment, index) => (index === 0 ? segment : encodeURIComponent(segment)))
        .join('/'),
  }
}
