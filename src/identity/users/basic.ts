import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'

/** A user as others see them in lists and beside what they did (docs/contract/D §How to read this: UserBasic). */
export const userBasicEntity = z.strictObject({
  id: z.int(),
  username: z.string(),
  public_email: z.string().nullable(),
  name: z.string(),
  state: z.string(),
  locked: z.boolean(),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
})

export type UserBasic = z.input<typeof userBasicEntity>

/** The columns of `users` that `presentUserBasic` reads; prefix them with your alias. */
export const userBasicColumns = [
  'users.id',
  'users.username',
  'users.public_email',
  'users.name',
  'users.state',
  'users.avatar_file',
  'users.avatar_name',
] as const

export interface UserBasicRow {
  readonly id: number
  readonly username: string
  readonly public_email: string | null
  readonly name: string
  readonly state: string
  readonly avatar_file: string | null
  readonly avatar_name: string | null
}

export function presentUserBasic(ctx: Pick<Ctx, 'config'>, row: UserBasicRow): UserBasic {
  return {
    id: row.id,
    username: row.username,
    public_email: row.public_email ?? '',
    name: row.name,
    state: row.state,
    locked: false,
    avatar_url: avatarUrl(ctx, 'user', row.id, row),
    web_url: `${ctx.config.externalUrl}/${row.username}`,
  }
}

/** Where an uploaded avatar is served, or null without one. The hash of the file makes old copies stale. */
export function avatarUrl(
  ctx: Pick<Ctx, 'config'>,
  kind: 'user' | 'group' | 'project' | 'topic',
  id: number,
  row: { readonly avatar_file: string | null; readonly avatar_name: string | null },
): string | null {
  if (row.avatar_file === null || row.avatar_name === null) return null
  const name = encodeURIComponent(row.avatar_name)
  return `${ctx.config.externalUrl}/uploads/-/system/${kind}/avatar/${id}/${name}?h=${row.avatar_file.slice(0, 8)}`
}
