import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { maskedAddress, openAddress } from './address.ts'
import type { RemoteMirrorRow } from './queries.ts'

export const remoteMirrorEntity = z.strictObject({
  id: z.int(),
  enabled: z.boolean(),
  url: z.string(),
  auth_method: z.literal('password'),
  update_status: z.enum(['none', 'started', 'finished', 'to_retry', 'failed']),
  last_update_at: z.string().nullable(),
  last_update_started_at: z.string().nullable(),
  last_successful_update_at: z.string().nullable(),
  last_error: z.string().nullable(),
  only_protected_branches: z.boolean(),
  keep_divergent_refs: z.boolean(),
  mirror_branch_regex: z.string().nullable(),
})

export function presentRemoteMirror(
  ctx: Pick<Ctx, 'vault'>,
  row: RemoteMirrorRow,
): z.input<typeof remoteMirrorEntity> {
  return {
    id: row.id,
    enabled: row.enabled === 1,
    url: maskedAddress(openAddress(ctx, row.sealed_url)),
    auth_method: 'password',
    update_status: row.update_status,
    last_update_at: row.last_update_at,
    last_update_started_at: row.last_update_started_at,
    last_successful_update_at: row.last_successful_update_at,
    last_error: row.last_error,
    only_protected_branches: row.only_protected_branches === 1,
    keep_divergent_refs: row.keep_divergent_refs === 1,
    mirror_branch_regex: row.mirror_branch_regex,
  }
}
