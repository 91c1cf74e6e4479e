import { isAdmin, userOf } from '../../../access/actor.ts'
import type { Visibility } from '../../../access/roles.ts'
import { findVisibleGroup } from '../../../access/subjects.ts'
import { forbidden, invalid, notFound, unauthorized } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import {
  findNamespaceRow,
  findNamespaceRowByPath,
  findPersonalNamespace,
  findProjectQuota,
} from '../queries.ts'
import { mayCreateProjectsIn } from './creation-rights.ts'

/** A namespace into which the caller may put a project. */
export interface TargetNamespace {
  readonly id: number
  readonly kind: 'user' | 'group'
  readonly name: string
  readonly fullPath: string
  readonly visibility: Visibility
  /** Whose the namespace is, for a user's own. */
  readonly ownerId: number | null
}

type NamespaceRow = NonNullable<Awaited<ReturnType<typeof findNamespaceRow>>>

function target(row: NamespaceRow): TargetNamespace {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    fullPath: row.full_path,
    visibility: row.kind === 'user' ? 'public' : row.visibility,
    ownerId: row.owner_id,
  }
}

const notValid = () => invalid({ namespace: ['is not valid'] })

/**
 * The namespace of this id or path if the caller may put projects there: 404 when hidden, 400 `namespace is not valid`
 * when seen but closed (docs/contract/D §1.2 Rules), 403 when the caller's own is full. Without a name, the caller's own.
 */
export async function getTargetNamespace(
  ctx: Ctx,
  wanted: number | string | undefined,
): Promise<TargetNamespace> {
  const user = userOf(ctx.actor)
  if (wanted === undefined) {
    if (!user) throw unauthorized()
    const own = await findPersonalNamespace(ctx.db, user.id)
    if (!own || user.external) throw forbidden()
    await assertQuota(ctx, user.id)
    return target(own)
  }
  const numeric = typeof wanted === 'number' || /^\d+$/.test(wanted)
  const row = numeric
    ? await findNamespaceRow(ctx.db, Number(wanted))
    : await findNamespaceRowByPath(ctx.db, String(wanted))
  if (!row) throw notFound('Namespace')
  if (row.kind === 'user') return await personalTarget(ctx, row)
  const group = await findVisibleGroup(ctx, String(row.id))
  if (!group) throw notFound('Namespace')
  if (!mayCreateProjectsIn(ctx, group)) throw notValid()
  return target(row)
}

async function personalTarget(ctx: Ctx, row: NamespaceRow): Promise<TargetNamespace> {
  const user = userOf(ctx.actor)
  const own = user !== null && row.owner_id === user.id
  if (!own && !isAdmin(ctx.actor)) throw notFound('Namespace')
  if (own && user.external && !isAdmin(ctx.actor)) throw forbidden()
  await assertQuota(ctx, row.owner_id ?? 0)
  return target(row)
}

async function assertQuota(ctx: Ctx, userId: number): Promise<void> {
  const quota = await findProjectQuota(ctx.db, userId)
  if (!quota || (quota.count ?? 0) < quota.projects_limit) return
  throw forbidden(`You've reached your limit of ${quota.projects_limit} projects created.`)
}
