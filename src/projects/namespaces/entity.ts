import { z } from 'zod'
import type { ProjectRow } from '../../access/find-queries.ts'
import type { Ctx } from '../../ctx.ts'
import { avatarUrl } from '../../identity/users/basic.ts'

/** A namespace as it stands inside a project. */
export const namespaceBriefEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  path: z.string(),
  kind: z.enum(['user', 'group']),
  full_path: z.string(),
  parent_id: z.int().nullable(),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
})

export type NamespaceBrief = z.input<typeof namespaceBriefEntity>

export interface NamespaceBriefRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly kind: 'user' | 'group'
  readonly full_path: string
  readonly parent_id: number | null
  /** Of a user's namespace: the user, whose avatar it shows. */
  readonly owner_id: number | null
  readonly avatar_file: string | null
  readonly avatar_name: string | null
}

export function presentNamespaceBrief(
  ctx: Pick<Ctx, 'config'>,
  row: NamespaceBriefRow,
): NamespaceBrief {
  const { externalUrl } = ctx.config
  const isUser = row.kind === 'user'
  return {
    id: row.id,
    name: row.name,
    path: row.path,
    kind: row.kind,
    full_path: row.full_path,
    parent_id: row.parent_id,
    avatar_url: avatarUrl(
      ctx,
      isUser ? 'user' : 'group',
      isUser ? (row.owner_id ?? 0) : row.id,
      row,
    ),
    web_url: isUser ? `${externalUrl}/${row.full_path}` : `${externalUrl}/groups/${row.full_path}`,
  }
}

/** The namespace that a project is in. */
export function namespaceOf(row: ProjectRow): NamespaceBriefRow {
  return {
    id: row.namespace_id,
    name: row.namespace_name,
    path: row.namespace_path,
    kind: row.namespace_kind,
    full_path: row.namespace_full_path,
    parent_id: row.namespace_parent_id,
    owner_id: row.namespace_owner_id,
    avatar_file: row.namespace_avatar_file,
    avatar_name: row.namespace_avatar_name,
  }
}
