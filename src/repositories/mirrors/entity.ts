import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { maskedAddress, openAddress } from './address.ts'
import type { Following } from './pull-verbs.ts'
import type { RemoteMirrorRow } from './queries.ts'

const times = {
  last_update_at: z.string().nullable(),
  last_update_started_at: z.string().nullable(),
  last_successful_update_at: z.string().nullable(),
  last_error: z.string().nullable(),
}

export const remoteMirrorEntity = z.strictObject({
  id: z.int(),
  enabled: z.boolean(),
  url: z.string(),
  auth_method: z.literal('password'),
  update_status: z.enum(['none', 'started', 'finished', 'to_retry', 'failed']),
  ...times,
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
    url: maskedAddress(openAddress(ctx, 'push', row)),
    auth_method: 'password',
    update_status: row.update_status,
    ...timesOf(row),
    only_protected_branches: row.only_protected_branches === 1,
    keep_divergent_refs: row.keep_divergent_refs === 1,
    mirror_branch_regex: row.mirror_branch_regex,
  }
}

export const pullMirrorEntity = z.strictObject({
  id: z.int(),
  enabled: z.boolean(),
  url: z.string(),
  update_status: z.enum(['none', 'started', 'finished', 'failed']),
  ...times,
  mirror_trigger_builds: z.boolean(),
  only_mirror_protected_branches: z.boolean(),
  mirror_overwrites_diverged_branches: z.boolean(),
  mirror_branch_regex: z.string().nullable(),
})

export function presentPullMirror(
  ctx: Pick<Ctx, 'vault'>,
  { project, mirror }: Following,
): z.input<typeof pullMirrorEntity> {
  return {
    id: mirror.id,
    enabled: projectSetting(project, 'mirror'),
    url: maskedAddress(openAddress(ctx, 'pull', mirror)),
    update_status: mirror.update_status,
    ...timesOf(mirror),
    mirror_trigger_builds: projectSetting(project, 'mirror_trigger_builds'),
    only_mirror_protected_branches: projectSetting(project, 'only_mirror_protected_branches'),
    mirror_overwrites_diverged_branches: projectSetting(
      project,
      'mirror_overwrites_diverged_branches',
    ),
    mirror_branch_regex: mirror.mirror_branch_regex,
  }
}

function timesOf(row: Readonly<Record<keyof typeof times, string | null>>) {
  return {
    last_update_at: row.last_update_at,
    last_update_started_at: row.last_update_started_at,
    last_successful_update_at: row.last_successful_update_at,
    last_error: row.last_error,
  }
}
