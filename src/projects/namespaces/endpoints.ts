import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { existing } from '../../base/problem.ts'
import { endpoint, perMinute } from '../../http/endpoint.ts'
import { flag, id, text } from '../../http/params.ts'
import { namespaceEntity, presentNamespaces } from './present.ts'
import { findNamespace, listNamespaces, listSiblings } from './queries.ts'
import { candidates, suggestion } from './suggest.ts'

export const getNamespaces = endpoint({
  method: 'GET',
  path: '/namespaces',
  summary: 'List the namespaces of the caller',
  access: signedIn(),
  query: {
    search: text().optional(),
    owned_only: flag().optional(),
    top_level_only: flag().optional(),
    full_path_search: flag().optional(),
  },
  paginate: 'offset',
  response: z.array(namespaceEntity),
  async handler({ ctx, query, page }) {
    const viewer = viewerOf(ctx)
    const rows = await listNamespaces(ctx.db, viewer, query, page)
    return { ...rows, items: await presentNamespaces(ctx, rows.items) }
  },
})

export const getNamespace = endpoint({
  method: 'GET',
  path: '/namespaces/:id',
  summary: 'Get a namespace of the caller',
  access: signedIn(),
  params: { id: text() },
  response: namespaceEntity,
  async handler({ ctx, params }) {
    const viewer = viewerOf(ctx)
    const by = /^-?\d+$/.test(params.id) ? { id: Number(params.id) } : { path: params.id }
    const row = await findNamespace(ctx.db, viewer, by)
    const [shown] = row ? await presentNamespaces(ctx, [row]) : []
    return existing(shown, 'Namespace')
  },
})

export const getNamespaceExists = endpoint({
  method: 'GET',
  path: '/namespaces/:namespace/exists',
  summary: 'Check whether a path is taken, and suggest another',
  access: signedIn(),
  params: { namespace: text() },
  query: { parent_id: id().optional() },
  limit: perMinute('namespace_exists', 20),
  response: z.strictObject({ exists: z.boolean(), suggests: z.array(z.string()) }),
  async handler({ ctx, params, query }) {
    const path = params.namespace
    const words = [path, ...candidates(path)]
    const siblings = await listSiblings(ctx.db, query.parent_id ?? null, words)
    const exists = siblings.some((one) => one.path.toLowerCase() === path.toLowerCase())
    const taken = new Set(siblings.flatMap((one) => [one.path, one.name]).map(lower))
    return { exists, suggests: exists ? [suggestion(path, taken, ctx.now())] : [] }
  },
})

function lower(word: string): string {
  return word.toLowerCase()
}
