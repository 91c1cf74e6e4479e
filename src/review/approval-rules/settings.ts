import { recordOf } from '../../base/group-by.ts'
import type { Ctx } from '../../ctx.ts'
import { findSettings, findTopGroup, type SettingName } from './settings-queries.ts'

/** One setting as it holds: its value, and whether the group keeps the project from changing it. */
export interface HeldSetting {
  readonly value: boolean
  readonly locked: boolean
}

export type ApprovalSettings = Readonly<Record<SettingName, HeldSetting>>

/** What holds where nobody said anything (docs/contract/B States: a push resets approvals by default). */
const preset = (name: SettingName) => name === 'reset_approvals_on_push'

/** The stricter value of each: what a group sets that way, its projects can't loosen. */
const strict: Readonly<Record<SettingName, boolean>> = {
  reset_approvals_on_push: true,
  selective_code_owner_removals: true,
  disable_overriding_approvers_per_merge_request: true,
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: true,
  require_reauthentication_to_approve: true,
}

export const settingNames = Object.keys(strict) as SettingName[]

type Said = Partial<Record<SettingName, 0 | 1 | null>> | undefined

function held(own: Said, group: Said): ApprovalSettings {
  return recordOf(settingNames, (name) => {
    const above = group?.[name] ?? null
    const locked = above !== null && (above === 1) === strict[name]
    if (locked) return { value: strict[name], locked }
    const said = own?.[name] ?? above
    return { value: said === null ? preset(name) : said === 1, locked }
  })
}

/** How approvals work in a project, what its topmost group demands included (docs/contract/B-resolved §8.1). */
export async function projectApprovalSettings(
  ctx: Pick<Ctx, 'db'>,
  project: { readonly id: number; readonly namespace_id: number },
): Promise<ApprovalSettings> {
  const topGroup = await findTopGroup(ctx.db, project.namespace_id)
  const group = topGroup === undefined ? undefined : await findSettings(ctx.db, 'group', topGroup)
  return held(await findSettings(ctx.db, 'project', project.id), group)
}

/** What a topmost group says. */
export async function groupApprovalSettings(
  ctx: Pick<Ctx, 'db'>,
  groupId: number,
): Promise<ApprovalSettings> {
  return held(await findSettings(ctx.db, 'group', groupId), undefined)
}
